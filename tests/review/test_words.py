"""Figures in words, diffs, and the four sentences of the morning."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from skillopt_sleep.domain.frictions import Stake
from skillopt_sleep.domain.reports import HarvestCounts
from skillopt_sleep.review import words
from skillopt_sleep.review.diffs import diff_lines, unified
from skillopt_sleep.review.morning import morning
from skillopt_sleep.review.stage import by_number


@pytest.mark.parametrize(("x", "said"), [(0.0142, "1.4%"), (0.00092, "0.09%"), (0.0, "0.0%"), (0.5, "50.0%")])
def test_a_share_has_as_many_digits_as_say_something(x: float, said: str) -> None:
    assert words.share(x) == said


@pytest.mark.parametrize(
    ("x", "said"), [(None, "–"), (0.0004, "0.0004"), (23.44, "23.4"), (148.3, "148"), (12345.0, "12,345")]
)
def test_a_figure_of_the_gate_has_three_digits(x: float | None, said: str) -> None:
    assert words.number(x) == said


def test_one_thing_is_not_several() -> None:
    assert words.count(1, "rule") == "1 rule"
    assert words.count(2300, "rule") == "2,300 rules"


def test_recorded_evidence_says_what_came_back_what_was_spared_and_what_broke(made: ModuleType) -> None:
    counts = {"later_sessions": 31, "recurred": 13, "prevented": 15, "broken": 1, "unknown": 3}
    verdict = made.verdict(counts=counts, e=212.0, alpha=0.05, units=made.units([1] * 11))
    assert words.believe(verdict) == (
        "came back in 13 of 31 later sessions, would have spared 15 actions and broken 1 (3 unknown)"
    )
    assert words.figures(verdict) == "E 212 over 11 units, 20 wanted, deterministic"


def test_replayed_evidence_says_from_where_to_where_and_the_least_of_it(made: ModuleType) -> None:
    verdict = made.verdict(
        "accept",
        evidence="replayed",
        deterministic=False,
        metric="hard",
        before=0.48,
        after=0.86,
        effect=0.38,
        interval=(0.19, 0.57),
        p=0.0004,
        pairs=42,
        opened=0.93,
        coverage=0.97,
    )
    assert words.believe(verdict) == "tasks done went from 0.48 to 0.86 (+0.38, at least +0.19)"
    assert words.figures(verdict) == "95% interval +0.19 to +0.57, p 0.0004, 42 pairs, opened in 93%, coverage 97%"
    assert words.believe(replace(verdict, interval=(-0.1, 0.8))).endswith("(+0.38)")


def test_edits_measured_together_are_said_to_be(made: ModuleType) -> None:
    replayed = {"evidence": "replayed", "deterministic": False}
    together = made.proposal(made.result("- a", "accept", **replayed), made.result("- b", "accept", **replayed))
    assert "measured together" in words.caveats(together.edits)[0]
    apart = made.proposal(made.result("- a", "accept", **replayed), made.result("- b", "accept", p=0.01, **replayed))
    assert words.caveats(apart.edits) == ()


def test_supported_is_never_shown_without_what_it_cannot_show(made: ModuleType) -> None:
    assert words.caveats(made.proposal().edits)[0].startswith("Replayed from recordings: they show")
    both = made.proposal(made.result("- a"), made.result("- b", "accept", evidence="replayed", deterministic=False))
    assert words.caveats(both.edits)[0].startswith("Supported rules are replayed from recordings: they show")


def test_figures_are_for_what_was_measured(made: ModuleType) -> None:
    recorded, replayed = made.proposal(
        made.result("- a"), made.result("- b", "accept", evidence="replayed", deterministic=False)
    ).edits
    assert words.reading(recorded) == "a command has the words"
    assert "attempted afresh with the text as it stands and with this edit" in words.reading(replayed)


def test_what_rules_save_adds_up_and_only_of_those_to_adopt(made: ModuleType) -> None:
    proposal = made.proposal(made.result("- a"), made.result("- b"), made.result("- c", "abstain", share=0.9))
    assert words.total(words.adoptable(proposal.edits)) == Stake(24, 0.02, 5.0)
    assert words.summary(proposal) == (
        "2 rules supported, 1 not proven yet; would have saved 24 actions, 2.0% of all output, 5.0 sessions a week"
    )


def test_the_next_command_adopts_what_may_be_adopted_and_else_shows_it(made: ModuleType) -> None:
    good, waiting = made.proposal(), made.proposal(made.result("- x", "abstain"))
    assert words.next_command(good.id, good.edits) == f"skillopt-sleep adopt {good.id}"
    assert words.next_command(waiting.id, waiting.edits) == f"skillopt-sleep review {waiting.id}"
    assert words.next_command(None, good.edits) == ""


def test_a_rule_is_shown_without_its_bullet_or_number(made: ModuleType) -> None:
    texts = ["- a", "2. b", "* c", "d - e"]
    shown = [words.rule_text(edit) for text in texts for edit in made.proposal(made.result(text)).edits]
    assert shown == ["a", "b", "c", "d - e"]


def test_the_morning_names_what_is_ready_what_it_saves_and_what_to_type(sample: ModuleType) -> None:
    head = morning(sample.night())
    assert (head.what, head.more) == ("5 rules ready to adopt", "1 proven, 4 supported; 2 more are not proven yet.")
    assert "42 wasted actions spared, none broken" in head.why
    assert "65 actions, 3.1%" in head.saved
    assert head.command == "skillopt-sleep review"


def test_a_morning_without_a_proposal_says_why_and_what_to_look_at(sample: ModuleType) -> None:
    head = morning(sample.quiet_night())
    assert head.what == "Nothing to propose this morning"
    assert "38 patterns seen in 111 sessions; 1 thing too rare to test yet" in head.why
    assert head.command


def test_a_morning_with_unproven_rules_alone_says_what_they_need(made: ModuleType, sample: ModuleType) -> None:
    night = sample.night()
    waiting = replace(night.documents[1], edits=words.waiting(night.documents[1].edits))
    head = morning(replace(night, documents=(waiting,)))
    assert head.what == "Nothing to adopt this morning"
    assert "3 more sessions" in head.why


def test_a_night_that_read_nothing_is_loud(sample: ModuleType) -> None:
    head = morning(replace(sample.night(), harvest=HarvestCounts(), documents=()))
    assert (head.what, head.command) == ("No session was found", "skillopt-sleep doctor")


def test_a_night_that_reads_nothing_new_still_shows_what_waits(sample: ModuleType) -> None:
    assert morning(replace(sample.night(), harvest=HarvestCounts())).command == "skillopt-sleep review"


@pytest.mark.parametrize(("state", "command"), [("failed", "review"), ("interrupted", "run --resume")])
def test_a_night_that_broke_off_says_how_to_go_on(sample: ModuleType, state: str, command: str) -> None:
    head = morning(replace(sample.night(), state=state, error="the disk is full"))
    assert "the disk is full" in head.what
    assert head.command == f"skillopt-sleep {command}"


def test_a_diff_shows_what_is_added_between_what_stays(made: ModuleType) -> None:
    lines = diff_lines("a\nb\nc\n", "a\nB\nc\n")
    assert [(line.kind, line.text) for line in lines[1:]] == [(" ", "a"), ("-", "b"), ("+", "B"), (" ", "c")]
    assert diff_lines("a\n", "a\n") == ()


def test_a_line_that_looks_like_a_diff_header_is_a_line() -> None:
    kinds = [line.kind for line in diff_lines("--- x\n", "+++ y\n")]
    assert kinds == ["@", "-", "+"]


def test_a_proposal_is_a_unified_diff_against_what_is_live(made: ModuleType) -> None:
    base = "---\nname: acme\ndescription: d\n---\n\n## Rules\n"
    text = unified(made.proposal(made.result("- x"), base=base))
    assert text.splitlines()[:2] == ["--- live/SKILL.md", "+++ proposed/SKILL.md"]
    assert "+- x" in text


def test_what_a_screen_lists_is_in_reading_order(sample: ModuleType) -> None:
    edits = by_number(sample.staged_skill().edits)
    assert [edit.n for edit in edits] == [1, 2, 3, 4, 5, 6]
    assert [words.tag(edit) for edit in edits[3:]] == ["not proven yet", "hurts", "never applied"]
