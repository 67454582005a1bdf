"""The review as a machine: what every key does, and what a decision carries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.proposals import Decision, Proposal
from skillopt_sleep.errors import AdoptionError
from skillopt_sleep.review.session import PANES, Desk, opened, press, sit


def carry_out(decision: Decision) -> str:
    return f"{decision.choice} {decision.proposal}"


class Sitting:
    """A review with scripted keys, and every desk that was shown."""

    def __init__(self, proposals: Iterable[Proposal], keys: Iterable[str], limit: int = 0) -> None:
        self.shown: list[Desk] = []
        self.limit = limit
        self.decided = sit(tuple(proposals), keys, self.show, carry_out, FixedClock(7))

    def show(self, desk: Desk) -> int:
        self.shown.append(desk)
        return self.limit


@pytest.fixture
def two(made: ModuleType) -> tuple[Proposal, Proposal]:
    first = made.proposal(
        made.result("- a", "accept"), made.result("- b", share=0.2), made.result("- c", "abstain"), made.result("- d")
    )
    return first, made.proposal(made.result("- x"), document=made.MEMORY)


def test_proven_and_supported_edits_are_ticked_and_taken(two: tuple[Proposal, Proposal]) -> None:
    seen = Sitting(two, ["a"])
    assert seen.shown[0].ticked == {1, 2, 3}
    assert seen.decided == (Decision(two[0].id, "adopt", (1, 2, 3), 7),)
    assert seen.shown[-1].proposal == two[1]
    assert seen.shown[-1].said == f"adopt {two[0].id}"


def test_a_number_takes_an_edit_out_and_in_again(two: tuple[Proposal, Proposal]) -> None:
    assert Sitting(two, ["2", "a"]).decided[0].edits == (1, 3)
    assert Sitting(two, ["2", "2", "a"]).decided[0].edits == (1, 2, 3)
    assert Sitting(two, ["j", " ", "a"]).decided[0].edits == (1, 3)


def test_an_unknown_number_ticks_nothing(two: tuple[Proposal, Proposal]) -> None:
    desk = Sitting(two, ["9"]).shown[-1]
    assert (desk.ticked, desk.said) == ({1, 2, 3}, "There is no edit 9.")


def test_an_unproven_edit_is_asked_about(two: tuple[Proposal, Proposal]) -> None:
    asked = Sitting(two, ["4", "a"])
    assert asked.shown[-1].asking == "unproven"
    assert asked.decided == ()
    assert Sitting(two, ["4", "a", "n", "q"]).decided == ()
    assert Sitting(two, ["4", "a", "y"]).decided == (Decision(two[0].id, "adopt", (1, 2, 3, 4), 7, unproven=True),)


def test_nothing_ticked_is_nothing_to_adopt(two: tuple[Proposal, Proposal]) -> None:
    desk = Sitting(two, ["1", "2", "3", "a"]).shown[-1]
    assert "Nothing is ticked" in desk.said


def test_a_rejection_takes_a_reason_typed_with_any_keys(two: tuple[Proposal, Proposal]) -> None:
    keys = ["r", *"no, q is fine", "backspace", "e", "tab", "enter"]
    (decision,) = Sitting(two, keys).decided
    assert decision == Decision(two[0].id, "reject", (1, 2, 3, 4), 7, why="no, q is fine")


def test_a_rejection_without_words_has_some(two: tuple[Proposal, Proposal]) -> None:
    assert Sitting(two, ["r", "enter"]).decided[0].why == "not wanted"


def test_a_rejection_can_be_taken_back(two: tuple[Proposal, Proposal]) -> None:
    seen = Sitting(two, ["r", "x", "esc", "d"])
    assert [decision.choice for decision in seen.decided] == ["defer"]


def test_the_last_decision_ends_the_review_and_q_ends_it_before(two: tuple[Proposal, Proposal]) -> None:
    keys = iter(["d", "a", "d"])
    assert [decision.choice for decision in Sitting(two, keys).decided] == ["defer", "adopt"]
    assert list(keys) == ["d"]
    for leave in ("q", "esc"):
        assert Sitting(two, ["d", leave, "a"]).decided == (Decision(two[0].id, "defer", (1, 2, 3, 4), 7),)


def test_without_proposals_no_key_is_read() -> None:
    keys = iter(["a"])
    assert Sitting((), keys).decided == ()
    assert list(keys) == ["a"]


def test_a_refused_decision_is_said_and_the_proposal_stays(two: tuple[Proposal, Proposal]) -> None:
    def refuse(_decision: Decision) -> str:
        raise AdoptionError("it is a symbolic link", where="CLAUDE.md")

    shown: list[Desk] = []
    decided = sit(two, ["a"], lambda desk: shown.append(desk) or 0, refuse, FixedClock(7))  # type: ignore[func-returns-value]
    assert decided == ()
    assert shown[-1].proposal == two[0]
    assert shown[-1].said == "CLAUDE.md: it is a symbolic link"


def test_proposals_can_be_turned_without_deciding(two: tuple[Proposal, Proposal]) -> None:
    assert [desk.at for desk in Sitting(two, ["n", "n", "p", "p"]).shown] == [0, 1, 1, 0, 0]


def test_panes_go_round_and_the_keys_are_one_key_away(two: tuple[Proposal, Proposal]) -> None:
    panes = [desk.pane for desk in Sitting(two, ["tab", "tab", "tab", "?", "?"]).shown]
    assert panes == [*PANES, "why", "keys", "why"]


def test_scrolling_stops_at_both_ends(two: tuple[Proposal, Proposal]) -> None:
    assert [desk.scroll for desk in Sitting(two, ["f", "f", "b", "b"], limit=10).shown] == [0, 8, 10, 2, 0]


KEYS = st.sampled_from(
    [*"abcdfjknprv? 1234567890yYn", "up", "down", "tab", "enter", "esc", "backspace", "pgup", "resize"]
)


@given(keys=st.lists(KEYS, max_size=40))
def test_no_keys_bring_the_desk_out_of_order(made: ModuleType, keys: list[str]) -> None:
    proposals = (
        made.proposal(made.result("- a"), made.result("- b", "abstain")),
        made.proposal(document=made.MEMORY),
    )
    seen = Sitting(proposals, keys, limit=3)
    for desk in seen.shown:
        assert desk.focused in desk.edits
        assert desk.ticked <= {edit.n for edit in desk.edits}
        assert 0 <= desk.scroll <= 3
    for decision in seen.decided:
        assert decision.edits
        assert not (decision.choice == "adopt" and 2 in decision.edits) or decision.unproven


def test_an_edit_that_fell_out_cannot_be_ticked(made: ModuleType) -> None:
    proposal = made.proposal()
    fallen = replace(proposal.edits[0], n=2, status="missed", verdict=made.verdict("reject"))
    desk = opened(Desk((replace(proposal, edits=(*proposal.edits, fallen)),)), 0)
    after, decision = press(desk, "2", 0)
    assert (after.ticked, after.said, decision) == ({1}, "Edit 2 cannot be adopted.", None)


@pytest.mark.parametrize("key", ["resize", "x", "enter", "\x01"])
def test_keys_without_a_meaning_change_nothing(two: tuple[Proposal, Proposal], key: str) -> None:
    desk = opened(Desk(two), 0)
    assert press(desk, key, 0) == (desk, None)
