"""Kinds of check that other distributions bring: entry points of the group `skillopt_sleep.checks`."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Final, TypeVar

from skillopt_core.protocols import Exhausted
from skillopt_core.types import Missing
from skillopt_sleep.checks.kinds import BUILT_IN
from skillopt_sleep.checks.model import BadArgument, Kind, Rule
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.errors import ModelError
from skillopt_sleep.plugins import CHECKS, NotFit, Plugins, plugins

NAME: Final = re.compile(r"[a-z][a-z0-9_.-]{0,60}")
T = TypeVar("T")
log = logging.getLogger(__name__)


def further_kinds(entries: Iterable[EntryPoint] | None = None) -> Plugins[Kind]:
    """The kinds of others, each so wrapped that what it raises is a bad argument or a missing judgement."""
    return plugins(CHECKS, as_kind, BUILT_IN, entries)


def as_kind(name: str, loaded: object) -> Kind:
    """A kind as a plugin brings it: a `Kind` of the same name whose example it can read."""
    if not isinstance(loaded, Kind):
        raise NotFit("it is no skillopt_sleep.checks.Kind")
    if loaded.name != name or not NAME.fullmatch(name):
        raise NotFit(f"its kind is named {loaded.name!r}; both names are the same, lower case")
    kind = replace(loaded, read=_reading(loaded))
    try:
        kind.read(kind.example)
    except BadArgument as error:
        raise NotFit(f"it cannot read its own example: {error}") from error
    return kind


def _reading(kind: Kind) -> Callable[[object], Rule]:
    def read(argument: object) -> Rule:
        try:
            rule = kind.read(argument)
        except BadArgument:
            raise
        except Exception as error:  # code of others: what it cannot read is a bad argument
            raise BadArgument(f"{kind.name} cannot read it ({type(error).__name__})", kind.argument) from error
        if not isinstance(rule, Rule):
            raise BadArgument(f"{kind.name} makes no rule of it", "Its `read` returns a skillopt_sleep.checks.Rule")
        return Rule(_judging(kind.name, rule.passes), _telling(kind.name, rule.failure), rule.secrets, rule.by_model)

    return read


def _judging(name: str, passes: Callable[[Answer], object]) -> Callable[[Answer], bool | Missing]:
    def judge(answer: Answer) -> bool | Missing:
        said = _called(name, passes, answer)
        return said if isinstance(said, (bool, Missing)) else Missing(f"the check {name} said neither yes nor no")

    return judge


def _telling(name: str, failure: Callable[[Answer], object]) -> Callable[[Answer], str]:
    def tell(answer: Answer) -> str:
        said = _called(name, failure, answer)
        return said if isinstance(said, str) and said else f"A check of the kind {name} failed."

    return tell


def _called(name: str, function: Callable[[Answer], T], answer: Answer) -> T | Missing:
    try:
        return function(answer)
    except (Exhausted, ModelError):  # of a judge that it asked: the work ends, or goes on with what is left
        raise
    except Exception as error:  # code of others: an error of it is no score
        log.warning("A check of a plugin failed", exc_info=True, extra={"action": "check_failed", "check": name})
        return Missing(f"the check {name} failed ({type(error).__name__})")
