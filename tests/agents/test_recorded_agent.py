"""The agent that follows a skill's text over what was recorded, and nothing but the text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_core.types import Missing, Skill, Task
from skillopt_sleep.agents.recorded import Effect, History, RecordedAgent
from skillopt_sleep.critics.grammar import Unphrasable, parse, render
from skillopt_sleep.domain.episodes import Action, ActionKind, ActionOutcome, Episode
from skillopt_sleep.domain.sentences import AskBefore, DoNotRun, ReadBeforeEdit, Said, Use
from tests.agents.recordings import ERROR, edited, effects, ran, recorded, replay, scores, skill_of, tasks_of
from tests.critics.sentences import SENTENCES

EPISODES = recorded(
    [ran("npm test", ERROR, "npm: not found"), ran("pnpm test"), edited("a.go", "x", "y", ERROR)],
    [ran("npm test"), ran("git push", ActionOutcome.REFUSED, said="ask first")],
    [],
)

COMMANDS = st.sampled_from(["npm test", "pnpm test", "git push", "make && npm i", "ls docs", "cat a.md | head", "x; y"])
ACTIONS = st.builds(
    Action,
    id=st.just(0),
    seq=st.just(0),
    kind=st.sampled_from(ActionKind),
    tool=st.just("t"),
    outcome=st.sampled_from(ActionOutcome),
    command=COMMANDS,
    paths=st.lists(st.sampled_from(["a.go", "docs/b.md", "docs"]), max_size=2).map(tuple),
    new=st.sampled_from(["", "panic(1)", "x\ny"]),
    old=st.sampled_from(["", "panic(1)", "x"]),
    output=st.sampled_from(["", "a.go: E1", "error: no"]),
    empty=st.booleans(),
    said=st.sampled_from(["", "no panic"]),
    tokens=st.integers(0, 50),
)
HISTORIES = st.lists(st.lists(ACTIONS, max_size=6), min_size=1, max_size=4).map(lambda s: recorded(*s))


def test_a_text_with_nothing_of_the_grammar_changes_nothing() -> None:
    plain = Skill("# Notes\n\nBe careful with `npm`. Ask when in doubt. Never hurry.\n\n- npm is old\n")
    bare, told = replay(EPISODES, skill=Skill("")), replay(EPISODES, skill=plain)
    assert [(t.score, t.transcript) for t in bare] == [(t.score, t.transcript) for t in told]
    assert effects(EPISODES, Said("use pnpm, never npm")) == ["", "", ""]


@given(HISTORIES, st.text(max_size=80))
def test_words_outside_the_grammar_never_change_a_score(episodes: list[Episode], text: str) -> None:
    if not parse(text):
        assert [t.score for t in replay(episodes, skill=Skill(text))] == scores(episodes)


def test_a_rule_is_followed_only_where_the_text_states_it() -> None:
    fenced = Skill("```\n- Use `pnpm`, not `npm`.\n```\n")
    stated = Skill("- Use `pnpm`, not `npm`.\n")
    assert all(t.score.objectives["applied"] == 0 for t in replay(EPISODES, skill=fenced))
    assert [t.score.objectives["applied"] for t in replay(EPISODES, skill=stated)] == [1, 1, 0]


def test_ids_and_prompts_and_checks_are_not_looked_at() -> None:
    agent, skill = RecordedAgent(History.of(EPISODES)), skill_of(Use("pnpm", "npm"))
    tasks = tasks_of(EPISODES)
    others = [replace(t, id=f"other-{n}", prompt="x", unit="u", source="", protected=True) for n, t in enumerate(tasks)]
    answers = [agent.attempt(some, skill, [7] * len(some)) for some in (tasks, others)]
    assert [repr(replace(a, task="")) for a in answers[0]] == [repr(replace(a, task="")) for a in answers[1]]  # type: ignore[type-var]
    assert [a.task for a in answers[1]] == [t.id for t in others]  # type: ignore[union-attr]


@given(HISTORIES, st.integers(1, 10**6))
def test_other_action_ids_give_the_same_scores(episodes: list[Episode], shift: int) -> None:
    moved = [replace(e, actions=tuple(replace(a, id=a.id * 7 + shift) for a in e.actions)) for e in episodes]
    rules = (Use("pnpm", "npm"), DoNotRun("git push"), ReadBeforeEdit())
    assert scores(episodes, *rules) == scores(moved, *rules)


@settings(max_examples=200)
@given(HISTORIES, st.lists(SENTENCES, max_size=3))
def test_scores_add_up_whatever_the_rules(episodes: list[Episode], sentences: list[object]) -> None:
    lines = []
    for sentence in sentences:
        try:
            lines.append(render(sentence))  # type: ignore[arg-type]
        except Unphrasable:
            continue
    skill = Skill("\n".join(lines))
    agent, tasks = RecordedAgent(History.of(episodes)), tasks_of(episodes)
    exposed = agent.exposed(tasks, skill)
    for episode, before, after, seen in zip(
        episodes, scores(episodes), replay(episodes, skill=skill), exposed, strict=True
    ):
        found = after.score.objectives
        assert found["applied"] == sum(found[effect.value] for effect in Effect)
        assert seen == (found["applied"] > 0)
        assert 0 <= after.score.soft <= 1
        assert (after.score.hard == 1.0) == (after.score.soft == 1.0)
        if found["applied"] == 0:
            assert after.score == before
        assert after.score.soft * len(episode.actions) <= before.soft * len(episode.actions) + found["prevented"] + 1e-9


def test_of_several_rules_on_one_action_the_worst_effect_holds_unless_it_is_left_out() -> None:
    episodes = recorded([ran("npm test --ci", ERROR)], [ran("pnpm test --ci")] * 8)
    assert effects(episodes, Use("pnpm", "npm"))[0] == "prevented1"
    assert effects(episodes, Use("pnpm", "npm"), Use("zub", "npm test"))[0] == "unknown1"
    assert effects(episodes, DoNotRun("npm test"), Use("zub", "npm"))[0] == "prevented1"


def test_the_answer_names_the_text_that_it_followed() -> None:
    skill = skill_of(AskBefore("git push"))
    for answer in replay(EPISODES, skill=skill):
        assert answer.skill == answer.loaded == skill.digest
    first = replay(EPISODES, skill=skill)[1]
    assert "[by the skill: not taken; prevented]" in first.transcript
    assert RecordedAgent(History.of([])).deterministic


def test_a_task_that_was_not_recorded_is_missing() -> None:
    agent = RecordedAgent(History.of(EPISODES[:1]))
    tasks = [*tasks_of(EPISODES[1:2]), Task("x", "y")]
    assert all(isinstance(a, Missing) for a in agent.attempt(tasks, Skill(""), [0, 0]))
    assert agent.exposed(tasks, skill_of(Use("pnpm", "npm"))) == [False, False]


def test_projects_do_not_answer_for_each_other() -> None:
    here, there = recorded([ran("npm test", ERROR)], [ran("pnpm test")] * 8)
    assert effects([here, there], Use("pnpm", "npm"))[0] == "prevented1"
    assert effects([here, replace(there, project="q")], Use("pnpm", "npm"))[0] == "unknown1"


def test_the_order_in_which_episodes_come_does_not_matter() -> None:
    rules = (Use("pnpm", "npm"), DoNotRun("git push"))
    forward, backward = scores(EPISODES, *rules), scores(EPISODES[::-1], *rules)
    assert forward == backward[::-1]
    assert len(History.of([*EPISODES, *EPISODES]).projects["p"].by_order) == 5


def test_occurrences_show_which_action_and_on_what_the_effect_rests() -> None:
    agent = RecordedAgent(History.of(EPISODES))
    (found,) = agent.occurrences(Use("pnpm", "npm"), EPISODES[0])
    assert (found.action.command, found.instead) == ("npm test", "pnpm test")
    assert (found.effect, found.seen) == ("unknown", (2,))  # one success may be an accident
    assert agent.occurrences(Use("pnpm", "npm"), EPISODES[2]) == ()


def test_hostile_output_stays_on_one_printable_line() -> None:
    (answer,) = replay(recorded([ran("x\x1b[2J\ny", ERROR, "\u202eboo\n" * 900)]))
    assert len(answer.transcript) < 1000
    assert answer.transcript.isprintable()


@pytest.mark.parametrize("draw", [0, 12])
def test_the_draw_changes_nothing(draw: int) -> None:
    agent, tasks = RecordedAgent(History.of(EPISODES)), tasks_of(EPISODES)
    (answer, *_) = agent.attempt(tasks, Skill(""), [draw] * 3)
    assert not isinstance(answer, Missing)
    assert answer.draw == draw
    assert answer.score == scores(EPISODES)[0]
