"""How a test puts the pretender in the place of Claude Code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PRETENDER = Path(__file__).with_name("pretender.py")
Script = Mapping[str, Sequence[Mapping[str, Any]] | bool]


def pretender(folder: Path, script: Script) -> Path:
    """The program, in a folder of its own, with its script."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "claude"
    shutil.copy(PRETENDER, place)
    place.chmod(0o755)
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    return place
