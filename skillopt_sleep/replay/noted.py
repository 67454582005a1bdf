"""A ledger of attempts that also keeps which session of its agent each of them was."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence

from skillopt_core.types import Trajectory
from skillopt_sleep.domain.ledgers import AttemptKey, AttemptLedger
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.ledgers import note_session


class Noted:
    """An `AttemptLedger`. `sessions` are those of attempts that are about to be saved, by task, text and draw."""

    def __init__(self, inner: AttemptLedger, store: Store, sessions: MutableMapping[tuple[str, str, int], str]) -> None:
        self._inner = inner
        self._store = store
        self._sessions = sessions

    def known(self, keys: Sequence[AttemptKey]) -> Mapping[str, Trajectory]:
        """As the inner ledger."""
        return self._inner.known(keys)

    def save(self, rows: Sequence[tuple[AttemptKey, Trajectory | str]]) -> None:
        """As the inner ledger; then no harvest takes these sessions for a person's."""
        self._inner.save(rows)
        for key, _ in rows:
            if session := self._sessions.pop((key.task, key.skill, key.draw), ""):
                note_session(self._store, key, session)
