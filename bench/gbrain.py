"""The public benchmark gbrain-skillopt-v1: four deficient skills, trained on 7 tasks, gated on 8, audited once on 6.

    python bench/gbrain.py FOLDER                    simulated agent and critic, `strict` and `proof`, 50 seeds
    python bench/gbrain.py FOLDER --model X.gguf     one open model in both roles, `strict`, three repeats (an hour)

FOLDER holds `seed-*/SKILL.md`, `benchmark.jsonl` and `held-out.jsonl`. The first kind of figure is SIMULATED. Intervals
are 95 %: Clopper and Pearson's over attempts where the agent is simulated (its attempts are independent), the verdict's
own over tasks otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from scipy.stats import binomtest

from skillopt_core import LookGate, Memory, Schedule, Skill, Task, TaskSet, evolve
from skillopt_core.asking import schema_of
from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import StrictGate
from skillopt_core.protocols import Critic, Environment, Gate
from skillopt_core.seeded import Seeded
from skillopt_core.types import Evolution, Missing, Score, Verdict
from skillopt_sleep.agents.chat import ChatAgent, ChatSettings
from skillopt_sleep.agents.simulated import SimulatedAgent
from skillopt_sleep.critics.complaints import ComplaintCritic
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from skillopt_sleep.critics.simulated import SimulatedCritic
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.models.base import CallFailed
from skillopt_sleep.models.local import LocalModel
from skillopt_sleep.redact import Redacted
from skillopt_sleep.train.loading import load
from skillopt_sleep.train.rows import LoadedTask

TRAIN = 7
ALPHA = 0.05
REPEATS = 3
AUDIT_REPEATS = {"simulated": 10, "replayed": REPEATS}
ANSWER = 320
"""Tokens of one answer of the open model: about 1,600 characters, more than the longest limit that a check sets."""


@dataclass(frozen=True)
class Seed:
    """One deficient skill with its tasks."""

    name: str
    skill: Skill
    tasks: TaskSet
    screen: StrictScreen
    patterns: tuple[str, ...]
    """What no skill may quote: patterns of checks and secrets of tasks."""


@dataclass(frozen=True)
class Trained:
    """One run: what the gate said, and the audit that was looked at once."""

    seed: str
    gate: str
    evidence: str
    accepted: bool
    verdict: Verdict | None
    audit: Verdict
    skill: str
    check_text: bool
    seconds: float
    events: dict[str, int]


def seeds_of(folder: Path, number: int = 0) -> Iterator[Seed]:
    """The deficient skills in order of their names; `number` chooses which 7 tasks of the 15 are train."""
    for place in sorted(folder.glob("seed-*")):
        open_tasks, held_out = load(place / "benchmark.jsonl"), load(place / "held-out.jsonl")
        shuffled = Seeded(number).shuffled(open_tasks)
        train, gate, audit = (
            tuple(task.as_task(task.id) for task in split) for split in (shuffled[:TRAIN], shuffled[TRAIN:], held_out)
        )
        patterns = _patterns((*open_tasks, *held_out))
        yield Seed(
            name=place.name,
            skill=Skill((place / "SKILL.md").read_text("utf-8"), place.name),
            tasks=TaskSet(train, gate, audit),
            screen=StrictScreen(Grounds(literals=frozenset(patterns))),
            patterns=patterns,
        )


def _patterns(tasks: Sequence[LoadedTask]) -> tuple[str, ...]:
    regexes = [str(check.argument) for task in tasks for check in task.checks if check.kind == "regex"]
    return tuple(dict.fromkeys([*regexes, *(secret for task in tasks for secret in task.secrets)]))


def judge(task: Task, answer: Answer) -> Score | Missing:
    """By the task's own checks."""
    assert isinstance(task.payload, LoadedTask)
    return task.payload.score(answer)


def train(seed: Seed, environment: Environment, critic: Critic, gate: Gate, schedule: Schedule) -> Evolution:
    """One training run; the audit tasks are not in it."""
    tasks = TaskSet(seed.tasks.train, seed.tasks.gate)
    return evolve(seed.skill, tasks, environment, critic, gate, schedule, memory=Memory(), screen=seed.screen)


def run(seed: Seed, mode: str, evidence: str, environment: Environment, critic: Critic, schedule: Schedule) -> Trained:
    """Train under one gate, then look at the audit tasks once."""
    began = time.perf_counter()
    planned = schedule.looks(len(seed.tasks.train))
    gates = {"strict": StrictGate(REPEATS, evidence=evidence), "proof": LookGate(ALPHA, planned, evidence=evidence)}
    evolution = train(seed, environment, critic, gates[mode], schedule)
    audited = StrictGate(AUDIT_REPEATS[evidence], evidence=evidence)
    audit = audited(environment, seed.skill, evolution.skill, seed.tasks.audit, CountedDraws(1_000_000))
    events: dict[str, int] = {}
    for step in evolution.steps:
        for event, n in step.events.items():
            events[event] = events.get(event, 0) + n
    kept = next((step.verdict for step in evolution.steps if step.kept), evolution.verdict)
    return Trained(
        seed=seed.name,
        gate=mode,
        evidence=evidence,
        accepted=evolution.changed,
        verdict=kept,
        audit=audit,
        skill=evolution.skill.text,
        check_text=any(pattern in evolution.skill.text for pattern in seed.patterns),
        seconds=time.perf_counter() - began,
        events=events,
    )


def simulated(folder: Path, runs: int) -> Iterator[Trained]:
    """Every skill under both gates, `runs` times: other splits, other draws, another agent each time."""
    for number in range(runs):
        for seed in seeds_of(folder, number):
            for mode in ("strict", "proof"):
                agent = SimulatedAgent(judge, seed=number, obedience=0.99)
                yield run(seed, mode, "simulated", agent, SimulatedCritic(seed=number), Schedule.night())


def with_model(folder: Path, path: Path, only: str) -> Iterator[Trained]:
    """Every skill once, one open model in both roles. Whoever needs a tool is offered the one that the tasks need."""
    model = LocalModel(path)
    for seed in seeds_of(folder):
        if only in seed.name:
            agent = ChatAgent(model, judge, ChatSettings(max_output=ANSWER, tools=_tools(seed.tasks.train)))
            critic = ComplaintCritic(lambda prompts: [_completed(model, prompt) for prompt in prompts])
            yield run(seed, "strict", "replayed", agent, critic, Schedule.night())


def _tools(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The tools that these tasks' checks name: an environment offers what its tasks need."""
    loaded = [task.payload for task in tasks if isinstance(task.payload, LoadedTask)]
    named = (str(check.argument) for task in loaded for check in task.checks if check.kind == "tool_called")
    return tuple(dict.fromkeys(named))


def _completed(model: LocalModel, prompt: str) -> str | Missing:
    schema = schema_of(prompt)
    try:
        asked = Redacted(prompt)
        reply = model.complete_as(asked, ANSWER, schema) if schema else model.complete(asked, ANSWER)
    except CallFailed as failed:
        return Missing(str(failed))
    return reply.text


def table_simulated(rows: Sequence[Trained]) -> str:
    """One line a skill and gate, over all runs."""
    lines = [
        "| simulated | gate | accepted | audit before | audit after, attempts pooled | least of a run | check text |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, mode in dict.fromkeys((row.seed, row.gate) for row in rows):
        mine = [row for row in rows if (row.seed, row.gate) == (name, mode)]
        n = sum(row.audit.pairs for row in mine)
        passed = round(sum((row.audit.after or 0.0) * row.audit.pairs for row in mine))
        lines.append(
            f"| {name} | {mode} | {sum(row.accepted for row in mine)} of {len(mine)} "
            f"| {sum(row.audit.before or 0.0 for row in mine) / len(mine):.2f} | {_share(passed, n)} "
            f"| {min(row.audit.after or 0.0 for row in mine):.2f} | {sum(row.check_text for row in mine)} |"
        )
    return "\n".join(lines)


def _share(k: int, n: int) -> str:
    if not n:
        return "nothing measured"
    found = binomtest(k, n).proportion_ci()
    return f"{k / n:.3f} ({found.low:.3f} to {found.high:.3f}; {n})"


def table_model(rows: Sequence[Trained]) -> str:
    """One line a skill: the gate's look, and the audit."""
    lines = [
        "| skill | gate before → after | strict | p; `proof` | audit before → after | effect | p, audit | leaks | s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        gate, audit = row.verdict, row.audit
        gated = "–" if gate is None or gate.before is None else f"{gate.before:.2f} → {gate.after:.2f}"
        proof = "–" if gate is None or gate.p is None else f"{gate.p:.4f}; {_proof(gate.p)}"
        effect = "–" if audit.interval is None else f"{audit.effect:+.2f} ({_ends(audit.interval)})"
        audited = "–" if audit.before is None else f"{audit.before:.2f} → {audit.after:.2f}"
        p = "–" if audit.p is None else f"{audit.p:.4f}"
        said = gate.outcome if gate else "nothing proposed"
        lines.append(
            f"| {row.seed} | {gated} | {said} | {proof} | {audited} | {effect} | {p} | {row.check_text} "
            f"| {row.seconds:.0f} |"
        )
    return "\n".join(lines)


def _proof(p: float) -> str:
    """What one look at these very pairs would have said."""
    return "accept" if p <= ALPHA else "abstain"


def _ends(interval: tuple[float, float]) -> str:
    return f"{interval[0]:+.2f} to {interval[1]:+.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path, help="a GGUF file: an open model in both roles")
    parser.add_argument("--only", default="", help="with --model: skills whose name holds this text")
    parser.add_argument("--runs", type=int, default=50, help="runs of the simulator")
    parser.add_argument("--json", action="store_true", help="one JSON document a run and line, as they come")
    asked = parser.parse_args()
    began = time.perf_counter()
    made = with_model(asked.folder, asked.model, asked.only) if asked.model else simulated(asked.folder, asked.runs)
    rows = []
    for row in made:
        rows.append(row)
        if asked.json:
            print(json.dumps(asdict(row)), flush=True)
    if not asked.json:
        print((table_model if asked.model else table_simulated)(rows))
    print(f"\n{'' if asked.model else 'Simulated; '}{time.perf_counter() - began:.0f} s.", file=sys.stderr)


if __name__ == "__main__":
    main()
