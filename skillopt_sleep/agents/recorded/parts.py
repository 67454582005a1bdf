"""Simple commands as the agent compares them, and which of them an outcome belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from skillopt_sleep.domain import commands
from skillopt_sleep.domain.commands import Simple
from skillopt_sleep.domain.sentences import Check


class Standing(Enum):
    """WORKED and WASTED count; NEITHER (cascades, interrupts, rules and hooks, unclear ones) says nothing."""

    WORKED = 1
    WASTED = 2
    NEITHER = 3


@dataclass(frozen=True, slots=True)
class Part:
    """A simple command with its canonical words, its head, the kind of check that it runs, and how it fared."""

    simple: Simple
    words: tuple[str, ...]
    head: tuple[str, ...]
    check: Check | None
    standing: Standing = Standing.NEITHER

    def starts_with(self, prefix: tuple[str, ...]) -> bool:
        """Whether it begins with these words, as written or in canonical form (`git -C x push` begins `git push`)."""
        n = len(prefix)
        return self.words[:n] == prefix or self.simple.words[:n] == prefix


_KINDS: Final[dict[str, Check]] = {
    **dict.fromkeys(("test", "tests", "pytest", "jest", "vitest", "rspec", "tox", "nox", "ctest", "phpunit"), "tests"),
    **dict.fromkeys(("unittest", "mocha", "playwright", "gotestsum", "nextest"), "tests"),
    **dict.fromkeys(("ruff", "flake8", "clippy", "shellcheck"), "linter"),
    **dict.fromkeys(("rubocop", "vet", "biome", "staticcheck", "linter"), "linter"),
    **dict.fromkeys(("fmt", "format", "gofmt", "prettier", "black", "goimports", "rustfmt", "isort"), "formatter"),
    **dict.fromkeys(("tsc", "mypy", "pyright", "typecheck", "type-check", "check-types"), "type checker"),
    **dict.fromkeys(("build", "compile", "cmake"), "build"),
}
_RUNNERS: Final = frozenset({"npx", "pnpx", "bunx", "uv", "poetry", "pipenv", "hatch", "pnpm", "npm", "yarn", "bundle"})
_COMPLAINT: Final = re.compile(
    r"\s*(?:\S+: )*(?:error|fatal|usage:|unknown|invalid|unrecognized|command not found|no such|cannot|panic:)",
    re.IGNORECASE,
)


def check_of(words: Sequence[str]) -> Check | None:
    """The kind of check that a command runs, by its program and sub-command; None if it is no check."""
    head = commands.head(words)
    if not head or head in {("test",), ("[",)}:
        return None
    plain = [word for word in commands.canonical(words)[1:4] if not word.startswith("-")]
    named = [*head, *plain] if head[0] in _RUNNERS or head[0].startswith("python") else list(head)
    for word in named:
        name = word.rpartition("/")[2].partition(":")[0]
        if name in _KINDS or name.endswith("lint"):
            return _KINDS.get(name, "linter")
    return None


def parts_of(command: str) -> tuple[Part, ...]:
    """The simple commands of a shell text that do something: without those inside `$(…)` and without `cd`."""
    return tuple(
        Part(simple, commands.canonical(simple.words), commands.head(simple.words), check_of(simple.words))
        for simple in commands.split(command)
        if not simple.inside and not simple.moves
    )


def blamed(parts: Sequence[Part], action: Standing, output: str) -> tuple[Standing, ...]:
    """How each part fared, where the outcome of the whole text lets it be told.

    Success is that of every part whose exit is not hidden behind `;`, `||`, `&`, and of one behind a pipe unless the
    output begins with a complaint. Failure is that of the only part, of the only one behind the last `;`, or of the one
    that the first line of the output names; else of none in particular.
    """
    if action is Standing.WORKED:
        return tuple(_worked(parts, output))
    if action is Standing.NEITHER or not parts:
        return (Standing.NEITHER,) * len(parts)
    guilty = _guilty(parts, output)
    return tuple(action if index == guilty else Standing.NEITHER for index in range(len(parts)))


def _worked(parts: Sequence[Part], output: str) -> Iterator[Standing]:
    complains = bool(_COMPLAINT.match(output))
    joints = [part.simple.joint for part in parts[1:]]
    for index in range(len(parts)):
        after = joints[index:]
        hidden = any(joint in {";", "||", "&"} for joint in after)
        piped = bool(after) and after[0] in {"|", "|&"}
        yield Standing.NEITHER if hidden or (piped and complains) else Standing.WORKED


def _guilty(parts: Sequence[Part], output: str) -> int:
    last = max((i for i, part in enumerate(parts) if part.simple.joint in {";", "&"}), default=0)
    mains = [i for i in range(last, len(parts)) if i == last or parts[i].simple.joint not in {"|", "|&"}]
    if len(mains) == 1:
        return mains[0]
    first = output.lstrip().partition("\n")[0]
    named = [i for i in mains if first.startswith((f"{parts[i].words[0]}:", f"{' '.join(parts[i].head)}:"))]
    return named[0] if len(named) == 1 else -1
