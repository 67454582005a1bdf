"""Nights after an adoption: each rule is watched from the adoption that brought it, in report, `show` and `history`."""

from __future__ import annotations

from skillopt_sleep.cli import listing
from skillopt_sleep.clock import DAY_MS
from skillopt_sleep.domain.proposals import Adoption, ProposalState
from skillopt_sleep.night import sleep
from skillopt_sleep.night.records import adopted_rules
from skillopt_sleep.review.adopt import adopt, rollback
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.evidence import trials
from skillopt_sleep.store.proposals import proposals
from skillopt_sleep.world import LocalWorld
from tests.night.worlds import THREE, Place


def adopt_one(world: LocalWorld) -> Adoption:
    """Adopt the first rule of the learned skill that waits, proven or not."""
    waiting = proposals(world.store, ProposalState.STAGED, ProposalState.ON_TRIAL)
    proposal = next(one for one in waiting if one.document.kind == "learned")
    targets = world.targets(proposal.document)
    return adopt(proposal, [1], targets, Adoptions(world.store), world.clock, unproven=True)


def test_rules_are_watched_each_since_its_own_adoption(place: Place) -> None:
    middle = (place.days.start + 3 * len(place.days) // 4) * DAY_MS + THREE
    with place.open(middle) as world:
        place.record(world.store)
        sleep(world)
        first = adopt_one(world)
    with place.open(middle + 3 * DAY_MS) as world:
        sleep(world)
        second = adopt_one(world)
    with place.open() as world:
        report = sleep(world)
        since = {one.adoption: one for one in report.watch}
        assert set(since) == {first.id, second.id}, "each once, though both stand in one document"
        assert len(report.watch) == 2
        assert since[first.id].sessions > since[second.id].sessions > 0
        (rules,) = adopted_rules(world.store, str(place.project)).values()
        cuts = {trial.rule: trial.cut_ms for trial in trials(world.store)}
        for rule, adopted in rules.items():
            assert 0 < adopted.cut_ms == cuts[rule] < adopted.at_ms
        for one in report.watch:
            assert one.observed is not None
            shown = listing.FINDERS["rule"](world.store, one.rule)
            assert shown is not None
            assert shown["watch"]["e_reverse"] == one.observed.e_reverse
            assert shown["watch"]["finding"] == one.finding
            assert len(shown["ledger"]) == one.sessions, "each session since the adoption has a line"
            assert sum(row["friction"] for row in shown["ledger"]) == round((one.after or 0.0) * one.sessions)


def test_what_was_rolled_back_is_watched_no_longer(place: Place) -> None:
    with place.open() as world:
        place.record(world.store)
        sleep(world)
        adoption = adopt_one(world)
        assert adopted_rules(world.store, str(place.project))
        rollback(adoption, Adoptions(world.store))
        assert adopted_rules(world.store, str(place.project)) == {}
