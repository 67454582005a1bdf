"""Rules about commands, followed over what was recorded."""

from __future__ import annotations

import pytest

from skillopt_sleep.domain.episodes import ActionOutcome
from skillopt_sleep.domain.sentences import AddFlag, AskBefore, CheckBefore, DoNotRun, DropFlag, RunBefore, Use
from tests.agents.recordings import ERROR, OK, REFUSED, edited, effects, ran, read, recorded, scores


def test_a_wasted_command_is_prevented_where_the_other_is_seen_to_work() -> None:
    episodes = recorded([ran("npm test", ERROR), ran("pnpm test")], [ran("npm test", ERROR)])
    assert effects(episodes, Use("pnpm", "npm")) == ["prevented1", "prevented1"]


def test_an_alternative_that_was_never_seen_is_unknown_and_no_success() -> None:
    episodes = recorded([ran("npm test", ERROR)], [ran("pnpm build")])
    assert effects(episodes, Use("pnpm", "npm")) == ["unknown1", ""]
    assert scores(episodes, Use("pnpm", "npm"))[0].hard == 0.0


def test_a_working_command_is_broken_where_the_other_is_seen_to_fail() -> None:
    episodes = recorded([ran("npm test")], [ran("pnpm test", ERROR)])
    rule = Use("pnpm", "npm")
    assert effects(episodes, rule) == ["broken1", ""]
    before, after = scores(episodes)[0], scores(episodes, rule)[0]
    assert (before.hard, before.soft, after.hard, after.soft) == (1.0, 1.0, 0.0, 0.0)
    assert "worked" in after.failed[0]


def test_a_working_command_stays_as_it_is_where_the_other_works_too() -> None:
    assert effects(recorded([ran("npm test")], [ran("pnpm test")]), Use("pnpm", "npm")) == ["neutral1", ""]


def test_a_failing_command_is_not_prevented_by_one_that_fails() -> None:
    episodes = recorded([ran("npm test", ERROR)], [ran("pnpm test", ERROR)])
    assert effects(episodes, Use("pnpm", "npm"))[0] == "neutral1"


def test_swapped_outcomes_swap_the_verdict() -> None:
    first, second = [ran("npm test", ERROR), ran("pnpm test")], [ran("npm test"), ran("pnpm test", ERROR)]
    assert effects(recorded(first), Use("pnpm", "npm")) == ["prevented1"]
    assert effects(recorded(second), Use("pnpm", "npm")) == ["broken1"]


def test_the_action_itself_is_no_evidence_for_its_alternative() -> None:
    assert effects(recorded([ran("tool a b")]), Use("a", "b")) == ["unknown1"]
    assert effects(recorded([ran("tool a b")], [ran("tool a")]), Use("a", "b")) == ["neutral1", ""]


def test_most_of_the_nearest_outcomes_decide_and_a_draw_is_unknown() -> None:
    draw = recorded([ran("pnpm test")], [ran("npm test", ERROR)], [ran("pnpm test", ERROR)])
    assert effects(draw, Use("pnpm", "npm"))[1] == "unknown1"
    late = recorded(*[[ran("pnpm test", ERROR)]] * 9, [ran("npm test", ERROR)], *[[ran("pnpm test")]] * 5)
    assert effects(late, Use("pnpm", "npm"))[9] == "unknown1"  # four of each are nearest


@pytest.mark.parametrize(
    "outcome", [ActionOutcome.CASCADE, ActionOutcome.INTERRUPTED, ActionOutcome.OPEN, ActionOutcome.DENIED]
)
def test_what_says_nothing_counts_nowhere(outcome: ActionOutcome) -> None:
    assert effects(recorded([ran("rm x", outcome)]), DoNotRun("rm")) == ["neutral1"]
    assert effects(recorded([ran("npm i", ERROR)], [ran("pnpm i", outcome)]), Use("pnpm", "npm"))[0] == "unknown1"
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


def test_a_success_that_the_shell_hides_is_no_evidence() -> None:
    wasted = [ran("npm test", ERROR)]
    for command in ("pnpm test || true", "pnpm test; ls"):
        assert effects(recorded(wasted, [ran(command)]), Use("pnpm", "npm"))[0] == "unknown1"
    piped = ran("pnpm test | tail -3", OK, "error: no such script")
    assert effects(recorded(wasted, [piped]), Use("pnpm", "npm"))[0] == "unknown1"
    assert (
        effects(recorded(wasted, [ran("pnpm test | tail -3", OK, "42 passed")]), Use("pnpm", "npm"))[0] == "prevented1"
    )


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
        [ran("zub run", ERROR), ran("zub run --yes")], [ran("zub run --yes=1")], [ran("zub walk", ERROR)]
    )
    assert effects(episodes, AddFlag("zub run", "--yes")) == ["prevented1", "", ""]
    assert effects(episodes, AddFlag("zub", "--yes")) == ["prevented1", "", "unknown1"]


def test_an_argument_is_dropped_where_it_stands() -> None:
    episodes = recorded(
        [ran("zub run --old a", ERROR), ran("zub run a")], [ran("zub run --old=3 b")], [ran("zub run c")]
    )
    assert effects(episodes, DropFlag("zub run", "--old")) == ["prevented1", "neutral1", ""]


def test_what_is_to_be_run_before_is_known_from_the_session_or_the_same_line() -> None:
    rule = RunBefore("git commit", "gofmt")
    episodes = recorded(
        [ran("git commit -m a", ERROR)],
        [ran("gofmt -w ."), ran("git commit -m b")],
        [ran("gofmt -w . && git commit -m c")],
        [ran("gofmt -w .", ERROR), ran("git commit -m d")],
    )
    assert effects(episodes, rule) == ["prevented1", "", "", "neutral1"]
    assert scores(episodes, rule)[3].objectives["actions_saved"] == -1.0
    never = recorded([ran("git commit -m a", ERROR)], [ran("git commit -m b")])
    assert effects(never, rule) == ["unknown1", "unknown1"]
    failing = recorded([ran("git commit -m a")], [ran("gofmt x", ERROR)], [ran("gofmt y", ERROR)])
    assert effects(failing, rule)[0] == "broken1"


def test_any_check_of_the_kind_will_do_before() -> None:
    rule = CheckBefore("git push", "tests")
    episodes = recorded(
        [ran("git push", REFUSED, said="run the tests first")],
        [ran("npm run test:unit"), ran("git push")],
        [ran("python -m pytest -q"), ran("git push")],
        [ran("uv run pytest && git push")],
        [ran("npm run lint"), ran("git push")],
    )
    assert effects(episodes, rule) == ["prevented1", "", "", "", "neutral1"]


def test_a_path_is_asked_for_itself_where_no_such_command_was_seen() -> None:
    episodes = recorded([ran("wc a.yml", ERROR, paths=("a.yml",))], [read("a.yaml")])
    assert effects(episodes, Use("a.yaml", "a.yml"))[0] == "prevented1"
