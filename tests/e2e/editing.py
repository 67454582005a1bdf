"""A training run whose edits a model writes, in a process of its own, which can be told to die after an answer.

    python -m tests.e2e.editing FOLDER [ANSWER]

runs `skillopt-sleep train` on ten tasks below FOLDER with the simulated agent and a model over the Anthropic SDK. After
so many answers were kept the process is killed with SIGKILL, before what they took was settled.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from skillopt_sleep.cli.__main__ import run
from tests.e2e.asking import die_after

SPLITS = ["train"] * 3 + ["gate"] * 5 + ["audit"] * 2


def lay_out(folder: Path) -> None:
    """Ten tasks and a skill."""
    checks = [{"kind": "contains", "argument": "## Recommendation"}]
    rows = [
        {"id": f"t{n}", "prompt": f"Should we change plan {n}?", "checks": checks, "split": split}
        for n, split in enumerate(SPLITS)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "SKILL.md").write_text("# Memo\n\nOne page.\n")


def main(folder: Path, deadly: int) -> int:
    if not (folder / "tasks.jsonl").exists():
        lay_out(folder)
    os.environ |= {"HOME": str(folder / "home"), "SKILLOPT_HOME": str(folder / "state")}
    os.chdir(folder)
    die_after(deadly)
    players = ("--target-backend", "simulated", "--optimizer-backend", "anthropic", "--optimizer-model", "scripted")
    settings = ("simulated_obedience=1", "epochs=4", "meta_skill=false", "slow_update=0", "gate=strict", "patience=9")
    chosen = [word for setting in settings for word in ("--set", setting)]
    return run(["train", "--json", "--tasks", "tasks.jsonl", "--skill", "SKILL.md", "--out", "run", *players, *chosen])


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
