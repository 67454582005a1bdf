"""A ledger in one file that survives a SIGKILL: what the kill tests recover from."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skillopt_sleep.domain.proposals import Adoption, Target, Written
from skillopt_sleep.review.ledgers import MemoryLedger


class FileLedger(MemoryLedger):
    """`watch` is told before and after each durable write, as a kill may fall on either side of it."""

    def __init__(self, path: Path, root: Path, watch: Callable[[str], None] = lambda _: None) -> None:
        super().__init__([str(root)])
        self.path, self.watch = path, watch
        if path.exists():
            self.kept = {row["id"]: _adoption(row) for row in json.loads(path.read_text())}

    def intend(self, adoption: Adoption) -> None:
        self.watch("ledger intend")
        super().intend(adoption)
        self._save()

    def settle(self, adoption: Adoption) -> None:
        self.watch("ledger settle")
        super().settle(adoption)
        self._save()

    def _save(self) -> None:
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps([asdict(kept) for kept in self.kept.values()], default=_bytes))
        new.replace(self.path)
        self.watch("ledger saved")


def _bytes(raw: bytes) -> dict[str, str]:
    return {"b64": base64.b64encode(raw).decode()}


def _adoption(row: dict[str, Any]) -> Adoption:
    targets = tuple(_written(target) for target in row["targets"])
    return Adoption(**{**row, "edits": tuple(row["edits"]), "targets": targets})


def _written(row: dict[str, Any]) -> Written:
    target = Target(**{**row["target"], "also": tuple(row["target"]["also"])})
    images = {side: row[side] and base64.b64decode(row[side]["b64"]) for side in ("before", "after")}
    return Written(**{**row, **images, "target": target, "made": tuple(row["made"])})
