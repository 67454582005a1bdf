"""Operating characteristics of the gate, SIMULATED: what it does with edits whose true effect is known.

A task has a true pass rate under each text, an attempt is a coin with that rate; the decisions are the product's own
(skillopt_core.gate). Fixed seeds; intervals are 95 %, exact for shares.

    python bench/gate_simulations.py                        a tenth of the seeds
    python bench/gate_simulations.py --full                 the set behind RESULTS.md
    python bench/gate_simulations.py --full --cells FILE    every cell as JSON lines, too
    python bench/gate_simulations.py --full --cut-short     comparisons that the budget ends, alone
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from gate import cutting, guarding, itself, looking, reusing, trying
from gate.cells import Cell, spread
from gate.summary import Line, cut_short, lines

FULL = 2000


def experiments(seeds: int, processes: int) -> Iterator[Cell]:
    """All of them; `seeds` runs a cell."""
    yield from spread(looking.looked, looking.everywhere(seeds), processes)
    yield from spread(looking.fixed, looking.fixed_sizes(seeds), processes)
    yield from spread(trying.tried, trying.trials(seeds), processes)
    yield from spread(trying.slept, trying.half_years(max(seeds // 10, 1)), processes)
    yield from spread(reusing.reused, reusing.rules(seeds), processes)
    yield from spread(guarding.guarded, guarding.checks(seeds), processes)
    yield from spread(itself.halted, itself.gates(max(seeds // 4, 1)), processes)
    yield from cuts(seeds, processes)


def cuts(seeds: int, processes: int) -> Iterator[Cell]:
    """Comparisons that the budget ends."""
    yield from spread(cutting.cut, cutting.budgets(max(seeds // 4, 1)), processes)


def table(found: list[Line]) -> str:
    """A Markdown table."""
    head = "| simulated | rule | figure (95 %) | n | wanted | |\n|---|---|---|---|---|---|"
    said = {True: "yes", False: "**no**", None: ""}
    rows = [f"| {r.what} | {r.rule} | {r.figure} | {r.n or ''} | {r.target} | {said[r.met]} |" for r in found]
    return "\n".join((head, *rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help=f"{FULL} runs a cell")
    parser.add_argument("--cut-short", action="store_true", help="comparisons that the budget ends, alone")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--cells", type=Path, help="where to write every cell, one JSON object a line")
    asked = parser.parse_args()
    began = time.perf_counter()
    seeds = FULL if asked.full else FULL // 10
    cells = list((cuts if asked.cut_short else experiments)(seeds, asked.processes))
    if asked.cells:
        asked.cells.write_text("".join(json.dumps(asdict(cell)) + "\n" for cell in cells), encoding="utf-8")
    print(table(list((cut_short if asked.cut_short else lines)(cells))))
    used = sum(os.times()[:4])  # ours and that of the processes that ended
    print(f"\nSimulated; {len(cells)} cells, {time.perf_counter() - began:.0f} s, {used:.0f} s of processor time.")


if __name__ == "__main__":
    main()
