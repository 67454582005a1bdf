"""Skill documents as the Agent Skills specification wants them, and the empty ones that learning starts from.

The specification (agentskills.io, specification): `SKILL.md` opens with YAML frontmatter between `---` lines; `name` is
1 to 64 of `[a-z0-9-]`, no hyphen at either end and none doubled, equal to the name of the folder; `description` is 1 to
1,024 characters.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import Final

import yaml

from skillopt_sleep.domain.proposals import Document
from skillopt_sleep.errors import AdoptionError

FILE: Final = "SKILL.md"
MOST_NAME: Final = 64
MOST_DESCRIPTION: Final = 1024
RULES: Final = "## Rules"
FACTS: Final = "## Project facts"
BEFORE: Final = "## Before you act"

_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_FRONTMATTER: Final = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_MOST_FRONTMATTER: Final = 64 * 1024
_DEVICES: Final = frozenset({"con", "prn", "aux", "nul"} | {f"{d}{n}" for d in ("com", "lpt") for n in "123456789¹²³"})
_ILLEGAL: Final = frozenset('<>:"/\\|?*')


def problems(text: str, folder: str) -> tuple[str, ...]:
    """What keeps `text` from being a valid `SKILL.md` in a folder called `folder`; empty where nothing does."""
    fields = _frontmatter(text)
    if isinstance(fields, str):
        return (fields,)
    return tuple(
        found
        for found in (_name_problem(fields.get("name"), folder), _description_problem(fields))
        if found is not None
    )


def _frontmatter(text: str) -> dict[object, object] | str:
    """The fields of the frontmatter, or what is wrong with it."""
    found = _FRONTMATTER.match(text)
    if found is None:
        return "the frontmatter is missing: the first line must be --- and a later line must close it with ---"
    if len(found["yaml"]) > _MOST_FRONTMATTER:
        return "the frontmatter is longer than 64 KiB"
    try:
        fields = yaml.safe_load(found["yaml"])
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date such as 2026-99-99
        return f"the frontmatter does not parse as YAML: {str(error).splitlines()[0]}"
    return fields if isinstance(fields, dict) else "the frontmatter is not a list of fields"


def _name_problem(name: object, folder: str) -> str | None:
    if not isinstance(name, str):
        return "the frontmatter has no name" if name is None else f"name: {name!r} is not text; put it in quotes"
    if len(name) > MOST_NAME or not _NAME.match(name):
        return (
            f"name: {name[: MOST_NAME + 1]!r} must be 1 to 64 of a-z, 0-9 and single hyphens, with none at either end"
        )
    return None if name == folder else f"name: {name!r} differs from its folder {folder!r}"


def _description_problem(fields: dict[object, object]) -> str | None:
    description = fields.get("description")
    if not isinstance(description, str) or not description.strip():
        return "the frontmatter has no description"
    if len(description) > MOST_DESCRIPTION:
        return f"description: {len(description)} characters, at most {MOST_DESCRIPTION} are allowed"
    return None


def new_learned_skill(name: str, description: str) -> str:
    """A valid skill without a single rule, with the sections that rules are added to. ValueError where invalid."""
    text = (
        f"---\nname: {_scalar(name)}\ndescription: {_scalar(' '.join(description.split()))}\n---\n\n"
        f"# {name}\n\n{RULES}\n\n{FACTS}\n\n{BEFORE}\n"
    )
    if found := problems(text, name):
        raise ValueError("; ".join(found))
    return text


def skeleton(document: Document) -> str:
    """What a document that does not exist yet starts from; the same for the same document on every night.

    An agent sees of a skill only its description until it opens it, so the description says when to open it.
    A hand-written skill always exists: ValueError.
    """
    if document.kind == "learned":
        return new_learned_skill(
            document.name,
            f"Rules and facts of this project ({document.name}) that keep earlier mistakes from coming back. "
            "Read it before you run commands, search, or edit files here.",
        )
    if document.kind == "memory":
        return f"{RULES}\n"
    raise ValueError(f"{document.name}: a hand-written skill is never made anew")


def slug(project: str, taken: Collection[str] = ()) -> str:
    """A skill name for a project: valid, legal as a file name everywhere, and unlike every name in `taken`.

    Names are compared case-folded, as some file systems do. A project without any usable letter is `project`.
    """
    plain = unicodedata.normalize("NFKD", project).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[: MOST_NAME - 10].strip("-") or "project"
    if stem in _DEVICES:
        stem = f"{stem}-project"
    used = {name.casefold() for name in taken}
    number = 1
    while (name := stem if number == 1 else f"{stem}-{number}") in used:
        number += 1
    return name


def check_file_names(names: Iterable[str]) -> None:
    """AdoptionError where two names are one on some file system, or one is no file name on some system."""
    seen: dict[str, str] = {}
    for name in names:
        if (why := _illegal(name)) is not None:
            raise AdoptionError(f"{why}", where=repr(name), remedy="Rename the skill and its folder")
        first = seen.setdefault(folded(name), name)
        if first != name:
            raise AdoptionError(f"differs from {first!r} only by case", where=repr(name), remedy="Rename one of them")


def folded(name: str) -> str:
    """The form in which two names collide on a file system that ignores case or normalises Unicode."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _illegal(name: str) -> str | None:
    if not name or name in {".", ".."} or any(c in _ILLEGAL or ord(c) < 32 for c in name):
        return "no file name on every system"
    if name[-1] in ". ":
        return "a name must not end in a full stop or a space"
    return "a device name on Windows" if name.split(".", maxsplit=1)[0].rstrip().casefold() in _DEVICES else None


def _scalar(text: str) -> str:
    """`text` as a YAML scalar of one line: plain where YAML reads it back as the same text, else in quotes."""
    try:
        plain = yaml.safe_load(f"k: {text}") == {"k": text}
    except (yaml.YAMLError, ValueError):
        plain = False
    return text if plain else json.dumps(text, ensure_ascii=False)
