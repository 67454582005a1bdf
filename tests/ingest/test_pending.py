"""What waits is what is still to be read: a source that is excluded meanwhile waits no more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from skillopt_sleep.ingest import Harvested
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.sources import waiting


def test_a_source_beyond_the_cap_that_is_excluded_later_waits_no_more(
    store: Store, home: Path, made: ModuleType, take_in: Callable[..., Harvested]
) -> None:
    paths = [made.everyday(seed).write(home) for seed in range(4)]
    assert take_in(max_sessions=1).pending == 3
    assert waiting(store) == 3
    folder = [str(paths[0])]
    done = take_in(max_sessions=1, exclude=folder)
    assert done.skipped["excluded by the configuration"] == 1
    assert (done.pending, waiting(store)) == (1, 1)
    assert take_in(exclude=folder).new == 1
    assert waiting(store) == 0
    assert take_in().new == 1, "and is read when it is excluded no more"
