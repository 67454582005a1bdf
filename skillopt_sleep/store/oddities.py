"""Sources that were read and of which too little was understood: what `doctor` asks a person to report."""

from __future__ import annotations

from typing import Final, NamedTuple

from skillopt_sleep.store.compiled import Statement
from skillopt_sleep.store.engine import Store

_ODD: Final = Statement(
    "SELECT so.agent, so.path, CASE WHEN so.understood + so.unknown > 0 "
    "THEN so.unknown * 1.0 / (so.understood + so.unknown) END AS share, max(s.agent_version) "
    "FROM source AS so LEFT JOIN session_source AS ss ON ss.source_id = so.id "
    "LEFT JOIN session AS s ON s.id = ss.session_id "
    "WHERE so.state = 'read' AND so.size > 0 AND ("
    "so.unknown * 1.0 > ? * (so.understood + so.unknown) "
    "OR (so.understood + so.unknown = 0 AND ss.session_id IS NULL)) "
    "GROUP BY so.id ORDER BY so.agent, share DESC, so.path"
)


class OddSource(NamedTuple):
    """A source that was read: `unknown` is the share of its records of kinds that nobody knows, None where it has
    neither records nor sessions although it is not empty."""

    agent: str
    path: str
    unknown: float | None
    version: str


def odd_sources(store: Store, most_unknown: float) -> list[OddSource]:
    """Sources that gave nothing although they are not empty, and those with more than such a share of unknown records.

    `version` is the newest of the sessions that a source holds.
    """
    with store.read():
        rows = _ODD.run(store.driver, most_unknown).fetchall()
    return [OddSource(agent, path, share, version or "") for agent, path, share, version in rows]
