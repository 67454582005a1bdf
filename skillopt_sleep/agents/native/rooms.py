"""The rooms of one attempt: a HOME with one skill in it, a folder to work in, a place for temporary files."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillopt_core.frontmatter import description_span
from skillopt_core.types import Skill
from skillopt_sleep.errors import UsageError
from skillopt_sleep.sandbox.folders import temporary

FILE: Final = "SKILL.md"
PLACES: Final = (".agents/skills", ".claude/skills", ".codex/skills", ".copilot/skills", ".github/skills")
"""Where agents look for skills below a folder that they work in."""
_FRONTMATTER: Final = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_NAME: Final = re.compile(r"""^name[ \t]*:[ \t]*["']?([a-z0-9]+(?:-[a-z0-9]+)*)["']?[ \t]*\r?$""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rooms:
    """Three folders of their own, that only their owner can enter; gone with the attempt."""

    home: Path
    work: Path
    temporary: Path


@contextmanager
def rooms() -> Iterator[Rooms]:
    """Empty rooms. What was left in them is removed, whatever its modes are, by the next rooms where we were killed."""
    with temporary("attempt") as root:
        made = Rooms(root / "home", root / "work", root / "tmp")
        for folder in (made.home, made.work, made.temporary):
            folder.mkdir(mode=0o700)
        yield made


def name_of(skill: Skill) -> str:
    """The name by which an agent offers the skill. `UsageError` where it has none, or no description to be shown."""
    found = _FRONTMATTER.match(skill.text)
    name = found and _NAME.search(found[1])
    if not found or not name or len(name[1]) > 64 or description_span(found[1]) is None:
        raise UsageError(
            "its frontmatter lacks a name or a description, which is all that an agent is shown of it",
            where=skill.name,
            remedy="Begin it with --- and the lines `name: some-name` and `description: when to use it`, then ---",
        )
    return name[1]


def body_of(skill: Skill) -> str:
    """The text behind the frontmatter: what an agent gets once it opens the skill."""
    return _FRONTMATTER.sub("", skill.text, count=1)


def folder_of(file: Path) -> Path | None:
    """The folder whose other files come along with a skill: that of a SKILL.md which bears the skill's name."""
    if file.name != FILE:
        return None
    folder, text = file.resolve().parent, file.read_text(encoding="utf-8", errors="replace")
    found = _FRONTMATTER.match(text)
    name = found and _NAME.search(found[1])
    return folder if name and name[1] == folder.name else None


def install(skill: Skill, name: str, folder: Path, beside: Path | None) -> Path:
    """Lay the skill into `folder`, with the files that stand beside it (links are left out); gives its file."""
    place = folder / name
    if beside is not None:
        shutil.copytree(beside, place, ignore=lambda where, names: _left_out(beside, where, names))
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    (place / FILE).write_bytes(skill.text.encode("utf-8", "surrogatepass"))
    return place / FILE


def remember(skill: Skill, file: Path) -> Path:
    """Write the text as the memory of a HOME; gives the file."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_bytes(skill.text.encode("utf-8", "surrogatepass"))
    return file


def beside_digest(beside: Path) -> str:
    """SHA-256 over the paths, modes and contents of the files that come along: another one is another attempt."""
    found = hashlib.sha256()
    for where, folders, files in os.walk(beside):
        odd = _left_out(beside, where, [*folders, *files])
        folders[:] = sorted(set(folders) - odd)
        for name in sorted(set(files) - odd):
            path = Path(where, name)
            mode = "x" if path.lstat().st_mode & stat.S_IXUSR else "-"
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            found.update(
                f"{path.relative_to(beside).as_posix()}\0{mode}\0{content}\n".encode("utf-8", "surrogateescape")
            )
    return found.hexdigest()


def clear_namesakes(work: Path, name: str) -> None:
    """Take away what the folder itself holds of this skill: an attempt sees one version of it.

    A link on the way is what is taken away, and never what it leads to.
    """
    for place in PLACES:
        here = work
        for part in (*place.split("/"), name):
            here /= part
            if here.is_symlink():
                here.unlink()
            elif not here.is_dir():
                break
        else:
            shutil.rmtree(here)


def _left_out(beside: Path, where: str, names: list[str]) -> set[str]:
    """The skill's own file, and whatever is neither a file nor a folder."""
    odd = {name for name in names if not _plain(Path(where, name))}
    return odd | ({FILE} if Path(where) == beside else set())


def _plain(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
