"""From what was practised to a proposal: its order, what is shown, what is kept, what is adopted without a person."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from skillopt_core.types import Edit, Evolution, Outcome, Patch, Refused, Skill, Step, Verdict
from skillopt_sleep.domain.frictions import Stake
from skillopt_sleep.night.plan import Subject, mined
from skillopt_sleep.night.staging import WORTH_SHOWING, Practised, practised, stage_document, unchecked
from skillopt_sleep.night.work import live_skill
from skillopt_sleep.review.skills import skeleton
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.evidence import trials
from skillopt_sleep.store.proposals import proposals
from tests.night.test_plan import found
from tests.night.worlds import Place
from tests.review.made import units

FORMS = "Use `a{n}`, not `b{n}`."


@cache
def subject() -> Subject:
    """A learned rule of the sample; other rules are made from it."""
    return next(one for one in mined(found(), found().patterns, {}, None) if one.document.kind == "learned")


def rule(n: int, share: float, *, healing: bool = False) -> Subject:
    """The n-th rule, with a stake."""
    one = subject()
    assert one.pattern is not None
    pattern = replace(one.pattern, self_healing=healing)
    return replace(one, rule=f"r-{n}", stake=Stake(n, share, 1.0), pattern=pattern)


def done(n: int, outcome: Outcome, live: str = "l" * 64, **more: object) -> Practised:
    verdict = Verdict(outcome, f"because {outcome}", "recorded", e=30.0, alpha=0.05, units=units([1] * 6), **more)  # type: ignore[arg-type]
    return Practised(Edit("add", "## Rules", f"- {FORMS.format(n=n)}"), verdict, live, f"{n:064}")


Results = list[tuple[Subject, Practised]]


def mixed() -> Results:
    return [
        (rule(1, 0.5), done(1, Outcome.ABSTAIN)),
        (rule(2, 0.01), done(2, Outcome.SUPPORTED)),
        (rule(3, 0.9), done(3, Outcome.REJECT)),
        (rule(4, 0.2), done(4, Outcome.SUPPORTED)),
        (rule(5, 0.8, healing=True), done(5, Outcome.SUPPORTED)),
        (rule(6, 0.6), done(6, Outcome.ABSTAIN)),
        (rule(7, 0.001), done(7, Outcome.ACCEPT)),
    ]


def test_proven_first_then_supported_by_stake_and_what_heals_itself_last(place: Place) -> None:
    place.night()
    with place.open() as world:
        result, lines, _ = stage_document(world, night_of(world), subject().document, mixed())
        order = [edit.rule for edit in sorted(result.edits, key=lambda edit: edit.n)]
        assert order[:3] == ["r-7", "r-4", "r-2"]
        assert order.index("r-5") == 3
        assert order.index("r-6") < order.index("r-1")
        assert order[-1] == "r-3"
        assert len(lines) == len(mixed())
        kept = next(one for one in proposals(world.store) if one.id == result.proposal)
        assert {edit.rule for edit in kept.edits} == {"r-1", "r-2", "r-4", "r-5", "r-6", "r-7"}
        assert kept.verdict.outcome is Outcome.SUPPORTED, "that of its weakest edit that is adopted plainly"


def night_of(world: object) -> str:
    from skillopt_sleep.store.nights import nights

    return nights(world.store)[0].id  # type: ignore[attr-defined]


@pytest.mark.parametrize("outcome", [Outcome.ABSTAIN, Outcome.REJECT])
def test_of_what_is_not_proven_or_hurts_the_dearest_few_are_shown(outcome: Outcome, place: Place) -> None:
    place.night()
    many: Results = [(rule(n, n / 100), done(n, outcome)) for n in range(20)]
    with place.open() as world:
        result, lines, _ = stage_document(world, night_of(world), subject().document, many)
        assert {edit.rule for edit in result.edits} == {f"r-{n}" for n in range(20 - WORTH_SHOWING, 20)}
        assert len(lines) == 20, "the others go on gathering evidence"


def test_what_may_be_adopted_is_shown_however_many_there_are(place: Place) -> None:
    place.night()
    many: Results = [(rule(n, n / 100), done(n, Outcome.SUPPORTED)) for n in range(20)]
    with place.open() as world:
        result, _, _ = stage_document(world, night_of(world), subject().document, many)
        assert len(result.edits) == 20


def test_a_backtest_and_a_dry_run_keep_nothing(place: Place) -> None:
    place.night()
    for parts in ({"as_of_ms": 1_790_000_000_000}, {"dry_run": True}):
        with place.open(**parts) as world:
            before = (len(trials(world.store)), len(proposals(world.store)))
            result, lines, _ = stage_document(world, night_of(world), subject().document, mixed())
            assert (result.proposal, lines) == (None, [])
            assert (len(trials(world.store)), len(proposals(world.store))) == before
            assert result.edits


def test_only_what_is_accepted_with_enough_evidence_is_adopted_without_a_person(place: Place) -> None:
    place.night()
    auto = place.config.model_copy(update={"adopt": place.config.adopt.model_copy(update={"auto": True})})
    with place.open(config=auto) as world:
        place.record(world.store)
        document = replace(subject().document, scope=str(place.project))
        live = live_skill(world, document).digest
        weak = done(1, Outcome.ACCEPT, live)
        weak = replace(weak, verdict=replace(weak.verdict, e=19.9))
        results: Results = [
            (rule(1, 0.5), weak),
            (rule(2, 0.4), done(2, Outcome.SUPPORTED, live)),
            (rule(3, 0.3), done(3, Outcome.ACCEPT, live)),
        ]
        here = [(replace(one, document=document), two) for one, two in results]
        result, _, warnings = stage_document(world, night_of(world), document, here)
        assert warnings == []
        (adoption,) = Adoptions(world.store).all()
        assert adoption.by == "auto"
        numbers = {edit.n: edit.rule for edit in result.edits}
        assert [numbers[n] for n in adoption.edits] == ["r-3"]
        assert FORMS.format(n=3) in (world.live(document) or "")
        assert FORMS.format(n=1) not in (world.live(document) or "")


def evolution(step: Step | None, stopped: str = "done") -> Evolution:
    live = Skill(skeleton(subject().document), "x")
    return Evolution(live, live, (step,) if step else (), stopped)  # type: ignore[arg-type]


def test_an_edit_that_fell_out_says_how_it_was_lost() -> None:
    one, live = subject(), Skill(skeleton(subject().document), "x")
    edit = Edit("add", "## Rules", "- Use `a`, not `b`.")
    verdict = Verdict(Outcome.NO_CHANGE, "the texts are identical")
    for kind in ("missed", "refused", "dropped"):
        patch = Patch((), (Refused(edit, "it names a secret", kind),))  # type: ignore[arg-type]
        found = practised(one, live, evolution(Step(0, 0, 1, 1, patch, None, verdict)))
        assert (found.status, found.why, found.edit) == (kind, "it names a secret", edit)
    silent = practised(one, live, evolution(Step(0, 0, 1, 0, Patch(), None, verdict)))
    assert (silent.status, silent.why) == ("dropped", "the critic phrased nothing")


def test_a_rule_that_the_budget_did_not_reach_says_so() -> None:
    one, live = subject(), Skill(skeleton(subject().document), "x")
    out = practised(one, live, evolution(None, "budget"))
    assert (out.verdict.outcome, out.verdict.needs) == (Outcome.ABSTAIN, "the budget was out")
    assert practised(one, live, evolution(None)).verdict.why == "nothing was tried"


def test_a_rule_that_nothing_can_check_is_left_to_judgement() -> None:
    found = unchecked(subject(), Skill("x"))
    assert (found.verdict.outcome, found.verdict.needs) == (Outcome.UNVERIFIED, "your judgement")
    assert found.verdict.e is None
