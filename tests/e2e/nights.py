"""A whole night on the shipped sample in a process of its own, which can be told to die at a certain point.

    python -m tests.e2e.nights FOLDER [POINT]

lays the sample out below FOLDER where it is not yet, runs a night (or goes on with the one that was killed), adopts
what is supported, and prints how many points it passed. POINT kills it with SIGKILL at that point: every beginning and
end of a write transaction of the store, and every system call of an adoption, is one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection

from skillopt_sleep.cli.demonstration import lay_out
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.config import Config
from skillopt_sleep.domain.proposals import ProposalState
from skillopt_sleep.night import sleep
from skillopt_sleep.paths import Home
from skillopt_sleep.review import adopt as adopting
from skillopt_sleep.review import targets
from skillopt_sleep.store.adoptions import Adoptions, record_roots
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.ledgers import Attempts
from skillopt_sleep.store.nights import nights
from skillopt_sleep.store.proposals import proposals
from skillopt_sleep.world import LocalWorld

NOW = 1_793_000_000_000
"""Some day of late October 2026: later than all of the sample."""


class Points:
    """Counts the points that are passed; at the chosen one the process is killed, as by a power cut of it alone."""

    def __init__(self, deadly: int) -> None:
        self.passed = 0
        self._deadly = deadly

    def __call__(self, _call: str = "") -> None:
        self.passed += 1
        if self.passed == self._deadly:
            os.kill(os.getpid(), signal.SIGKILL)


def instrument(points: Points, saved: Path) -> None:
    """Make every write transaction two points, and note each attempt that was kept in a file that survives."""
    write, save = Store.write, Attempts.save

    @contextmanager
    def counted(self: Store) -> Iterator[Connection]:
        points()
        with write(self) as connection:
            yield connection
        points()

    def noted(self: Attempts, rows: object) -> None:
        save(self, rows)  # type: ignore[arg-type]
        with saved.open("a") as out:
            out.writelines(f"{key.digest}\n" for key, _ in rows)  # type: ignore[attr-defined]

    Store.write = counted  # type: ignore[method-assign]
    Attempts.save = noted  # type: ignore[method-assign]


def main(folder: Path, deadly: int) -> None:
    laid = folder / "laid"
    if not laid.exists():
        lay_out(folder)
        laid.touch()
    points = Points(deadly)
    instrument(points, folder / "saved")
    clock = FixedClock(NOW)
    with open_store(folder / "state" / "store.db", clock) as store:
        roots = targets.roots(targets.AGENTS, targets.project(folder / "shop"))
        record_roots(store, dict.fromkeys(roots, ""), str(folder / "shop"))
        world = LocalWorld(Home(folder / "state"), Config(), store, folder / "home", environ={}, clock=clock)
        adopting.recover(Adoptions(store), watch=points)
        waiting = [p for p in proposals(store) if p.document.kind == "learned"]
        if not any(night.state == "done" for night in nights(store)):
            sleep(world)
        if not any(p.state is ProposalState.ADOPTED for p in waiting):
            chosen = next(p for p in proposals(store, ProposalState.STAGED) if p.document.kind == "learned")
            adopting.adopt(chosen, (), world.targets(chosen.document), Adoptions(store), clock, watch=points)
    sys.stdout.write(json.dumps({"points": points.passed}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
