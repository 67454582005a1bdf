"""A recipe: how a skill is trained, as one YAML file that may extend another (method.md, loop and defaults).

`extends` names another recipe, relative to the file that says it; nearer values win, `--set key=value` wins over all.
The keys are the method's own words; those of the field that mean the same are read too (recipe_files.py). Who attempts
and who edits is not in it: a recipe that came with a repository never chooses to whom anything is sent.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from skillopt_core.gate import Metric
from skillopt_core.schedule import Schedule
from skillopt_sleep.config.model import Gate, Reward
from skillopt_sleep.errors import ConfigError, UsageError
from skillopt_sleep.log import one_line
from skillopt_sleep.train.recipe_files import ALIASES, EXTENDS, read_chain, setting

UPDATE_MODES: Final[Mapping[str, str]] = {
    "patch": "edits",
    "rewrite_from_suggestions": "suggestions",
    "full_rewrite": "rewrite",
}
"""What the field calls the update modes."""

SPLITS: Final = ("train", "gate", "audit")

Positive = Annotated[int, Field(ge=1)]
Weight = Annotated[float, Field(ge=0)]


class Recipe(BaseModel):
    """How a skill is trained. `learning_rate` is the edit budget of a step: how many edits it may make, at most."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    epochs: Annotated[int, Field(ge=1, le=50)] = Field(default=4, description="Passes over the train tasks.")
    batch_size: Positive = Field(default=40, description="Tasks of one batch.")
    accumulation: Positive = Field(default=1, description="Batches of one step.")
    minibatch: Positive = Field(default=8, description="Tasks that one reflection sees.")
    rollouts_k: Annotated[int, Field(ge=1, le=100)] = Field(
        default=1, description="Independent attempts at each train task; from 3 on good and bad runs are contrasted."
    )
    recall_k: Annotated[int, Field(ge=0)] = Field(
        default=0, description="Similar train tasks of other steps that are added to each task of a step."
    )
    dream_factor: Annotated[int, Field(ge=0, le=20)] = Field(
        default=0, description="Other wordings of each train task that the optimizer makes up; in train alone."
    )
    learning_rate: Annotated[int, Field(ge=0, le=100)] = Field(default=4, description="Edits of the first step.")
    min_learning_rate: Annotated[int, Field(ge=0, le=100)] = Field(default=2, description="Where it falls to.")
    lr_scheduler: Literal["constant", "linear", "cosine", "autonomous"] = Field(
        default="cosine", description="How it falls; autonomous: the optimizer names it."
    )
    patience: Positive | None = Field(default=None, description="Fruitless steps in a row that end the run.")
    slow_update: Annotated[int, Field(ge=0)] = Field(
        default=20, description="Train tasks that the end of an epoch looks back at; 0: no slow update."
    )
    meta_skill: bool = Field(default=True, description="Whether the optimizer keeps notes to itself.")
    update_mode: Literal["edits", "suggestions", "rewrite"] = Field(
        default="edits",
        description="edits: one by one, on anchors; suggestions, rewrite: the optimizer writes the text anew, from "
        "selected edits or from the attempts, and it is taken apart into edits again.",
    )
    gate: Literal["proof", "strict", "off"] = Field(
        default="proof", description="proof: a test at alpha; strict: a higher mean is enough; off: all is kept."
    )
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(default=0.05, description="Error of the whole run.")
    repeats: Annotated[int, Field(ge=1, le=20)] = Field(default=3, description="Pairs of attempts on each gate task.")
    judge_readings: Annotated[int, Field(ge=1, le=15)] = Field(
        default=3, description="How often a judge grades an answer by a rubric; the median counts."
    )
    early_stopping: bool = Field(default=True, description="Whether a look may stop before its last repeat.")
    metric: Literal["hard", "soft", "mixed"] = Field(
        default="hard", description="hard: all checks pass; soft: the share that passes; mixed: both."
    )
    mixed_weight: Annotated[float, Field(ge=0, le=1)] = Field(default=0.5, description="Weight of soft in mixed.")
    success_weight: Annotated[float, Field(gt=0)] = Field(default=1.0, description="Weight of the checks.")
    token_efficiency_weight: Weight = Field(default=0.0, description="Weight of fewer tokens.")
    tool_correctness_weight: Weight = Field(default=0.0, description="Weight of fewer failing tool calls.")
    latency_penalty: Weight = Field(default=0.0, description="Weight of less time.")
    split: tuple[Weight, Weight, Weight] | None = Field(
        default=None, description="Shares of train, gate and audit; none: as the number of tasks suggests."
    )
    preferences: tuple[Annotated[str, Field(min_length=1, max_length=2000)], ...] = Field(
        default=(), description="House rules in your own words, told to the optimizer."
    )
    tools: Literal["needed", "always", "never"] = Field(
        default="needed",
        description="A chat model gets shell, read and write in the task's folder: where files or checks ask for it, "
        "always, or never.",
    )
    seed: int = Field(default=0, description="Seed of splits, orders and draws.")
    simulated_obedience: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.98, description="With the simulated agent: how likely it obeys a line of the skill; 1: always."
    )
    simulated_critic: Literal["good", "useless", "harmful", "leaking"] = Field(
        default="good", description="With the simulated critic: what kind of edits it proposes."
    )

    @field_validator("update_mode", mode="before")
    @classmethod
    def _named_elsewhere(cls, given: object) -> object:
        return UPDATE_MODES.get(given, given) if isinstance(given, str) else given

    @field_validator("split", mode="before")
    @classmethod
    def _ratio(cls, given: object) -> object:
        """`2:1:7` is read as [2, 1, 7]."""
        if isinstance(given, str):
            parts = given.split(":")
            if len(parts) != len(SPLITS) or not all(re.fullmatch(r"[0-9]+(\.[0-9]+)?", part) for part in parts):
                raise ValueError("split should be three shares, train, gate and audit, such as 2:1:7")
            return tuple(float(part) for part in parts)
        return tuple(given) if isinstance(given, list) else given

    @model_validator(mode="after")
    def _sound(self) -> Recipe:
        if self.split is not None and (self.split[0] <= 0 or self.split[1] <= 0):
            raise ValueError("split should leave something for train and for gate, such as 2:1:7")
        return self

    def schedule(self) -> Schedule:
        """The core's schedule."""
        return Schedule(
            kind=self.lr_scheduler,
            epochs=self.epochs,
            batch=self.batch_size,
            accumulation=self.accumulation,
            most=self.learning_rate,
            least=min(self.min_learning_rate, self.learning_rate),
            rollouts=self.rollouts_k,
            patience=self.patience,
            seed=self.seed,
            slow_update=self.slow_update,
            meta=self.meta_skill,
            recall=self.recall_k,
            dreams=self.dream_factor,
        )

    def reward(self) -> Metric:
        """What is compared. The other objectives decide between attempts that score alike, never against success."""
        weights = {
            "tokens": self.token_efficiency_weight,
            "tool_errors": self.tool_correctness_weight,
            "seconds": self.latency_penalty,
        }
        whole = self.success_weight + sum(weights.values())
        costs = {name: weight / whole for name, weight in weights.items() if weight}
        return Metric(self.metric, self.mixed_weight, costs)

    def as_yaml(self) -> str:
        """The recipe as resolved: every key, in order."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def resolve(
    path: Path | None = None,
    settings: Iterable[str] = (),
    options: Mapping[str, object] = {},
    base: Mapping[str, object] = {},
) -> Recipe:
    """The recipe of a file and all that it extends, with `key=value` settings and named options on top.

    Options are by key; None stands for one that was not given. `base` are values that hold where nothing else says
    one: what a person configured for all runs. Raises `ConfigError` with file, line and key, and `UsageError` for a
    setting.
    """
    values, origins = read_chain(path, ()) if path is not None else ({}, {})
    values = {**base, **values}
    for said in settings:
        key, value = setting(said)
        values[key], origins[key] = value, f"--set {key}"
    for key, value in options.items():
        if value is not None:
            values[key], origins[key] = value, "--" + key.replace("_", "-")
    return _validated(values, origins)


def configured(gate: Gate, reward: Reward) -> dict[str, object]:
    """A configuration's [gate] and [reward] by the keys of a recipe."""
    return {
        "gate": gate.mode,
        "alpha": gate.alpha,
        "repeats": gate.repeats,
        "metric": gate.metric,
        "mixed_weight": gate.mixed_weight,
        "success_weight": reward.success,
        "token_efficiency_weight": reward.token_efficiency,
        "tool_correctness_weight": reward.tool_correctness,
        "latency_penalty": reward.latency,
    }


def _validated(values: Mapping[str, Any], origins: Mapping[str, str]) -> Recipe:
    for key in values:
        if key not in Recipe.model_fields:
            raise _mistake(_unknown(key), origins[key], key)
    try:
        return Recipe.model_validate_json(json.dumps(values, default=str))
    except ValidationError as error:
        mistake = error.errors()[0]
        key = str(mistake["loc"][0]) if mistake["loc"] else "split"
        raise _mistake(_reason(mistake), origins.get(key, ""), key) from None


def _mistake(reason: str, origin: str, key: str) -> UsageError:
    if origin.startswith("--"):
        return UsageError(reason, where=one_line(origin))
    return ConfigError(reason, where=f"{origin} {one_line(key)}"[:200].strip())


def _unknown(key: str) -> str:
    known = [*Recipe.model_fields, EXTENDS, *ALIASES]
    near = difflib.get_close_matches(key, known, n=1)
    return f"unknown, did you mean {near[0]}?" if near else f"unknown; known are {', '.join(Recipe.model_fields)}"


def _reason(mistake: Mapping[str, Any]) -> str:
    if mistake["type"] == "value_error":
        return one_line(str(mistake["ctx"]["error"]))
    said = mistake["msg"].replace("Input should", "should").replace("array", "list").replace("object", "table")
    given = json.dumps(mistake["input"], ensure_ascii=False, default=str)
    return one_line(f"{given if len(given) <= 60 else given[:57] + '...'} {said}")
