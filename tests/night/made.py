"""A made-up home for nights in which an agent attempts: a repository, and sessions in which two things go wrong.

Sessions `look` search a configuration file under the wrong ending: the rule against it helps. Sessions `stamp` take the
time from the wrong place, which the project's linter refuses: the rule against it hurts, since the later tasks of that
kind go well without it and badly once it is obeyed. Whether anything helps or hurts is up to who attempts: `script`
says what a model does, for the pretender and the scripted model alike.
"""

from __future__ import annotations

import random
import re
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.bench import loading

sample = loading.script("make_sample")
FIRST = datetime(2026, 9, 7, 9, 0, tzinfo=UTC)
BEFORE = 2
"""Sessions of each kind from which the rules are made: one a day."""
CUT = "2026-09-09"
"""The day after them."""
NONE = -BEFORE
"""As a number of later sessions: none of the kind at all."""
CODE = "no-restricted-properties"
MESSAGE = "'Date.now' is restricted from being used. Use clock.now() so that tests can set the time"
LINT = f"""
lint:
\t@if grep -q 'Date.now' src/*.ts; then \\
\techo "$(CURDIR)/src/cart.ts"; echo "  14:9  error  {MESSAGE}  {CODE}"; exit 1; fi
"""
FILES = {"config/app.yaml": "currency: EUR\n", "src/cart.ts": "export {};\n", "Makefile": LINT.lstrip("\n")}
SKILL = "shop-lessons"
LOOKS, STAMPS = "Show the currency on page", "Note when row"
HELPS = "The file is `config/app.yaml`, not `config/app.yml`."
HURTS = "do not write `Date.now()`"


@dataclass(frozen=True)
class Made:
    home: Path
    project: Path
    commit: str


def make(folder: Path, looks: int, stamps: int, *, agents: tuple[str, ...] = ("codex", "copilot")) -> Made:
    """So many later sessions of each kind, one of each a day, on top of those before the cut."""
    project = folder / "shop"
    commit = repository(project)
    made = Made(folder / "home", project, commit)
    for number in range(BEFORE + max(looks, stamps)):
        if number < BEFORE + looks:
            write(made, number, agents[number % len(agents)], f"{LOOKS} {number}", sample.configuration(wrong=True))
        if number < BEFORE + stamps:
            write(made, number, agents[number % len(agents)], f"{STAMPS} {number}", stamped(number))
    return made


def stamped(number: int) -> Iterator[Any]:
    """The habit, what the linter says of it, and how it was mended."""
    path, before = "src/cart.ts", f"export function touch{number}(row: Row) {{\n"
    taken = "  " + sample.TAKEN[number % len(sample.TAKEN)]
    wrong, right = (taken.format(what) for what in ("Date.now()", "clock.now()"))
    yield sample.Op("edit", path, before, before + wrong, "updated")
    yield sample.Op("run", "make lint", output=sample.lint(path, 14, CODE, MESSAGE), ok=False)
    yield sample.Op("edit", path, wrong, right, "updated")
    yield sample.Op("run", "make lint", output="")


def write(made: Made, day: int, agent: str, prompt: str, ops: Iterator[Any]) -> None:
    """One session, as the agent would have kept it, at the repository's commit."""
    chance = random.Random(f"{day} {prompt}")
    name = str(uuid.UUID(int=chance.getrandbits(128), version=4))
    at = FIRST + timedelta(days=day, minutes=len(prompt))
    one = sample.Session(day, at, agent, name, f"{prompt}, please", list(ops), "Done.")
    text = "".join(getattr(sample, agent)(one, chance)).replace(sample.PROJECT, str(made.project))
    text = re.sub(r'("(?:commit_hash|headCommit)":")[0-9a-f]{40}', rf"\g<1>{made.commit}", text)
    path = made.home / sample.place(one)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def repository(folder: Path) -> str:
    """The project; gives its commit."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    named = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "."), (*named, "commit", "-qm", "one")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def script(opening: Mapping[str, Any] | None) -> dict[str, list[Mapping[str, Any]]]:
    """What the model does: it opens the skill first, and obeys what it was shown; None: it never opens it."""
    first = [] if opening is None else [opening]
    end = {"text": "Done."}
    looks = {"if": HELPS, "then": {"shell": "cat config/app.yaml"}, "else": {"shell": "cat config/app.yml"}}
    good, bad = (f"echo 'const t = {what};' > src/cart.ts; make lint" for what in ("clock()", "Date.now()"))
    early = {f"{STAMPS} {n},": [*first, {"shell": bad}, end] for n in range(BEFORE)}
    later = {STAMPS: [*first, {"if": HURTS, "then": {"shell": bad}, "else": {"shell": good}}, end]}
    return {LOOKS: [*first, looks, end], **early, **later}
