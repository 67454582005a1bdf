"""Projects: which sessions belong together, by the names of their folders."""

from __future__ import annotations

from typing import Final

from skillopt_sleep.store.compiled import Statement
from skillopt_sleep.store.engine import Store

_BELOW: Final = Statement(
    # `substr` and not LIKE: a folder's name may hold `%` and `_`.
    "SELECT sub.id, top.id, max(length(top.root)) FROM project AS sub JOIN project AS top "
    "ON top.git_root <> '' AND sub.git_root = '' AND length(sub.root) > length(top.root) "
    "AND substr(sub.root, 1, length(top.root)) = top.root "
    "AND substr(sub.root, length(top.root) + 1, 1) IN ('/', '\\') GROUP BY sub.id"
)
_MOVE_SESSIONS: Final = Statement("UPDATE session SET project_id = ? WHERE project_id = ?")
_MOVE_ALIASES: Final = Statement("UPDATE project_alias SET project_id = ? WHERE project_id = ?")


def settle_projects(store: Store) -> None:
    """Sessions that knew only their folder join the project whose git root lies above it.

    The folder's own project stays as a row without sessions: a name is never taken away.
    """
    with store.write():
        for folder, project, _ in _BELOW.run(store.driver).fetchall():
            _MOVE_SESSIONS.run(store.driver, project, folder)
            _MOVE_ALIASES.run(store.driver, project, folder)
