"""What is printed where: results on stdout, talk on stderr, JSON alone with --json."""

from __future__ import annotations

import ast
import importlib.util
import io
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_sleep.cli.view import View
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.proposals import Adoption, Decision, Target, Written
from skillopt_sleep.errors import UsageError
from skillopt_sleep.review.plan import AdoptionRefused


@pytest.fixture(scope="module")
def sample() -> ModuleType:
    """The sample morning of the tests of review: tests are no package, so it is found by its file."""
    path = Path(__file__).parent.parent / "review" / "sample.py"
    spec = importlib.util.spec_from_file_location("review_sample", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Heard(View):
    """A view with its two streams in memory."""

    def __init__(self, **options: bool) -> None:
        self.stdout, self.stderr = io.StringIO(), io.StringIO()
        super().__init__(out=self.stdout, err=self.stderr, width=100, **options)  # type: ignore[arg-type]

    @property
    def said(self) -> tuple[str, str]:
        return self.stdout.getvalue(), self.stderr.getvalue()


def adoption(state: str = "written", why: str = "") -> Adoption:
    shared = Target("codex", "/p", "/p/AGENTS.md", "acme", ("copilot-cli",))
    own = Target("claude-code", "/p", "/p/CLAUDE.md", "acme")
    targets = (
        Written(shared, state, None, b"x", why=why),  # type: ignore[arg-type]
        Written(own, state, None, b"x", why="it is read-only" if why else ""),  # type: ignore[arg-type]
    )
    return Adoption("a-1", "p-1", "person", (1, 2), targets, state if state != "refused" else "rolled_back", 1)  # type: ignore[arg-type]


def test_talk_goes_to_stderr_and_less_of_it_with_q() -> None:
    view = Heard()
    view.note("hello")
    view.detail("small")
    view.warn("odd")
    assert view.said == ("", "hello\nwarning: odd\n")
    quiet = Heard(quiet=True)
    quiet.note("hello")
    quiet.warn("odd")
    assert quiet.said == ("", "warning: odd\n")
    loud = Heard(verbose=True)
    loud.detail("small")
    assert loud.said == ("", "small\n")


def test_talk_has_no_terminal_sequences_of_others() -> None:
    view = Heard()
    view.note("a\x1b[31mb\x1b]0;t\x07c [bold]d[/bold] :smile:")
    view.text("e\x1b[2Jf")
    assert view.said == ("ef\n", "abc [bold]d[/bold] :smile:\n")


def test_an_error_is_one_line_or_one_document() -> None:
    error = UsageError("unknown key\nsecond line", where="sleep.toml:12", remedy="Did you mean gate.alpha?")
    view = Heard()
    view.error(error)
    assert view.said == ("", "error: sleep.toml:12: unknown key second line. Did you mean gate.alpha?\n")
    document = Heard(as_json=True)
    document.error(error)
    assert json.loads(document.said[0]) == error.as_json()
    assert document.said[1] == ""


def test_a_refused_adoption_says_why_for_each_target() -> None:
    error = AdoptionRefused(adoption("refused", "it is a symbolic link. Replace the link by a file"))
    view = Heard()
    view.error(error)
    assert view.said[1].splitlines() == [
        "error: /p/AGENTS.md: it is a symbolic link. Replace the link by a file. Nothing was changed",
        "  /p/CLAUDE.md: it is read-only",
    ]
    document = Heard(as_json=True)
    document.error(error)
    said = json.loads(document.said[0])
    assert said["error"]["code"] == "adoption_refused"
    assert [row["state"] for row in said["targets"]] == ["refused"] * 3


def test_a_long_document_is_one_line_that_is_never_folded() -> None:
    view = Heard(as_json=True)
    view.line({"text": "x " * 500})
    view.document({"a": "é"})
    first, second = view.said[0].splitlines()
    assert json.loads(first) == {"format": 1, "text": "x " * 500}
    assert second == '{"format": 1, "a": "é"}'


def test_a_table_shows_nothing_computed_as_a_dash() -> None:
    view = Heard()
    view.table(["name", "n"], [["a\x1b[1m", 1], [None, 20]], right=[1])
    assert [line.split() for line in view.said[0].splitlines()] == [["name", "n"], ["a", "1"], ["–", "20"]]


def test_a_night_says_in_its_first_lines_what_why_and_what_it_saves(sample: ModuleType) -> None:
    view = Heard()
    view.night(sample.night())
    lines = view.said[0].splitlines()
    assert lines[0] == "5 rules ready to adopt  1 proven, 4 supported; 2 more are not proven yet."
    assert "42 wasted actions spared" in lines[1]
    assert "65 actions" in lines[2]
    assert lines[-1] == "Look at them: skillopt-sleep review"
    for words in ("What was refused, and why", "What comes back", "Seen, too rare to test", "hurts", "3 more sessions"):
        assert words in view.said[0]
    assert view.said[1] == "warning: 1 file could not be read: permission denied\n"


def test_a_night_with_json_is_the_run_document_alone(sample: ModuleType) -> None:
    view = Heard(as_json=True)
    view.night(sample.night())
    assert json.loads(view.said[0])["night"] == "n-2026-03-04"
    assert view.said[1] == ""


def test_proposals_without_a_terminal_are_plain_lines_proven_ones_first(sample: ModuleType) -> None:
    view = Heard()
    view.proposals(reversed(sample.proposals()))
    text = view.said[0]
    assert "\x1b" not in text
    names = ["release-notes", "harbor-api (learned skill)", "harbor-api (memory block)"]
    assert [text.index(name) for name in names] == sorted(text.index(name) for name in names)
    assert "+- Use `pnpm`, not `npm`." in text
    assert "Next: skillopt-sleep adopt p-" in text
    lines = Heard(as_json=True)
    lines.proposals(sample.proposals())
    assert [json.loads(line)["verdict"] for line in lines.said[0].splitlines()] == ["accept", "supported", "supported"]


def test_an_adoption_says_where_it_lies_and_how_to_undo_it() -> None:
    view = Heard()
    view.adoption(adoption())
    assert view.said[0].splitlines() == [
        "adopted: 2 edits of p-1  (a-1)",
        "  codex, copilot-cli: /p/AGENTS.md",
        "  claude-code: /p/CLAUDE.md",
        "Undo it: skillopt-sleep rollback a-1",
    ]
    back = Heard()
    back.adoption(adoption("rolled_back"))
    assert back.said[0].startswith("rolled back: 2 edits of p-1")
    assert "Undo" not in back.said[0]


def test_a_rejection_says_why() -> None:
    decision = Decision("p-1", "reject", (1,), 1, why="not now")
    view, document = Heard(), Heard(as_json=True)
    view.rejection(decision)
    document.rejection(decision)
    assert view.said[0] == "rejected: p-1: not now\n"
    assert json.loads(document.said[0])["why"] == "not now"


def test_a_review_tells_again_what_was_decided_and_what_is_left(sample: ModuleType) -> None:
    view = Heard()
    decided = view.review(sample.proposals(), ["a", "q"], lambda d: f"{d.choice} {d.proposal}", FixedClock(1))
    assert [decision.choice for decision in decided] == ["adopt"]
    assert view.said[0].splitlines()[-1] == f"adopt {decided[0].proposal}"
    assert "2 proposals left for later" in view.said[1]


def test_progress_off_a_terminal_is_a_line_a_stage() -> None:
    view = Heard()
    with view.progress("night") as step:
        for done in range(3):
            step("harvest", done, 3)
        step("mine", 0, 0)
    assert view.said == ("", "harvest\nmine\n")


def test_nothing_else_prints(checkout: Path) -> None:
    printing = []
    for path in sorted((checkout / "skillopt_sleep").rglob("*.py")):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        if any(isinstance(called, ast.Name) and called.id == "print" for called in calls):
            printing.append(path.name)
    assert printing == []


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[list[str]]:
    """The start of an argv for a tmux server of our own, which is ended afterwards."""
    argv = ["tmux", "-S", str(tmp_path / "tmux"), "-f", os.devnull]
    yield argv
    subprocess.run([*argv, "kill-server"], check=False, capture_output=True)


SCRIPT = """
import importlib.util, sys
from skillopt_sleep.cli.keys import keys, raw
from skillopt_sleep.cli.view import View
from skillopt_sleep.clock import SystemClock
spec = importlib.util.spec_from_file_location("sample", sys.argv[1])
sample = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sample)
with raw(0):
    View().review(sample.proposals(), keys(0), lambda d: f"{d.choice}: {d.edits} {d.why}", SystemClock())
"""


@pytest.mark.tmux
@pytest.mark.parametrize("colour", [True, False])
def test_a_person_reviews_in_a_real_terminal(tmux: list[str], sample: ModuleType, tmp_path: Path, colour: bool) -> None:
    def run(*more: str) -> str:
        return subprocess.run([*tmux, *more], check=True, capture_output=True, text=True, timeout=20).stdout

    def wait_for(words: str, *options: str) -> str:
        deadline = time.monotonic() + 20
        while words not in (screen := run("capture-pane", "-p", *options)):
            assert time.monotonic() < deadline, screen
            time.sleep(0.05)
        return screen

    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run("new-session", "-d", "-x", "80", "-y", "24", "sh")
    environment = "env TERM=xterm-256color" + ("" if colour else " NO_COLOR=1")
    run("send-keys", "-l", shlex.join([*environment.split(), sys.executable, str(script), str(sample.__file__)]))
    run("send-keys", "Enter")
    wait_for("proposal 1 of 3")
    assert ("\x1b[32m" in run("capture-pane", "-pe")) is colour
    run("send-keys", "d")
    wait_for("proposal 2 of 3")
    run("send-keys", "Tab")
    wait_for("[sessions]")
    run("send-keys", "2", "Down", "Down", "Space")
    wait_for("› [x]  4 In `.py` files")
    run("send-keys", "a")
    wait_for("not proven. Adopt all the same?")
    run("send-keys", "y")
    wait_for("proposal 3 of 3")
    run("resize-window", "-x", "60", "-y", "20")
    run("send-keys", "r")
    wait_for("Why not?")
    run("send-keys", "-l", "later perhaps")
    run("send-keys", "Enter")
    left = wait_for("reject: (1, 2) later perhaps")
    assert "adopt: (1, 3, 4)" in left
    assert "proposal 3 of 3" not in left  # the screen of before is back
    run("send-keys", "-l", "echo it still $((40+2)) echoes")
    wait_for("echo it still $((40+2)) echoes")  # the terminal echoes again
