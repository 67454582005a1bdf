"""`run` and `harvest`: the night, and its first step alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from skillopt_sleep.cli.common import Call, command
from skillopt_sleep.errors import UsageError

Loose = Annotated[
    list[Path] | None,
    typer.Option("--from", help="A file or folder of loose transcripts.", metavar="PATH", readable=False),
]

Backend = Annotated[
    str | None,
    typer.Option(
        help="auto, recorded, local, anthropic, openai, azure, deepseek, ollama, vllm, minimax, lmstudio, claude, "
        "codex, copilot, handoff.",
        metavar="B",
    ),
]
KeyPlace = Annotated[
    str | None, typer.Option(help="Where that role's key is: a variable, or a file of yours alone.", metavar="NAME")
]


def day(text: str | None) -> int | None:
    """ms UTC of a date or time; None stays None."""
    from skillopt_sleep.clock import parse_iso

    if text is None:
        return None
    when = parse_iso(text)
    if when is None:
        raise UsageError(f"{text!r} is no date", where="--as-of", remedy="Write YYYY-MM-DD")
    return when


KEYS = {
    "budget_tokens": "budget.tokens",
    "budget_usd": "budget.usd",
    "budget_calls": "budget.calls",
    "budget_minutes": "budget.minutes",
    "backend": "models.backend",
    "target_backend": "models.target_backend",
    "optimizer_backend": "models.optimizer_backend",
    "judge_backend": "models.judge_backend",
    "target_model": "models.target",
    "optimizer_model": "models.optimizer",
    "judge_model": "models.judge",
    **{
        f"{role}_{what}": f"models.{role}_{what}"
        for role in ("target", "optimizer", "judge")
        for what in ("base_url", "key", "effort")
    },
    "gate": "gate.mode",
    "rollouts_k": "evolve.rollouts_k",
    "preferences": "preferences.rules",
    "edit_budget": "evolve.edit_budget",
    "recall_k": "mine.recall_k",
    "dream_factor": "mine.dream_factor",
    "auto_adopt": "adopt.auto",
    "auto_rollback": "adopt.auto_rollback",
    "project": "harvest.projects",
}
"""Options of `run` that stand for a key of sleep.toml."""


def overrides(given: Mapping[str, object]) -> dict[str, tuple[object, str]]:
    """The configuration's keys with the values of the options that were given, and the option's name."""
    values = dict(given)
    values["gate"] = None if given["gate"] == "on" else given["gate"]  # `on` is the configured mode
    values["auto_adopt"], values["auto_rollback"] = given["auto_adopt"] or None, given["auto_rollback"] or None
    named = [str(one) for one in given["project"]] if isinstance(given["project"], list) else []
    values["project"] = tuple(str(Path(one).expanduser().absolute()) for one in named)
    said = given["preferences"]
    values["preferences"] = tuple(said) if isinstance(said, list) else ()
    return {key: (values[name], "--" + name.replace("_", "-")) for name, key in KEYS.items()}


@command()
def run(
    call: Call,
    budget_tokens: Annotated[int | None, typer.Option(min=1, help="Most tokens of this night.", metavar="N")] = None,
    budget_usd: Annotated[float | None, typer.Option(min=0.0, help="Most US dollars.", metavar="X")] = None,
    budget_calls: Annotated[int | None, typer.Option(min=1, help="Most calls.", metavar="N")] = None,
    budget_minutes: Annotated[float | None, typer.Option(min=0.0, help="Most minutes.", metavar="M")] = None,
    backend: Backend = None,
    target_backend: Annotated[str | None, typer.Option(help="Backend that attempts.", metavar="B")] = None,
    optimizer_backend: Annotated[str | None, typer.Option(help="Backend that edits.", metavar="B")] = None,
    judge_backend: Annotated[str | None, typer.Option(help="Backend that judges.", metavar="B")] = None,
    target_model: Annotated[str | None, typer.Option(help="Model that attempts.", metavar="M")] = None,
    optimizer_model: Annotated[str | None, typer.Option(help="Model that edits.", metavar="M")] = None,
    judge_model: Annotated[str | None, typer.Option(help="Model that judges.", metavar="M")] = None,
    target_base_url: Annotated[str | None, typer.Option(help="Address of who attempts.", metavar="URL")] = None,
    target_key: KeyPlace = None,
    target_effort: Annotated[str | None, typer.Option(help="How hard who attempts should think.", metavar="E")] = None,
    optimizer_base_url: Annotated[str | None, typer.Option(help="Address of who edits.", metavar="URL")] = None,
    optimizer_key: KeyPlace = None,
    optimizer_effort: Annotated[str | None, typer.Option(help="How hard who edits should think.", metavar="E")] = None,
    judge_base_url: Annotated[str | None, typer.Option(help="Address of who judges.", metavar="URL")] = None,
    judge_key: KeyPlace = None,
    judge_effort: Annotated[str | None, typer.Option(help="How hard who judges should think.", metavar="E")] = None,
    gate: Annotated[str | None, typer.Option(help="proof, strict, off, or on (as configured).")] = None,
    rollouts_k: Annotated[int | None, typer.Option(min=1, help="Attempts at each train task.", metavar="K")] = None,
    preferences: Annotated[list[str] | None, typer.Option(help="A house rule in your words.", metavar="TEXT")] = None,
    edit_budget: Annotated[int | None, typer.Option(min=0, help="Edits of one step.", metavar="N")] = None,
    recall_k: Annotated[int | None, typer.Option(min=0, help="Similar past tasks recalled.", metavar="K")] = None,
    dream_factor: Annotated[int | None, typer.Option(min=0, help="Synthetic variants a task.", metavar="N")] = None,
    auto_adopt: Annotated[bool, typer.Option("--auto-adopt", help="Adopt what is proven.")] = False,
    auto_rollback: Annotated[bool, typer.Option("--auto-rollback", help="Take back what hurts.")] = False,
    project: Annotated[list[str] | None, typer.Option(help="A project to work on.", metavar="P")] = None,
    all_projects: Annotated[bool, typer.Option("--all-projects", help="All projects that are found.")] = False,
    loose: Loose = None,
    as_of: Annotated[str | None, typer.Option(help="Backtest: one cut for all.", metavar="DATE")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan; spend and stage nothing.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted night.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="A night on the shipped sample.")] = False,
) -> None:
    """One night: harvest, mine, replay, evolve, gate, stage, report."""
    given = dict(locals())
    from skillopt_sleep.cli import night

    if project and all_projects:
        raise UsageError("--project and --all-projects exclude each other")
    options = overrides(given)
    if demo:
        night.demo(call)
        return
    how = night.How(tuple(loose or ()), day(as_of), dry_run, resume, all_projects, bool(project))
    night.run(call, options, how)


@command()
def harvest(
    call: Call,
    loose: Loose = None,
    agent: Annotated[list[str] | None, typer.Option(help="Only this agent's.", metavar="A")] = None,
    since: Annotated[str | None, typer.Option(help='Changed since: "72h", "30d", or a date.', metavar="WHEN")] = None,
    max_sessions: Annotated[int | None, typer.Option(min=1, help="At most so many.", metavar="N")] = None,
) -> None:
    """Read new transcripts into the store, and nothing else."""
    from skillopt_sleep.cli import night

    night.harvest_alone(call, tuple(loose or ()), tuple(agent or ()), since, max_sessions)


def since_ms(text: str | None, now_ms: int, where: str = "--since") -> int | None:
    """How far back `--since` looks, in ms before now: a span such as `72h`, or a date."""
    from skillopt_sleep.clock import parse_iso
    from skillopt_sleep.config.model import lookback_ms

    if text is None:
        return None
    if (when := parse_iso(text)) is not None:
        return max(now_ms - when, 0)
    span = lookback_ms(text)
    if span is None:
        raise UsageError(f"{text!r} is no time", where=where, remedy='Write "72h", "30d" or YYYY-MM-DD')
    return span
