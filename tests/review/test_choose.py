"""Which edits a decision takes: plainly, as unproven, by itself, or never."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from skillopt_sleep.domain.proposals import ProposalState
from skillopt_sleep.errors import AdoptionError, NotFound
from skillopt_sleep.review.choose import choose, proven_enough, text_with


def chosen(*args: object, **more: object) -> list[str]:
    return [edit.edit.text for edit in choose(*args, **more)]  # type: ignore[arg-type]


def test_without_numbers_all_that_are_proven_or_supported_are_taken(made: ModuleType) -> None:
    proposal = made.proposal(made.result("- a", "accept"), made.result("- b"), made.result("- c", "abstain"))
    assert chosen(proposal) == ["- a", "- b"]
    assert chosen(proposal, allow_unproven=True) == ["- a", "- b", "- c"]


@pytest.mark.parametrize("outcome", ["abstain", "unverified", "ungated"])
def test_an_unproven_edit_wants_to_be_named_so(made: ModuleType, outcome: str) -> None:
    proposal = made.proposal(made.result("- x", outcome, needs="about 6 more sessions"))
    with pytest.raises(AdoptionError, match="none of its edits is proven"):
        choose(proposal)
    with pytest.raises(AdoptionError, match="about 6 more sessions"):
        choose(proposal, [1])
    assert chosen(proposal, [1], allow_unproven=True) == ["- x"]


@pytest.mark.parametrize("outcome", ["reject", "no_change", "no_exposure", "infra_error"])
def test_other_verdicts_are_never_adopted(made: ModuleType, outcome: str) -> None:
    proposal = made.proposal()
    edits = tuple(replace(edit, verdict=made.verdict(outcome)) for edit in proposal.edits)
    with pytest.raises(AdoptionError):
        choose(replace(proposal, edits=edits), [1], allow_unproven=True)
    with pytest.raises(AdoptionError, match="no edit that may be adopted"):
        choose(replace(proposal, edits=edits), allow_unproven=True)


@pytest.mark.parametrize("status", ["missed", "refused", "dropped"])
def test_an_edit_that_fell_out_is_never_adopted(made: ModuleType, status: str) -> None:
    proposal = made.proposal()
    edits = tuple(replace(edit, status=status) for edit in proposal.edits)
    with pytest.raises(AdoptionError, match=f"it was {status}"):
        choose(replace(proposal, edits=edits), [1], allow_unproven=True)


@pytest.mark.parametrize(
    ("outcome", "e", "alpha", "enough"),
    [
        ("accept", 100.0, 0.01, True),
        ("accept", 99.0, 0.01, False),
        ("accept", None, 0.05, False),
        ("accept", 100.0, None, False),
        ("supported", 10_000.0, 0.05, False),
    ],
)
def test_automatic_adoption_takes_accept_with_enough_evidence_alone(
    made: ModuleType, outcome: str, e: float | None, alpha: float | None, enough: bool
) -> None:
    result = made.result("- x", outcome, e=e, alpha=alpha, p=0.0001)
    assert proven_enough(result.verdict) is enough
    if enough:
        assert chosen(made.proposal(result), by="auto") == ["- x"]
    else:
        with pytest.raises(AdoptionError, match="no edit that may be adopted"):
            choose(made.proposal(result), by="auto", allow_unproven=True)
        with pytest.raises(AdoptionError, match="without a person"):
            choose(made.proposal(result), [1], by="auto", allow_unproven=True)


def test_an_unknown_number_is_not_found(made: ModuleType) -> None:
    with pytest.raises(NotFound, match=r"no edit 2.*edits are 1 to 1"):
        choose(made.proposal(), [2])


@pytest.mark.parametrize(
    ("state", "word"), [(ProposalState.SUPERSEDED, "later night"), (ProposalState.ADOPTED, "adopted already")]
)
def test_a_proposal_that_is_over_is_not_adopted(made: ModuleType, state: ProposalState, word: str) -> None:
    with pytest.raises(AdoptionError, match=word):
        choose(replace(made.proposal(), state=state))


def test_a_subset_holds_exactly_its_edits(made: ModuleType) -> None:
    proposal = made.proposal(
        made.result("- a", share=0.3), made.result("- b", share=0.2), made.result("- c", share=0.1)
    )
    text = text_with(proposal, choose(proposal, [1, 3]))
    assert "- a" in text
    assert "- b" not in text
    assert "- c" in text
    assert text_with(proposal, choose(proposal)) == proposal.candidate


def test_an_edit_that_builds_on_another_does_not_stand_alone(made: ModuleType) -> None:
    second = made.result("- All of them.", op="insert_after", anchor="- Run the tests.", share=0.001)
    proposal = made.proposal(made.result("- Run the tests."), second)
    with pytest.raises(AdoptionError, match="cannot stand alone"):
        text_with(proposal, choose(proposal, [2]))
