from __future__ import annotations

import time

import pytest

from skillopt_sleep.domain.frictions import FrictionKind
from skillopt_sleep.domain.sentences import (
    AddFlag,
    AskBefore,
    CheckBefore,
    DoNotRun,
    DoNotWrite,
    RunBefore,
    Said,
    Sentence,
    Use,
)
from skillopt_sleep.mine import mine
from skillopt_sleep.mine.wishes import wishes
from tests.mine.building import Session

FORMS = {
    "use pnpm not npm": ("use", "pnpm", "npm"),
    "Please use `pnpm run` instead of `npm run`.": ("use", "pnpm run", "npm run"),
    "no, use the real clock rather than mocks": ("use", "real clock", "mocks"),
    "Instead of npm, use pnpm": ("use", "pnpm", "npm"),
    "don't use npm, use pnpm": ("use", "pnpm", "npm"),
    "can you use pnpm instead of npm?": ("use", "pnpm", "npm"),
    "never run git push": ("never", "git push", ""),
    "I said don't run make install!": ("never", "make install", ""),
    "stop using eval": ("never", "eval", ""),
    "do not git push": ("not", "git push", ""),
    "before committing run make lint": ("before", "committing", "make lint"),
    "always run make lint before git commit": ("before", "git commit", "make lint"),
    "run the tests before you push": ("check", "push", "tests"),
    "Before you commit, run the linter": ("check", "commit", "linter"),
    "always run pytest with -x": ("with", "pytest", "-x"),
    "ask me before you run terraform apply": ("ask", "terraform apply", ""),
    "that was wrong, never use eval": ("never", "eval", ""),
    "always add a changelog line": ("", "", ""),
    "From now on, make sure every function has a docstring.": ("", "", ""),
}


@pytest.mark.parametrize("said", FORMS)
def test_an_imperative_is_read_with_what_it_names(said: str) -> None:
    (wish,) = wishes(said)
    assert (wish.form, wish.x, wish.y) == FORMS[said]
    assert wish.text in said


@pytest.mark.parametrize(
    "said",
    [
        "don't we use pnpm not npm?",
        "why do we use npm instead of pnpm?",
        "I don't know how to use it",
        "don't worry about the tests",
        "do not think too much of it",
        "the function is never called, but it should always return",
        "the docs say to always run make",
        "- never use npm",
        "1. always use pnpm",
        "> use pnpm not npm",
        "```\nnever run this\n```",
        "# Plan\nnever do that\n# More\nalways do this",
        "use",
        "never " + "word " * 100,
        "",
    ],
)
def test_questions_lists_code_and_documents_are_no_wishes(said: str) -> None:
    assert list(wishes(said)) == []


def test_several_sentences_are_several_wishes() -> None:
    assert [w.form for w in wishes("Thanks. Never run npm. Use pnpm, not npm.\nAlso always write tests!")] == [
        "never",
        "use",
        "",
    ]


@pytest.mark.parametrize(
    "text", ["never " * 600, "use " + "a " * 1500, "don't use " * 400, "before " * 550, "`" * 3999, "no, " * 999]
)
def test_hostile_words_take_no_time(text: str) -> None:
    began = time.process_time()
    list(wishes(text))
    assert time.process_time() - began < 0.5


def rule(said: str, *commands: str, writes: str = "") -> Sentence | None:
    session = Session("s").prompt("go")
    for command in commands:
        session.bash(command)
    if writes:
        session.edit("a.ts", "x", writes)
    (pattern,) = mine(session.prompt(said).episodes()).corrections
    assert pattern.kind == "correction"
    return pattern.sentence


def test_words_become_a_rule_where_they_name_what_occurred_in_actions() -> None:
    assert rule("use pnpm not npm", "npm install") == Use("pnpm", "npm")
    assert rule("never run git push please", "git push origin main") == DoNotRun("git push")
    assert rule("before committing run make lint", "git commit -m x", "make lint") == RunBefore(
        "git commit", "make lint"
    )
    assert rule("run the tests before you push", "git push") == CheckBefore("git push", "tests")
    assert rule("always run pytest with -x", "pytest tests") == AddFlag("pytest", "-x")
    assert rule("ask me before you run make deploy", "make deploy") == AskBefore("make deploy")
    assert rule("use node:fs not fs/promises", writes="import 'fs/promises'") == DoNotWrite(
        ".ts", "fs/promises", "node:fs"
    )
    assert rule("never use console.log", writes="console.log(1)") == DoNotWrite(".ts", "console.log")


def test_words_that_name_nothing_that_occurred_are_kept_as_they_were_said() -> None:
    assert rule("use pnpm not npm") == Said("use pnpm not npm")
    assert rule("don't test that", "test -f x") == Said("don't test that")
    assert rule("use tabs not spaces", writes="spaces = 2") == Said("use tabs not spaces")


def test_no_run_said_of_a_refused_command_speaks_of_that_command() -> None:
    session = Session("s").prompt("go").refused("Bash", {"command": "make e2e 2>&1"}, "don't run those slow things")
    (pattern,) = mine(session.episodes()).corrections
    assert pattern.sentence == DoNotRun("make e2e")


def test_the_words_of_the_agent_and_of_tools_are_never_a_rule() -> None:
    session = (
        Session("s").prompt("go").bash("npm install", "never use npm. use pnpm not npm.").bash("x", "always run y", 1)
    )
    session.answer("Never use npm. Always run pnpm.")
    found = mine(session.episodes())
    assert found.corrections == ()
    assert not any(f.kind is FrictionKind.CORRECTION for f in found.frictions)


def test_a_wish_said_twice_in_one_breath_is_one() -> None:
    session = Session("s").prompt("Never run make. Really: never run make.").bash("make")
    assert len(mine(session.episodes()).frictions) == 1


def test_the_same_wish_in_two_sessions_is_one_pattern() -> None:
    sessions = [
        Session("a", day=0).prompt("go").bash("npm install").prompt("use pnpm not npm"),
        Session("b", day=1).prompt("please use `pnpm` instead of `npm`."),
    ]
    (pattern,) = mine([e for s in sessions for e in s.episodes()]).patterns
    assert (pattern.sentence, pattern.document, len(pattern.sessions)) == (Use("pnpm", "npm"), "memory", 2)
