"""Rules about commands, followed over what was recorded."""

from __future__ import annotations

import pytest

from skillopt_sleep.agents.recorded.parts import check_of
from skillopt_sleep.domain.episodes import ActionOutcome
from skillopt_sleep.domain.sentences import AddFlag, AskBefore, CheckBefore, DoNotRun, DropFlag, RunBefore, Use
from tests.agents.recordings import ERROR, OK, REFUSED, edited, effects, ran, read, recorded, scores

PNPM = Use("pnpm", "npm")
OFTEN = [ran("pnpm test")] * 8
"""Seen often enough that its success is no accident."""


def test_a_wasted_command_is_prevented_where_the_other_is_seen_to_work() -> None:
    episodes = recorded([ran("npm test", ERROR), ran("pnpm test")], [ran("npm test", ERROR)], OFTEN)
    assert effects(episodes, PNPM) == ["prevented1", "prevented1", ""]
    assert scores(episodes, PNPM)[1].hard == 1.0
    assert scores(episodes)[1].hard == 0.0


def test_an_alternative_that_was_never_seen_is_unknown_and_no_success() -> None:
    episodes = recorded([ran("npm test", ERROR)], [ran("pnpm build")] * 9)
    assert effects(episodes, PNPM)[0] == "unknown1"
    assert scores(episodes, PNPM)[0].hard == 0.0


def test_an_alternative_that_works_but_no_better_is_unknown() -> None:
    flaky = [*[ran("npm test")] * 9, ran("npm test", ERROR)]
    episodes = recorded(flaky, OFTEN)
    assert effects(episodes, PNPM) == ["unknown1 neutral9", ""]
    once = recorded([ran("npm test", ERROR), ran("pnpm test")])
    assert effects(once, PNPM) == ["unknown1"]


def test_the_more_often_the_one_fails_the_less_must_be_seen_of_the_other() -> None:
    failing = [[ran("npm test", ERROR)]] * 6
    assert effects(recorded(*failing, OFTEN[:2]), PNPM)[0] == "prevented1"
    assert effects(recorded(*failing[:2], OFTEN[:2]), PNPM)[0] == "unknown1"
    assert effects(recorded(*failing, [*OFTEN[:2], ran("pnpm test", ERROR)]), PNPM)[0] == "unknown1"


def test_a_working_command_is_broken_where_the_other_is_seen_to_fail() -> None:
    episodes = recorded([ran("npm test")], [ran("pnpm test", ERROR)])
    assert effects(episodes, PNPM) == ["broken1", ""]
    before, after = scores(episodes)[0], scores(episodes, PNPM)[0]
    assert (before.hard, before.soft, after.hard, after.soft) == (1.0, 1.0, 0.0, 0.0)
    assert "worked" in after.failed[0]


def test_a_working_command_stays_as_it_is_where_the_other_works_too() -> None:
    assert effects(recorded([ran("npm test")], [ran("pnpm test")]), PNPM) == ["neutral1", ""]


def test_a_failing_command_is_not_prevented_by_one_that_fails() -> None:
    episodes = recorded([ran("npm test", ERROR)], [ran("pnpm test", ERROR)])
    assert effects(episodes, PNPM)[0] == "neutral1"


def test_swapped_outcomes_swap_the_verdict() -> None:
    def history(one: ActionOutcome, other: ActionOutcome) -> list[str]:
        return effects(recorded(*[[ran("npm test", one)]] * 3, [ran("pnpm test", other)] * 4), PNPM)

    assert history(ERROR, OK)[:3] == ["prevented1"] * 3
    assert history(OK, ERROR)[:3] == ["broken1"] * 3


def test_another_program_is_comparable_only_on_the_same_object() -> None:
    rule = Use("zub", "grep")
    wasted = [ran("grep word a.md", ERROR)]
    assert effects(recorded(wasted, [ran("zub b.md")] * 8), rule)[0] == "unknown1"
    assert effects(recorded(wasted, [ran("zub")] * 8), rule)[0] == "unknown1"
    assert effects(recorded(wasted, [ran("zub -v a.md")] * 8), rule)[0] == "prevented1"
    assert (
        effects(recorded([ran("tool list", ERROR)], [ran("zub list all")] * 8), Use("zub", "tool"))[0] == "prevented1"
    )


def test_a_rule_that_is_kept_already_does_not_apply() -> None:
    episodes = recorded([ran("uv run pytest")], [ran("pytest")])
    assert effects(episodes, Use("uv run pytest", "pytest")) == ["", "neutral1"]


def test_the_action_itself_is_no_evidence_for_its_alternative() -> None:
    assert effects(recorded([ran("tool a b")]), Use("a", "b")) == ["unknown1"]
    assert effects(recorded([ran("tool a b")], [ran("tool a b")]), Use("a", "b")) == ["neutral1", "neutral1"]


def test_most_of_the_nearest_outcomes_decide_and_a_draw_is_unknown() -> None:
    draw = recorded([ran("pnpm test")], [ran("npm test")], [ran("pnpm test", ERROR)])
    assert effects(draw, PNPM)[1] == "unknown1"
    nearest = recorded(*[[ran("pnpm test")]] * 9, *[[ran("pnpm test", ERROR)]] * 4, [ran("npm test")])
    assert effects(nearest, PNPM)[13] == "broken1"


@pytest.mark.parametrize(
    "outcome", [ActionOutcome.CASCADE, ActionOutcome.INTERRUPTED, ActionOutcome.OPEN, ActionOutcome.DENIED]
)
def test_what_says_nothing_counts_nowhere(outcome: ActionOutcome) -> None:
    assert effects(recorded([ran("rm x", outcome)]), DoNotRun("rm")) == ["neutral1"]
    assert effects(recorded([ran("npm i", ERROR)], [ran("pnpm i", outcome)] * 8), PNPM)[0] == "unknown1"
    assert effects(recorded([ran("rm x", outcome)]), AskBefore("rm")) == [""]


def test_a_command_that_is_not_run_is_prevented_or_broken_by_how_it_fared() -> None:
    episodes = recorded([ran("git push --force", ERROR)], [ran("git -C x push --force")], [ran("git pushed")])
    assert effects(episodes, DoNotRun("git push")) == ["prevented1", "broken1", ""]


def test_asking_prevents_a_refusal_and_costs_where_nobody_minds() -> None:
    episodes = recorded([ran("git push", REFUSED)], [ran("git push")], [ran("git push", ERROR)])
    assert effects(episodes, AskBefore("git push")) == ["prevented1", "broken1", "broken1"]


def test_a_failure_is_laid_to_the_part_that_failed() -> None:
    rule = DoNotRun("tool b")
    assert effects(recorded([ran("cd x && tool b", ERROR)]), rule) == ["prevented1"]
    assert effects(recorded([ran("make a && tool b", ERROR)]), rule) == ["unknown1"]
    assert effects(recorded([ran("make a && tool b", ERROR, "tool: no such thing")]), rule) == ["prevented1"]
    assert effects(recorded([ran("make a && tool b", ERROR, "make: no rule")]), rule) == ["neutral1"]
    assert effects(recorded([ran("tool b; make a", ERROR)]), rule) == ["neutral1"]
    assert effects(recorded([ran("tool b && make || true")]), rule) == ["neutral1"]
    assert effects(recorded([ran("tool b; make || true")]), rule) == ["broken1"]


def test_a_success_that_the_shell_hides_is_no_evidence() -> None:
    wasted = [ran("npm test", ERROR)]
    for command in ("pnpm test || true", "pnpm test; ls"):
        assert effects(recorded(wasted, [ran(command)] * 8), PNPM)[0] == "unknown1"
    piped = "pnpm test | tail -3"
    assert effects(recorded(wasted, [ran(piped, OK, "error: no such script")] * 8), PNPM)[0] == "unknown1"
    assert effects(recorded(wasted, [ran(piped, OK, "42 passed")] * 8), PNPM)[0] == "prevented1"


def test_words_in_a_heredoc_or_a_message_are_no_command() -> None:
    commit = ran("git commit -m \"$(cat <<'EOF'\nnpm test\nEOF\n)\"")
    assert effects(recorded([commit, ran("git commit -m 'use npm test'")]), Use("pnpm", "npm")) == [""]
    assert effects(recorded([commit]), DoNotRun("cat")) == [""]


def test_a_check_that_fails_and_is_mended_did_its_work() -> None:
    mended = [ran("go test ./...", ERROR), edited("a.go", "x", "y"), ran("go test ./...")]
    assert scores(recorded(mended))[0].hard == 1.0
    assert effects(recorded(mended), DoNotRun("go test")) == ["broken2"]
    rerun = [ran("go test ./...", ERROR), ran("go test ./..."), edited("a.go", "x", "y")]
    assert effects(recorded(rerun), DoNotRun("go test")) == ["prevented1 broken1"]
    unsolved = [ran("go test ./...", ERROR), edited("a.go", "x", "y")]
    assert effects(recorded(unsolved), DoNotRun("go test")) == ["neutral1"]
    unknown_tool = [ran("zub x", ERROR), edited("a.go", "x", "y"), ran("zub x")]
    assert effects(recorded(unknown_tool), DoNotRun("zub")) == ["broken2"]


def test_an_argument_is_added_where_it_lacks() -> None:
    episodes = recorded(
        [ran("zub run", ERROR)], [ran("zub run --yes=1"), *[ran("zub run --yes")] * 7], [ran("zub walk", ERROR)]
    )
    assert effects(episodes, AddFlag("zub run", "--yes")) == ["prevented1", "", ""]
    assert effects(episodes, AddFlag("zub", "--yes")) == ["prevented1", "", "unknown1"]
    flaky = recorded([*[ran("zub run")] * 9, ran("zub run", ERROR)], [ran("zub run --yes")] * 8)
    assert effects(flaky, AddFlag("zub run", "--yes"))[0] == "unknown1 neutral9"


def test_an_argument_is_dropped_where_it_stands() -> None:
    episodes = recorded([ran("zub run --old a", ERROR)], [ran("zub run --old=3 b", ERROR)], [ran("zub run c")] * 4)
    assert effects(episodes, DropFlag("zub run", "--old")) == ["prevented1", "prevented1", ""]
    assert effects(recorded([ran("lint run --fast")]), DropFlag("lint run", "--fast")) == ["unknown1"]


def test_what_is_to_be_run_before_is_known_from_the_session_or_the_same_line() -> None:
    rule = RunBefore("git commit", "gofmt")
    episodes = recorded(
        [ran("git commit -m a", ERROR)],
        [ran("git commit -m a", ERROR)],
        [ran("gofmt -w ."), *[ran("git commit -m b")] * 7],
        [ran("gofmt -w . && git commit -m c")],
        [ran("gofmt -w .", ERROR), ran("git commit -m d", ERROR)],
    )
    assert effects(episodes, rule) == ["prevented1", "prevented1", "", "", "prevented1"]
    working = recorded([ran("git commit -m a")], [ran("gofmt -w .")])
    assert effects(working, rule) == ["neutral1", ""]
    assert scores(working, rule)[0].objectives["actions_saved"] == -1.0
    never = recorded([ran("git commit -m a", ERROR)], [ran("git commit -m b")])
    assert effects(never, rule) == ["unknown1", "unknown1"]
    failing = recorded([ran("git commit -m a")], [ran("gofmt x", ERROR)], [ran("gofmt y", ERROR)])
    assert effects(failing, rule)[0] == "broken1"


def test_what_fails_as_often_behind_another_command_is_not_mended_by_it() -> None:
    some = [*[ran("git push")] * 9, ran("git push", ERROR)]
    episodes = recorded(some, [ran("ls"), *some])
    assert effects(episodes, RunBefore("git push", "ls"))[0] == "unknown1 neutral9"


def test_any_check_of_the_kind_will_do_before() -> None:
    rule = CheckBefore("git push", "tests")
    pushes = [ran("git push")] * 3
    episodes = recorded(
        [ran("git push", REFUSED, said="run the tests first")],
        [ran("npm run test:unit"), *pushes],
        [ran("python -m pytest -q"), *pushes],
        [ran("uv run pytest && git push")],
        [ran("npm run lint"), ran("git push", REFUSED)],
    )
    assert effects(episodes, rule) == ["prevented1", "", "", "", "prevented1"]


def test_a_path_is_asked_for_itself_where_no_such_command_was_seen() -> None:
    episodes = recorded([ran("wc a.yml", ERROR, paths=("a.yml",))], [read("a.yaml")] * 8)
    assert effects(episodes, Use("a.yaml", "a.yml"))[0] == "prevented1"
    assert effects(episodes, Use("b.yaml", "a.yml"))[0] == "unknown1"


@pytest.mark.parametrize(
    ("command", "check"),
    [
        ("npm run test:unit", "tests"),
        ("npx jest a", "tests"),
        ("python3 -m pytest -q", "tests"),
        ("zub-lint run", "linter"),
        ("yarn lint", "linter"),
        ("cargo fmt", "formatter"),
        ("tsc --noEmit", "type checker"),
        ("go build ./...", "build"),
        ("test -f a", None),
        ("cat test", None),
        ("ls build", None),
    ],
)
def test_a_check_is_known_by_program_and_sub_command(command: str, check: str | None) -> None:
    assert check_of(command.split()) == check
