"""Whether N workers are N times as fast where a model attempts: the real `eval` and `train`, calls of one second each.

    python bench/targets.py [--seconds S] [--workers N …] [--tasks T …]

A provider on loopback (serving.py, a process of its own) answers each Chat Completion after S seconds (1). `eval`
compares two texts on T tasks, three pairs each; `train` makes one step (T train tasks once, T gate tasks in three
pairs) with a simulated critic, whose edit does not help. The ratio is wall time by S × calls / workers, of the
whole command and of its run (from the opening of its budget, without Python's start).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

COMMANDS = ("eval", "train")


def command(name: str, folder: Path, workers: int, tasks: int) -> list[str]:
    """The command line, with its files laid out in an empty folder."""
    splits = {"eval": [None], "train": ["train", "gate"]}[name]
    rows = [
        {"id": f"{split}-{n}", "prompt": f"Write a memo on matter {n} of {split}.",
         "checks": [{"kind": "contains", "argument": "## Recommendation"}], **({"split": split} if split else {})}
        for split in splits for n in range(tasks)
    ]  # fmt: skip
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "memo.md").write_text("# Memo\n\nBe brief.\n")
    (folder / "other.md").write_text("# Memo\n\nBe brief, and name a rule.\n")
    (folder / "sleep.toml").write_text(
        f"[models]\nparallel = {workers}\nmax_output = 64\n[budget]\ntokens = 100000000\n"
    )
    shared = ["--tasks", "tasks.jsonl", "--target-backend", "openai", "--target-model", "scripted", "--json",
              "--config", "sleep.toml", "--home", "state"]  # fmt: skip
    own = {
        "eval": ["--skill", "other.md", "--against", "memo.md", "--repeats", "3"],
        "train": ["--skill", "memo.md", "--optimizer-backend", "simulated", "--set", "epochs=1",
                  "--set", f"batch_size={tasks}", "--set", "slow_update=0", "--set", "meta_skill=false",
                  "--set", "early_stopping=false"],
    }  # fmt: skip
    return [sys.executable, "-m", "skillopt_sleep.cli", name, *shared, *own[name]]


def measured(name: str, workers: int, tasks: int, seconds: float) -> tuple[float, float, dict[str, Any]]:
    """Wall of the command and of its run, and the server's own account."""
    serving = [sys.executable, str(Path(__file__).with_name("serving.py")), str(seconds)]
    with (
        tempfile.TemporaryDirectory() as place,
        subprocess.Popen(serving, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdout
        environ = {**os.environ, "OPENAI_BASE_URL": server.stdout.readline().strip() + "/v1", "OPENAI_API_KEY": "x",
                   "NO_PROXY": "*"}  # fmt: skip
        began = time.perf_counter()
        argv = command(name, Path(place), workers, tasks)
        done = subprocess.run(argv, cwd=place, env=environ, capture_output=True, text=True, check=False)
        wall = time.perf_counter() - began
        account = json.loads(server.communicate()[0])
    if done.returncode:
        raise SystemExit(done.stderr or done.stdout)
    return wall, json.loads(done.stdout)["budget"]["seconds"]["spent"], account


def main() -> None:
    """Print one row a measurement."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=1.0)
    options.add_argument("--workers", type=int, nargs="+", default=[1, 8, 32])
    options.add_argument("--tasks", type=int, nargs="+", default=None, help="(4 for each worker)")
    asked = options.parse_args()
    for name in COMMANDS:
        for workers in asked.workers:
            for tasks in asked.tasks or [max(8, 4 * workers)]:
                wall, run, account = measured(name, workers, tasks, asked.seconds)
                least = asked.seconds * account["requests"] / workers
                print(f"{name:6}{workers:3} workers, {tasks:4} tasks, {account['requests']:4} calls: {wall:6.2f} s, "
                      f"ratio {wall / least:.3f}, of the run {run / least:.3f}, {account['peak']} in flight",
                      flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
