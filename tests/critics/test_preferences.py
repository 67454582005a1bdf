"""What people say, read into forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.critics.grammar import render
from skillopt_sleep.critics.preferences import from_preference
from skillopt_sleep.domain.sentences import (
    AddFlag,
    AskBefore,
    CheckBefore,
    DoNotLookUnder,
    DoNotRun,
    DoNotWrite,
    DropFlag,
    FileIs,
    ReadBeforeEdit,
    RunBefore,
    Said,
    Sentence,
    Use,
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("use pnpm, never npm", Use("pnpm", "npm")),
        ("Please use pnpm instead of npm.", Use("pnpm", "npm")),
        ("don't use npm, use pnpm", Use("pnpm", "npm")),
        ("no npm, use pnpm instead!", Use("pnpm", "npm")),
        ("prefer rg over grep", Use("rg", "grep")),
        ("use go test, not make test", Use("go test", "make test")),
        ("always use 'uv run', not \"python\"", Use("uv run", "python")),
        ("always run the tests before you commit", CheckBefore("git commit", "tests")),
        ("run the linter before every push", CheckBefore("git push", "linter")),
        ("Before committing, run the formatter", CheckBefore("git commit", "formatter")),
        ("run gofmt before git commit", RunBefore("git commit", "gofmt")),
        ("before you commit, always run `make check`", RunBefore("git commit", "make check")),
        ("don't use tsc", DoNotRun("tsc")),
        ("never run rm -rf", DoNotRun("rm -rf")),
        ("don't run `git push --force`", DoNotRun("git push --force")),
        ("ask before you push", AskBefore("git push")),
        ("ask me before git rebase", AskBefore("git rebase")),
        ("never write print in *.py", DoNotWrite("*.py", "print")),
        ("don't use lodash in typescript files", DoNotWrite(".ts", "lodash")),
        ("in Go files, never write panic", DoNotWrite(".go", "panic")),
        ("don't look under docs/old", DoNotLookUnder("docs/old")),
        ("the file is conf/a.yaml, not conf/a.yml", FileIs("conf/a.yaml", "conf/a.yml")),
        ("always pass -race to go test", AddFlag("go test", "-race")),
        ("never pass --no-verify to git commit", DropFlag("git commit", "--no-verify")),
        ("always read the file before you edit it", ReadBeforeEdit()),
        ("Use `a`, not `b`.", Use("a", "b")),
        ("use tabs, not spaces", Said("use tabs, not spaces")),
        ("use a smaller commit, not a large one", Said("use a smaller commit, not a large one")),
        ("don't use the old API any more", Said("don't use the old API any more")),
        ("use plain prose, not bullet lists", Said("use plain prose, not bullet lists")),
        ("Keep commits small", Said("Keep commits small")),
        ("don't look in the mirror", Said("don't look in the mirror")),
        (
            "never write prose in *.py files that nobody asked for",
            Said("never write prose in *.py files that nobody asked for"),
        ),
    ],
)
def test_words_are_read_into_a_form_only_where_they_fit(words: str, expected: Sentence) -> None:
    assert from_preference(words) == expected


def test_what_is_no_program_is_about_what_is_written() -> None:
    assert from_preference("use slog, not log", programs={"go"}) == DoNotWrite("", "log", "slog")
    assert from_preference("use zig, not zag", programs={"zag"}) == Use("zig", "zag")
    assert from_preference("use slog, not log") == Use("slog", "log")


@pytest.mark.parametrize("words", ["", " \n", "x" * 600, "never \x1b[2J", "<!-- hidden -->"])
def test_nothing_usable_is_none(words: str) -> None:
    assert from_preference(words) is None


@given(st.text(max_size=120) | st.text("usenotrv, `'\"-./;", max_size=200))
def test_whatever_is_read_can_be_written(words: str) -> None:
    sentence = from_preference(words)
    assert sentence is None or render(sentence).startswith("- ")
