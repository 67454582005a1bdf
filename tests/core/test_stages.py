"""Rollout, reflect, aggregate and select, each on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from skillopt_core.aggregate import aggregate, join
from skillopt_core.defaults import CountedDraws, Silent
from skillopt_core.memory import Memory
from skillopt_core.reflect import reflect
from skillopt_core.rollout import Seen, rollout
from skillopt_core.run import Run
from skillopt_core.schedule import PlannedStep
from skillopt_core.scripted import ScriptedCritic, ScriptedEnvironment
from skillopt_core.select import select
from skillopt_core.types import Edit, Missing, Patch, Score, Skill, Task, Trajectory

SKILL = Skill("# T\n")


def new_run() -> Run:
    return Run(SKILL, Memory(), Silent())


def edit(text: str, *support: str, op: str = "add", anchor: str = "") -> Edit:
    return Edit(op, anchor, text, frozenset(support))  # type: ignore[arg-type]


@dataclass
class Merging(ScriptedCritic):
    """Merges as it is told, and keeps what it was shown."""

    merged: Patch | Missing = field(default_factory=Patch)
    groups: list[Sequence[Patch]] = field(default_factory=list)
    ranked: Sequence[int] | Missing = ()

    def merge(self, patches: Sequence[Patch], memory: Memory) -> Patch | Missing:
        self.groups.append(patches)
        return join(patches) if self.merged == Patch() else self.merged

    def rank(self, edits: Sequence[Edit], keep: int, memory: Memory) -> Sequence[int] | Missing:
        self._count("rank")
        return self.ranked


def test_failed_attempts_are_counted_and_not_scored() -> None:
    environment = ScriptedEnvironment(lambda t, s, d: Missing("timeout") if t.id == "a" else Score(1.0, 1.0))
    seen = rollout(environment, SKILL, [Task("a", "x"), Task("b", "y")], CountedDraws())
    assert seen.missing == {"timeout": 1}
    assert [(one.task, one.prompt) for one in seen.trajectories] == [("b", "y")]
    assert seen.mean == 1
    assert not seen.silent


def test_duplicates_unite_and_their_support_is_counted() -> None:
    joined = join([Patch((edit("- Say yes.", "a"),)), Patch((edit("*  say YES", "b"), edit("- No.", "c")))])
    assert joined.edits == (edit("- Say yes.", "a", "b"), edit("- No.", "c"))


def test_of_two_edits_on_one_anchor_the_better_supported_stays() -> None:
    one, two = edit("one", "a", op="replace", anchor="x"), edit("two", "a", "b", op="replace", anchor="x ")
    joined = join([Patch((one,)), Patch((two,))])
    assert joined.edits == (two,)
    assert [refused.edit for refused in joined.refused] == [one]
    assert joined.refused[0].kind == "dropped"
    beside = edit("three", op="insert_after", anchor="x")
    assert join([Patch((one, beside))]).edits == (one, beside)


def test_failures_weigh_more_than_successes() -> None:
    failed, worked = edit("one", "a", op="delete", anchor="x"), edit("two", "a", "b", op="replace", anchor="x")
    assert join([Patch((worked,), about="successes"), Patch((failed,))]).edits == (failed,)


def test_merging_goes_by_groups_of_eight_failures_first() -> None:
    critic = Merging([])
    patches = [Patch((edit(f"- f{n}"),)) for n in range(17)] + [Patch((edit("- s"),), about="successes")] * 2
    merged = aggregate(critic, new_run(), patches)
    assert [len(group) for group in critic.groups] == [8, 8, 3, 2]
    assert [patch.about for patch in critic.groups[-1]] == ["failures", "successes"]
    assert len(merged.edits) == 18


def test_one_patch_and_mere_duplicates_cost_no_call() -> None:
    critic = Merging([])
    aggregate(critic, new_run(), [Patch((edit("- a"), edit("- b")))])
    aggregate(critic, new_run(), [Patch((edit("- a"),)), Patch((edit("* A"),)), Patch()])
    assert critic.groups == []
    assert aggregate(critic, new_run(), []).edits == ()


def test_a_failed_merge_is_counted_and_joined_without_a_model() -> None:
    run = new_run()
    patches = [Patch((edit("- a"),)), Patch((edit("- b"),))]
    assert len(aggregate(Merging([], merged=Missing("timeout")), run, patches).edits) == 2
    nothing = Merging([], merged=Patch(reasoning="nothing is left"))
    assert len(aggregate(nothing, run, patches).edits) == 2
    assert run._events == {"critic: timeout": 1, "critic: merged everything away": 1}


def test_a_merge_cannot_invent_support() -> None:
    merged = Patch((edit("- a", "1", "made up"), edit("- new", "2", "made up")))
    patches = [Patch((edit("- a", "1", "3"),)), Patch((edit("- b", "2"),))]
    assert [e.support for e in aggregate(Merging([], merged=merged), new_run(), patches).edits] == [{"1", "3"}, {"2"}]


def test_a_patch_within_the_budget_passes_without_a_call() -> None:
    critic = Merging([])
    patch = Patch((edit("- a"), edit("- b")))
    assert select(critic, new_run(), patch, PlannedStep(0, 0, 2, 0, 1)) is patch
    assert critic.asked == {}


def test_only_valid_distinct_ranks_are_taken() -> None:
    patch = Patch(tuple(edit(f"- {n}") for n in range(5)))
    chosen = select(Merging([], ranked=[9, 3, 3, -1, 0, 1]), new_run(), patch, PlannedStep(0, 0, 2, 0, 1))
    assert [e.text for e in chosen.edits] == ["- 0", "- 3"]
    assert [refused.edit.text for refused in chosen.refused] == ["- 1", "- 2", "- 4"]


def test_without_a_ranking_the_best_supported_edits_stay() -> None:
    patch = Patch((edit("- a"), edit("- b", "1", "2"), edit("- c", "1")))
    for ranked in (Missing("timeout"), [7, 8]):
        chosen = select(Merging([], ranked=ranked), new_run(), patch, PlannedStep(0, 0, 2, 0, 1))
        assert [e.text for e in chosen.edits] == ["- b", "- c"]


def test_a_budget_of_nothing_keeps_nothing_and_asks_nobody() -> None:
    critic = Merging([])
    chosen = select(critic, new_run(), Patch((edit("- a"),)), PlannedStep(0, 0, 0, 0, 1))
    assert chosen.edits == ()
    assert critic.asked == {}
    seen = Seen((Trajectory("a", 0, "", Score(0.0, 0.0)),))
    assert reflect(critic, new_run(), seen, 0) == []
    assert critic.asked == {}


@dataclass
class Pacing(Merging):
    """Names the edit budget itself."""

    named: tuple[int, str] | Missing = (1, "one is enough")

    def pace(self, edits: Sequence[Edit], most: int, memory: Memory) -> tuple[int, str] | Missing:
        return self.named


def test_the_autonomous_schedule_leaves_the_number_to_the_optimizer_within_bounds() -> None:
    step = PlannedStep(0, 0, 2, 0, 1, autonomous=True)
    patch = Patch(tuple(edit(f"- {n}") for n in range(5)))
    for named, kept in (((1, ""), 1), ((99, ""), 2), ((-3, ""), 0), (Missing("timeout"), 2)):
        assert len(select(Pacing([], named=named, ranked=range(5)), new_run(), patch, step).edits) == kept
    told = select(Pacing([], ranked=range(5)), new_run(), replace(patch, reasoning="seen twice"), step)
    assert told.reasoning == "seen twice\nedit budget 1: one is enough"
    fixed = replace(step, autonomous=False)
    assert len(select(Pacing([], ranked=range(5)), new_run(), patch, fixed).edits) == 2
