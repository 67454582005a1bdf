"""A night that asks a model, killed between two answers, goes on without asking anything twice."""

from __future__ import annotations

import json
import os
import re
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
PROMPTS = 4
"""Three batches of the sample's eight items, and the comparison of their rules."""


def answer(request: Request) -> Response:
    prompt = request.get_json()["messages"][0]["content"]
    if "<rules-" in prompt:
        return message(request.path, '{"same": []}', (300, 9))
    kinds = []
    for command in ("git push --force", "npm run deploy:staging"):
        numbers = re.findall(rf"^(\d+)\. refused\ndid: run: {command}", prompt, re.MULTILINE)
        if numbers:
            kinds.append({"items": numbers, "name": "refused", "rule": f"Do not run `{command}`."})
    return message(request.path, json.dumps({"kinds": kinds}), (700, 60))


def night(folder: Path, url: str, deadly: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.e2e.asking", str(folder), str(deadly)]
    clean = {name: value for name, value in os.environ.items() if "PROXY" not in name.upper()}
    environ = {**clean, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x"}
    return subprocess.run(command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False, timeout=120)


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What a night came to, without its own name, paths and times."""
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    keep = ("backend", "budget", "models", "warnings", "tasks")
    skills = [
        (skill["verdict"], [(edit["text"], edit["verdict"], edit["evidence"]["counts"]) for edit in skill["edits"]])
        for skill in document["skills"]
    ]
    document["budget"].pop("seconds")
    document["budget"].pop("tokens")
    return {key: document[key] for key in keep} | {"skills": skills}


@pytest.mark.parametrize("deadly", [1, 3])
def test_a_night_killed_between_answers_asks_nothing_twice(deadly: int, httpserver: HTTPServer, tmp_path: Path) -> None:
    seen = serve(httpserver, answer)
    url = httpserver.url_for("").rstrip("/")
    whole = night(tmp_path / "whole", url)
    undisturbed = told(whole)
    assert len(seen) == PROMPTS
    seen.clear()
    died = night(tmp_path / "killed", url, deadly)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert len(seen) == deadly
    went_on = night(tmp_path / "killed", url)
    after = told(went_on)
    asked = Counter(json.dumps(request.get_json()) for request in seen)
    assert len(asked) == PROMPTS
    assert max(asked.values()) == 1, "a prompt was paid for twice"
    assert after == undisturbed
    paid, known = (json.loads(done.stdout)["budget"]["tokens"] for done in (went_on, whole))
    assert paid["spent"] > known["spent"], "what the answer took died with the process: all that was reserved counts"
    assert (paid["exact"], known["exact"]) == (False, True)
    assert any("git push --force" in text for _, edits in after["skills"] for text, _, _ in edits)
