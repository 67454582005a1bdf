"""Which files a path of tasks stands for, which split each of them is, and the files that a task starts from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from skillopt_sleep.checks import BadArgument
from skillopt_sleep.checks.deeds import relative_path
from skillopt_sleep.checks.reading import told
from skillopt_sleep.domain.tasks import Split
from skillopt_sleep.errors import NotFound, UsageError
from skillopt_sleep.train.rows import BadRow

ENDING: Final = ".jsonl"
MOST_FILES: Final = 1000
LARGEST: Final = 10 * 1024 * 1024
"""Bytes of one task's starting files together."""


def files_of(path: Path, splits: Mapping[str, Split]) -> list[tuple[Path, Split | None]]:
    """The task files of a path: the file itself, or all `*.jsonl` of a folder and of its folders named after splits.

    A file or folder named after a split is that split; any other file leaves it open.
    """
    if path.is_file():
        return [(path, None)]
    if not path.is_dir():
        raise NotFound("there is no such file or folder", where=str(path), remedy="Name a file of JSON lines")
    found = [(file, splits.get(file.stem.lower())) for file in _task_files(path)]
    for folder in sorted(entry for entry in path.iterdir() if entry.is_dir() and entry.name.lower() in splits):
        found += [(file, splits[folder.name.lower()]) for file in _task_files(folder)]
    if not found:
        remedy = f"Put files of JSON lines there, such as train{ENDING}, gate{ENDING} and audit{ENDING}"
        raise UsageError(f"holds no file that ends in {ENDING}", where=str(path), remedy=remedy)
    return found


def _task_files(folder: Path) -> Iterable[Path]:
    return sorted(entry for entry in folder.iterdir() if entry.suffix.lower() == ENDING and entry.is_file())


def starting_files(given: object, folder: Path) -> dict[str, bytes]:
    """Contents by path: `{"src/app.py": "text"}`, or a list of paths of files that lie beside the task file.

    `BadRow` for a path that leads out of the folder, also by a link, and for what cannot be read.
    """
    if given is None:
        return {}
    try:
        files = dict(_files(given, folder))
    except BadArgument as error:
        raise BadRow(error.key, error.wrong, error.right) from error
    if sum(map(len, files.values())) > LARGEST:
        raise BadRow("files", "they are too large together", f"At most {LARGEST:,} bytes a task are read")
    return files


def _files(given: object, folder: Path) -> Iterator[tuple[str, bytes]]:
    if isinstance(given, dict) and len(given) <= MOST_FILES:
        for name, text in given.items():
            if not isinstance(text, str):
                raise BadRow(f"files.{name}", f"it is {told(text)}", "It is the file's text")
            yield relative_path(name, f"files.{name}"), text.encode("utf-8", "surrogatepass")
    elif isinstance(given, list) and len(given) <= MOST_FILES:
        for number, name in enumerate(given):
            path = relative_path(name, f"files[{number}]")
            yield path, _beside(folder, path, f"files[{number}]")
    else:
        right = f"Write texts by path, or a list of paths beside the task file; at most {MOST_FILES}"
        raise BadRow("files", f"it is {told(given)}", right)


def _beside(folder: Path, path: str, key: str) -> bytes:
    right = f"Name a file of at most {LARGEST:,} bytes below {folder}"
    try:
        place = (folder / path).resolve(strict=True)
        if not place.is_relative_to(folder.resolve()) or not place.is_file():
            raise BadRow(key, f"{path} is no file of this folder", right)
        if place.stat().st_size > LARGEST:
            raise BadRow(key, f"{path} is too large", right)
        return place.read_bytes()
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or "there is no such file"
        raise BadRow(key, f"{path} cannot be read ({str(why).lower()})", right) from error
