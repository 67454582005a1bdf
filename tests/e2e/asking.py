"""A night on the shipped sample with a model, in a process of its own, which can be told to die after an answer.

    python -m tests.e2e.asking FOLDER [ANSWER]

runs `skillopt-sleep run` in a HOME that is laid out below FOLDER. After so many answers were written down the process
is killed with SIGKILL. Prompts are made small, so that the sample takes several.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from skillopt_sleep.cli.__main__ import run
from skillopt_sleep.cli.demonstration import lay_out
from skillopt_sleep.mine.kinds import items
from skillopt_sleep.store.ledgers import Completions

CONFIG = '[models]\nbackend = "anthropic"\noptimizer = "scripted"\nparallel = 1\n'


def die_after(deadly: int) -> None:
    """Count the answers that are kept; at the chosen one the process ends as by a power cut."""
    save = Completions.save
    kept = 0

    def counted(self: Completions, *row: object) -> None:
        nonlocal kept
        save(self, *row)  # type: ignore[arg-type]
        kept += 1
        if kept == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    Completions.save = counted  # type: ignore[method-assign, assignment]


def main(folder: Path, deadly: int) -> int:
    if not (folder / "shop").exists():
        lay_out(folder)
        (folder / "sleep.toml").write_text(CONFIG)
    os.environ |= {"HOME": str(folder / "home"), "SKILLOPT_HOME": str(folder / "state")}
    os.chdir(folder / "shop")
    die_after(deadly)
    items.BATCH_ITEMS = 3  # type: ignore[misc]
    return run(["run", "--json", "--config", str(folder / "sleep.toml")])


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
