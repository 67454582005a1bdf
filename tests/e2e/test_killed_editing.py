"""A training run that pays a model, killed between two answers, goes on without asking anything twice."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.models.scripted import message, serve

CHECKOUT = Path(__file__).parent.parent.parent


def answer(request: Request) -> Response:
    """A rule that helps nobody, another one for each prompt."""
    prompt = request.get_json()["messages"][0]["content"]
    rule = f"- Say {hashlib.sha256(prompt.encode()).hexdigest()[:6]} last."
    pattern = {"label": "SKILL_DEFECT", "why": "it is not said", "tasks": ["T1"],
               "edits": [{"op": "add", "anchor": "", "text": rule}]}  # fmt: skip
    return message(request.path, json.dumps({"patterns": [pattern]}), (900, 50))


def train(folder: Path, url: str, deadly: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.e2e.editing", str(folder), str(deadly)]
    clean = {name: value for name, value in os.environ.items() if "PROXY" not in name.upper()}
    environ = {**clean, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x"}
    return subprocess.run(command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False, timeout=120)


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return {key: document[key] for key in ("steps", "train", "gate", "audit")}


@pytest.mark.parametrize("deadly", [1, 3])
def test_a_run_killed_between_answers_asks_nothing_twice(deadly: int, httpserver: HTTPServer, tmp_path: Path) -> None:
    seen = serve(httpserver, answer)
    url = httpserver.url_for("").rstrip("/")
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    undisturbed, wanted = told(train(tmp_path / "whole", url)), len(seen)
    assert wanted > 3
    seen.clear()
    died = train(tmp_path / "killed", url, deadly)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert len(seen) == deadly
    after = told(train(tmp_path / "killed", url))
    asked = Counter(json.dumps(request.get_json()) for request in seen)
    assert len(asked) == wanted
    assert max(asked.values()) == 1, "a prompt was paid for twice"
    assert after == undisturbed
