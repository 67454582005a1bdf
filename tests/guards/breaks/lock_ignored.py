"""Two nights may run at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skillopt_sleep import lock
from skillopt_sleep.clock import Clock


@contextmanager
def _hold(path: Path, clock: Clock, *, what: str = "night") -> Iterator[lock.Holder]:
    yield lock.Holder(1, what, clock.now_ms())


lock.hold = _hold
