"""A second scanner, the command line that comes with the engine, finds nothing in what we let through.

It knows more coats than the engine in process (it decodes base64, hex, percent and Unicode escapes) and heeds no
allow marker here. What it says of our own placeholders (`password = "[redacted:password]"`) does not count.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
from pathlib import Path

import pytest

from skillopt_sleep.redact import Redactor
from tests.redact.shapes import SHAPES

cli = pytest.importorskip("betterleaks.cli")


def findings(path: Path) -> list[str]:
    command = [cli.get_binary_path(), "filesystem", str(path), "--no-allow-signatures", "--no-banner", "--no-color"]
    done = subprocess.run(
        [*command, "--log-level=error", "--output=-", "--jsonl", "--max-decode-depth=2"],
        env={},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert any("scan" in line for line in lines), done.stdout[:500]
    found = [line["finding"] for line in lines if "finding" in line]
    return [f"{one['rule_id']}: {one['match']['full']}" for one in found if "[redacted:" not in one["match"]["full"]]


def test_it_finds_the_secrets_and_none_once_they_are_redacted(tmp_path: Path) -> None:
    rng = random.Random(7)
    texts = [shape.planted(rng)[1] for shape in SHAPES for _ in range(5)]
    before, after = tmp_path / "before.txt", tmp_path / "after.txt"
    before.write_text("\n\n".join(texts), encoding="utf-8")
    after.write_text("\n\n".join(Redactor().redact_many(texts)), encoding="utf-8")
    assert len(findings(before)) > 200
    assert findings(after) == []


@pytest.mark.shared
def test_it_finds_none_in_what_people_and_tools_said(shared: Path, tmp_path: Path) -> None:
    files = sorted(path for path in (shared / "transcripts").rglob("*.jsonl") if path.stat().st_size < 150_000)
    lines = [line for path in files for line in path.read_text("utf-8", "replace").splitlines()]
    assert len(lines) > 2_000
    clean = Redactor().redact_many(lines)
    after = tmp_path / "after.txt"
    after.write_text("\n".join(clean), encoding="utf-8")
    assert findings(after) == []
    changed = [(line, now) for line, now in zip(lines, clean, strict=True) if line != now]
    assert len(changed) < len(lines) / 50
    for line, now in changed:
        assert re.sub(r"\[redacted:[a-z-]+\]", "", now) != ""
        if line.startswith("{") and _is_json(line):
            assert _is_json(now), now[:300]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
