"""`train` and `eval`: the optimizer on tasks of one's own, and a skill's score on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from skillopt_sleep.cli.common import Call, command

Tasks = Annotated[Path, typer.Option("--tasks", help="Tasks: JSON lines, or a folder.", metavar="PATH", readable=False)]
SkillFile = Annotated[Path, typer.Option("--skill", help="The skill: a Markdown file.", metavar="FILE", readable=False)]
Recipes = Annotated[Path | None, typer.Option("--recipe", help="A recipe.", metavar="YAML", readable=False)]
Settings = Annotated[list[str] | None, typer.Option("--set", help="One key of the recipe.", metavar="K=V")]
Backend = Annotated[
    str | None,
    typer.Option(
        help="simulated, anthropic, openai, azure, deepseek, minimax, ollama, vllm, lmstudio, local, claude, codex, "
        "copilot, plugin:NAME.",
        metavar="B",
    ),
]
TargetUrl = Annotated[str | None, typer.Option(help="Address of who attempts.", metavar="URL")]
TargetKey = Annotated[
    str | None, typer.Option(help="Where the key of who attempts is: a variable or a file.", metavar="NAME")
]
TargetEffort = Annotated[str | None, typer.Option(help="How hard who attempts should think.", metavar="E")]
JudgeBackend = Annotated[str | None, typer.Option(help="Backend that judges by rubrics.", metavar="B")]
JudgeModel = Annotated[str | None, typer.Option(help="Model that judges by rubrics.", metavar="M")]
JudgeAddress = Annotated[str | None, typer.Option(help="Address of who judges.", metavar="URL")]
JudgeKey = Annotated[str | None, typer.Option(help="Where the key of who judges is.", metavar="NAME")]
JudgeEffort = Annotated[str | None, typer.Option(help="How hard who judges should think.", metavar="E")]
BudgetTokens = Annotated[int | None, typer.Option(min=1, help="Most tokens.", metavar="N")]
BudgetUsd = Annotated[float | None, typer.Option(min=0.0, help="Most US dollars.", metavar="X")]
BudgetCalls = Annotated[int | None, typer.Option(min=1, help="Most calls.", metavar="N")]
BudgetMinutes = Annotated[float | None, typer.Option(min=0.0, help="Most minutes.", metavar="M")]

KEYS = {
    "backend": "models.backend",
    "target_backend": "models.target_backend",
    "optimizer_backend": "models.optimizer_backend",
    "optimizer_model": "models.optimizer",
    "target_model": "models.target",
    "target_base_url": "models.target_base_url",
    "target_key": "models.target_key",
    "target_effort": "models.target_effort",
    "optimizer_base_url": "models.optimizer_base_url",
    "optimizer_key": "models.optimizer_key",
    "optimizer_effort": "models.optimizer_effort",
    "judge_backend": "models.judge_backend",
    "judge_model": "models.judge",
    "judge_base_url": "models.judge_base_url",
    "judge_key": "models.judge_key",
    "judge_effort": "models.judge_effort",
    "budget_tokens": "budget.tokens",
    "budget_usd": "budget.usd",
    "budget_calls": "budget.calls",
    "budget_minutes": "budget.minutes",
}
"""Options that stand for a key of sleep.toml."""

RECIPE = {
    "epochs": "epochs",
    "batch_size": "batch_size",
    "learning_rate": "learning_rate",
    "lr_scheduler": "lr_scheduler",
    "rollouts_k": "rollouts_k",
    "repeats": "repeats",
    "gate": "gate",
    "seed": "seed",
}
"""Options that stand for a key of the recipe."""


def overrides(given: Mapping[str, object]) -> dict[str, tuple[object, str]]:
    """The configuration's keys with the values of the options that were given, and the option's name."""
    return {key: (given[name], "--" + name.replace("_", "-")) for name, key in KEYS.items() if name in given}


def of_the_recipe(given: Mapping[str, object]) -> dict[str, object]:
    """The recipe's keys with the values of the options that were given."""
    return {key: given[name] for name, key in RECIPE.items() if name in given}


@command()
def train(
    call: Call,
    tasks: Tasks,
    skill: SkillFile,
    audit: Annotated[
        Path | None,
        typer.Option("--audit", "--held-out", help="Audit tasks of their own.", metavar="FILE", readable=False),
    ] = None,
    recipe: Recipes = None,
    settings: Settings = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the train tasks.", metavar="E")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Tasks of one batch.", metavar="N")] = None,
    learning_rate: Annotated[
        int | None, typer.Option("--learning-rate", "--edit-budget", help="Edits of the first step.", metavar="N")
    ] = None,
    lr_scheduler: Annotated[
        str | None, typer.Option(help="constant, linear, cosine or autonomous.", metavar="S")
    ] = None,
    rollouts_k: Annotated[int | None, typer.Option(help="Attempts at each train task.", metavar="K")] = None,
    gate: Annotated[str | None, typer.Option(help="proof, strict or off.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of splits, orders and draws.", metavar="S")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder.", metavar="DIR", readable=False)] = None,
    backend: Backend = None,
    target_backend: Annotated[str | None, typer.Option(help="Backend that attempts.", metavar="B")] = None,
    optimizer_backend: Annotated[str | None, typer.Option(help="Backend that edits.", metavar="B")] = None,
    target_model: Annotated[str | None, typer.Option(help="Model that attempts.", metavar="M")] = None,
    optimizer_model: Annotated[str | None, typer.Option(help="Model that edits.", metavar="M")] = None,
    optimizer_base_url: Annotated[str | None, typer.Option(help="Address of who edits.", metavar="URL")] = None,
    optimizer_key: Annotated[
        str | None, typer.Option(help="Where the key of who edits is: a variable or a file.", metavar="NAME")
    ] = None,
    optimizer_effort: Annotated[str | None, typer.Option(help="How hard who edits should think.", metavar="E")] = None,
    target_base_url: TargetUrl = None,
    target_key: TargetKey = None,
    target_effort: TargetEffort = None,
    judge_backend: JudgeBackend = None,
    judge_model: JudgeModel = None,
    judge_base_url: JudgeAddress = None,
    judge_key: JudgeKey = None,
    judge_effort: JudgeEffort = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    budget_minutes: BudgetMinutes = None,
) -> None:
    """Train a skill on tasks of your own. Run it again, and it goes on where it was killed."""
    given = dict(locals())
    from skillopt_sleep.cli import trainer

    chosen = trainer.Chosen(tasks, skill, audit, recipe, tuple(settings or ()), of_the_recipe(given), overrides(given))
    trainer.train_skill(call, chosen, out)


@command(name="eval")
def evaluate(
    call: Call,
    tasks: Tasks,
    skill: SkillFile,
    against: Annotated[
        Path | None, typer.Option(help="A skill to compare it with.", metavar="FILE", readable=False)
    ] = None,
    target_model: Annotated[list[str] | None, typer.Option(help="Model that attempts.", metavar="M")] = None,
    recipe: Recipes = None,
    settings: Settings = None,
    repeats: Annotated[int | None, typer.Option(help="Attempts at each task.", metavar="R")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the draws.", metavar="S")] = None,
    backend: Backend = None,
    target_backend: Annotated[str | None, typer.Option(help="Backend that attempts.", metavar="B")] = None,
    target_base_url: TargetUrl = None,
    target_key: TargetKey = None,
    target_effort: TargetEffort = None,
    judge_backend: JudgeBackend = None,
    judge_model: JudgeModel = None,
    judge_base_url: JudgeAddress = None,
    judge_key: JudgeKey = None,
    judge_effort: JudgeEffort = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    budget_minutes: BudgetMinutes = None,
) -> None:
    """Score one skill, or two in pairs with an interval. Nothing is trained or kept."""
    given = dict(locals())
    from skillopt_sleep.cli import trainer

    models = given.pop("target_model") or [None]
    chosen = trainer.Chosen(tasks, skill, None, recipe, tuple(settings or ()), of_the_recipe(given), overrides(given))
    trainer.score_skill(call, chosen, against, models)
