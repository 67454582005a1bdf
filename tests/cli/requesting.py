"""A small project under git with sessions of Codex in it, for nights in which a model writes tasks."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

BEGAN = datetime(2026, 9, 7, 9, 0, tzinfo=UTC)
TEST = "python3 -m unittest -q"
WORDS = "def title(text):\n    return text.title()\n"
TESTS = """\
import unittest

import words


class Words(unittest.TestCase):
    def test_title(self):
        self.assertEqual(words.title("a b"), "A B")


if __name__ == "__main__":
    unittest.main()
"""


def git(folder: Path, *arguments: str, at: datetime = BEGAN) -> str:
    """Git with nothing of this machine's configuration, at a time of ours."""
    stamp = at.strftime("%Y-%m-%dT%H:%M:%S+0000")
    environment = {
        "PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp,
    }  # fmt: skip
    named = ["-c", "user.name=Kim", "-c", "user.email=kim@example.invalid", "-c", "init.defaultBranch=main"]
    command = ["git", "-C", str(folder), *named, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def make_project(folder: Path) -> str:
    """The project with one commit, whose id is handed back."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.py").write_text(WORDS)
    (folder / "test_words.py").write_text(TESTS)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Words")
    return git(folder, "rev-parse", "HEAD")


@dataclass
class Rollout:
    """One session of Codex, told call by call, as Codex writes it."""

    project: Path
    commit: str
    day: int
    number: int = 1
    lines: list[dict[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.at = BEGAN + timedelta(days=self.day)
        self.id = f"{self.day:08d}-0000-4000-8000-{self.number:012d}"
        git_facts = {"branch": "main", **({"commit_hash": self.commit} if self.commit else {})}
        self._add("session_meta", id=self.id, timestamp=self._stamp(), cwd=str(self.project), originator="codex-tui",
                  cli_version="0.171.0", source="cli", model_provider="openai", git=git_facts)  # fmt: skip
        self._add("turn_context", cwd=str(self.project), model="gpt-5.5-codex", approval_policy="on-request")

    def says(self, text: str) -> Rollout:
        content = [{"type": "input_text", "text": text}]
        self._add("response_item", type="message", role="user", content=content)
        return self._add("event_msg", type="user_message", message=text, kind="plain")

    def runs(self, command: str, output: str = "", code: int = 0) -> Rollout:
        call = f"call_{len(self.lines)}"
        given = json.dumps({"cmd": command, "workdir": str(self.project)})
        self._add("response_item", type="function_call", name="exec_command", call_id=call, arguments=given)
        text = f"Process exited with code {code}\nOutput:\n{output}"
        return self._add("response_item", type="function_call_output", call_id=call, output=text)

    def patches(self, path: str, old: Sequence[str], new: Sequence[str]) -> Rollout:
        call, kind = f"call_{len(self.lines)}", "Update" if old else "Add"
        lines = [f"*** {kind} File: {path}", *(["@@"] if old else [])]
        lines += [f"-{line}" for line in old] + [f"+{line}" for line in new]
        patch = "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])
        self._add("response_item", type="custom_tool_call", status="completed", call_id=call, name="apply_patch",
                  input=patch)  # fmt: skip
        output = json.dumps({"output": "Success.", "metadata": {"exit_code": 0, "duration_seconds": 0.0}})
        return self._add("response_item", type="custom_tool_call_output", call_id=call, output=output)

    def answers(self, text: str) -> Rollout:
        content = [{"type": "output_text", "text": text}]
        self._add("response_item", type="message", role="assistant", content=content, phase="final_answer")
        return self._add("event_msg", type="task_complete", last_agent_message=text)

    def write(self, user_home: Path) -> Path:
        """Put it where Codex keeps its sessions."""
        began = BEGAN + timedelta(days=self.day)
        folder = user_home / ".codex/sessions" / began.strftime("%Y/%m/%d")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-{began.strftime('%Y-%m-%dT%H-%M-%S')}-{self.id}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return path

    def _add(self, sort: str, **payload: object) -> Rollout:
        self.at += timedelta(seconds=7)
        self.lines.append({"timestamp": self._stamp(), "type": sort, "payload": payload})
        return self

    def _stamp(self) -> str:
        return self.at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def adding(project: Path, commit: str, day: int, name: str) -> Rollout:
    """A function is asked for, and its author's line is missed: each time the person has to say so."""
    old = ["    return text.title()"]
    new = [*old, "", "", f"def {name}(text):", f"    return text.{name}()"]
    return (
        Rollout(project, commit, day)
        .says(f"add a function {name} to words.py that gives the text back in {name} case")
        .runs("sed -n '1,40p' words.py", WORDS)
        .patches("words.py", old, new)
        .runs(TEST, "OK")
        .answers(f"There is {name} now.")
        .says("every function here has a docstring that begins with Words:")
        .patches("words.py", [f"def {name}(text):"], [f"def {name}(text):", f'    """Words: {name} case."""'])
        .runs(TEST, "OK")
        .answers("It has one now.")
    )


NAMES = ("upper", "lower", "swapcase", "capitalize", "casefold", "strip", "lstrip", "rstrip")


def asked_for(name: str) -> str:
    """A prompt that stands alone for one of these functions."""
    return f"Add a function {name} to words.py that gives a text back in {name} case, with a test that stays green."


def task_about(name: str, **changes: object) -> dict[str, object]:
    """The task that a good model writes of `adding`."""
    checks = [{"offer": "f1", "contains": f"def {name}(text)"}, {"offer": "f1", "contains": "Words:"}, {"offer": "c1"}]
    return {"requests": [1, 2], "kind": "add a text function", "prompt": asked_for(name), "checks": checks} | changes
