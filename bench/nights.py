"""What a night costs: the demo and a night on real history, against their limits; the start of the command line.

    python bench/nights.py [HISTORY]

HISTORY is a folder of transcripts (default: the shared history beside the checkout, where it is). Each is a process of
its own in an empty home; seconds are wall time, with the processor's beside it since machines are shared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
HISTORY = CHECKOUT.parent / "shared/transcripts/claude/entireio__cli_history"
COMMAND = str(Path(sys.executable).with_name("skillopt-sleep"))
ROUNDS = 5


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float
    megabytes: float


def cost(command: list[str], home: Path) -> Cost:
    """One run of a command with an empty HOME."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    began = time.perf_counter()
    child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)  # fmt: skip
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    assert os.waitstatus_to_exitcode(status) == 0, command
    scale = 1 if sys.platform == "darwin" else 1024
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * scale / 1e6)


def starts() -> tuple[float, float]:
    """Seconds of a bare interpreter and of `--help`, the best of several, in turn."""
    bare, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            bare.append(cost([sys.executable, "-c", "pass"], Path(folder)).wall)
            ours.append(cost([COMMAND, "--help"], Path(folder)).wall)
    return min(bare), min(ours)


def night(arguments: list[str]) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        return cost([COMMAND, "run", "-q", *arguments], Path(folder))


def main() -> None:
    history = Path(sys.argv[1]) if len(sys.argv) > 1 else HISTORY
    bare, ours = starts()
    print("| what | wall | processor | memory | limit | share of the limit |")
    print("|---|---|---|---|---|---|")
    share = f"{ours / bare / 12:.2f} ({ours / bare:.1f} starts)"
    print(f"| `--help` | {ours:.3f} s | | | 12 starts ({12 * bare:.3f} s) | {share} |")
    row("demo", night(["--demo"]), 15)
    if history.is_dir():
        row("night on real history", night(["--from", str(history), "--backend", "recorded"]), 60)
    print(f"\n{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")


def row(name: str, used: Cost, limit: float) -> None:
    share = used.wall / limit
    print(f"| {name} | {used.wall:.1f} s | {used.cpu:.1f} s | {used.megabytes:.0f} MB | {limit:g} s | {share:.2f} |")


if __name__ == "__main__":
    main()
