"""Staging: what becomes a proposal, how its edits are numbered, and what an older one becomes."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from skillopt_core.types import Outcome
from skillopt_sleep.domain.proposals import ProposalState
from skillopt_sleep.review import skills, stage
from skillopt_sleep.review.revise import revise, same


def test_a_new_document_is_its_skeleton_with_the_edits(made: ModuleType) -> None:
    proposal = made.proposal(made.result("- Use `pnpm`, not `npm`."))
    assert proposal.base == ""
    assert proposal.candidate == skills.skeleton(made.LEARNED).replace(
        "## Rules\n", "## Rules\n\n- Use `pnpm`, not `npm`.\n"
    )
    assert skills.problems(proposal.candidate, "acme") == ()


def test_edits_are_numbered_proven_first_then_by_stake_and_stay_in_their_order(made: ModuleType) -> None:
    results = [
        made.result("- rare", "abstain", share=0.9),
        made.result("- small", share=0.001),
        made.result("- hurts", "reject"),
        made.result("- large", share=0.1),
        made.result("- proven", "accept", share=0.0),
    ]
    edits = stage.stage(made.LEARNED, None, results, night="n", now_ms=1).edits
    assert [edit.edit.text for edit in edits] == ["- rare", "- small", "- hurts", "- large", "- proven"]
    assert [edit.edit.text for edit in stage.by_number(edits)] == [
        "- proven",
        "- large",
        "- small",
        "- rare",
        "- hurts",
    ]
    assert [edit.n for edit in edits] == [4, 3, 5, 2, 1]


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ("accept", "accepted"),
        ("supported", "accepted"),
        ("abstain", "proposed"),
        ("unverified", "proposed"),
        ("ungated", "proposed"),
        ("reject", "refused"),
        ("no_change", "dropped"),
        ("no_exposure", "dropped"),
        ("infra_error", "dropped"),
    ],
)
def test_the_status_of_an_edit_follows_from_its_verdict(made: ModuleType, outcome: str, status: str) -> None:
    staged = stage.stage(made.LEARNED, None, [made.result("- x", outcome)], night="n", now_ms=1)
    assert staged.edits[0].status == status
    assert (staged.proposal is not None) is (status in {"accepted", "proposed"})


def test_a_proposal_holds_only_edits_that_may_be_adopted(made: ModuleType) -> None:
    proposal = made.proposal(made.result("- good"), made.result("- bad", "reject"))
    assert [edit.edit.text for edit in proposal.edits] == ["- good"]
    assert "bad" not in proposal.candidate


def test_an_edit_that_finds_no_place_is_missed_with_its_reason(made: ModuleType) -> None:
    results = [made.result("- good"), made.result("- lost", anchor="No such section")]
    staged = stage.stage(made.LEARNED, None, results, night="n", now_ms=1)
    assert staged.edits[1].status == "missed"
    assert "section" in staged.edits[1].why
    assert staged.proposal is not None
    assert len(staged.proposal.edits) == 1


def test_what_the_document_says_already_is_never_staged(made: ModuleType) -> None:
    live = made.proposal(made.result("- Use `pnpm`.")).candidate
    staged = stage.stage(made.LEARNED, live, [made.result("- Use `pnpm`.")], night="n", now_ms=1)
    assert staged.proposal is None
    assert staged.edits[0].status == "missed"


def test_edits_that_undo_each_other_are_never_staged(made: ModuleType) -> None:
    live = made.proposal(made.result("- Use `pnpm`.")).candidate
    there = made.result("- Use `yarn`.", op="replace", anchor="- Use `pnpm`.")
    back = made.result("- Use `pnpm`.", op="replace", anchor="- Use `yarn`.")
    assert stage.stage(made.LEARNED, live, [there], night="n", now_ms=1).proposal is not None
    assert stage.stage(made.LEARNED, live, [there, back], night="n", now_ms=1).proposal is None


def test_a_difference_in_final_newlines_is_no_difference() -> None:
    assert same("a\r\nb", "a\nb\n\n")
    assert not same("a\nb", "a b")


def test_the_same_content_has_the_same_id_on_every_night(made: ModuleType) -> None:
    one = made.proposal(made.result("- x", "abstain", share=0.5))
    other = made.proposal(made.result("- x", "supported", share=0.1))
    assert one.id == other.id
    assert one.id != made.proposal(made.result("- y")).id
    assert one.id != made.proposal(made.result("- x"), document=made.MEMORY).id


def test_the_verdict_is_that_of_the_weakest_edit_that_is_adopted_plainly(made: ModuleType) -> None:
    mixed = made.proposal(made.result("- a", "accept"), made.result("- b", e=30.0), made.result("- c", "abstain"))
    assert mixed.verdict.outcome is Outcome.SUPPORTED
    assert made.proposal(made.result("- a", e=30.0), made.result("- b", e=21.0)).verdict.e == 21.0
    assert made.proposal(made.result("- c", "unverified"), made.result("- d", "abstain")).verdict.outcome == "abstain"


def test_a_proposal_without_a_proven_edit_is_on_trial(made: ModuleType) -> None:
    assert made.proposal(made.result("- x", "abstain")).state is ProposalState.ON_TRIAL
    assert made.proposal(made.result("- x")).state is ProposalState.STAGED


def test_a_later_proposal_supersedes_the_open_ones_of_its_document_alone(made: ModuleType) -> None:
    old, new = made.proposal(made.result("- x")), made.proposal(made.result("- y"))
    gone = replace(old, id="p-gone", state=ProposalState.REJECTED)
    elsewhere = made.proposal(made.result("- x"), document=made.MEMORY)
    kept = stage.among([old, gone, elsewhere], new)
    assert kept == (replace(old, state=ProposalState.SUPERSEDED), new)


def test_the_same_content_takes_the_newer_evidence(made: ModuleType) -> None:
    old, new = made.proposal(made.result("- x", e=21.0)), made.proposal(made.result("- x", e=40.0))
    assert stage.among([old], new) == (new,)


@pytest.mark.parametrize("state", [ProposalState.REJECTED, ProposalState.ADOPTED])
def test_what_a_person_has_decided_is_not_staged_again(made: ModuleType, state: ProposalState) -> None:
    old = replace(made.proposal(made.result("- x")), state=state)
    assert stage.among([old], made.proposal(made.result("- x"))) == ()


def test_a_proposal_is_stale_once_the_live_text_changed_and_open_when_it_is_back(made: ModuleType) -> None:
    proposal = made.proposal(base="---\nname: acme\ndescription: d\n---\n\n## Rules\n")
    stale = stage.freshened(proposal, "mine")
    assert stale.state is ProposalState.STALE
    assert stage.freshened(stale, proposal.base).state is ProposalState.STAGED
    assert stage.freshened(proposal, None).state is ProposalState.STALE
    adopted = replace(proposal, state=ProposalState.ADOPTED)
    assert stage.freshened(adopted, "mine") == adopted


def test_proposals_are_read_proven_first_then_by_stake(made: ModuleType) -> None:
    proven = made.proposal(made.result("- a", "accept"))
    small, large = made.proposal(made.result("- b", share=0.01)), made.proposal(made.result("- c", share=0.2))
    waiting = made.proposal(made.result("- d", "abstain", share=0.9))
    assert stage.in_reading_order([waiting, small, large, proven]) == (proven, large, small, waiting)


def test_an_edit_of_a_later_step_finds_the_text_of_an_earlier_one(made: ModuleType) -> None:
    first, second = made.result("- Run the tests.").edit, made.result("- All of them.", op="insert_after").edit
    second = replace(second, anchor="- Run the tests.")
    text, missed = revise("## Rules\n", [second, first])
    assert text == "## Rules\n\n- Run the tests.\n- All of them.\n"
    assert missed == ()
