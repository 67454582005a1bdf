"""The gate's experiments, two runs a cell: every figure that RESULTS.md shows can be made."""

from __future__ import annotations

import pytest

from tests.bench.loading import BENCH, script


def test_every_experiment_yields_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    bench = script("gate_simulations")
    cells = list(bench.experiments(2, processes=1))
    assert all(cell.n == 0 or cell.low <= cell.value <= cell.high for cell in cells)
    found = list(bench.lines(cells))
    assert len({(line.what, line.rule) for line in found}) == len(found) > 80
    assert bench.table(found).count("\n") == len(found) + 1
