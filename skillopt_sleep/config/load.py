"""From files to a `Config`: the user's sleep.toml, then the project's, which may only narrow it (cli.md)."""

from __future__ import annotations

import difflib
import json
import os
import re
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from skillopt_sleep.config.lines import key_lines, line_of
from skillopt_sleep.config.model import NOT_YET, Config, keys, lookback_ms, sections
from skillopt_sleep.errors import ConfigError, UsageError
from skillopt_sleep.log import one_line
from skillopt_sleep.paths import user_config

NAME = "sleep.toml"
DEFAULT = "default"
LARGEST = 256 * 1024
"""Bytes of a sleep.toml that are read."""


@dataclass(frozen=True)
class Loaded:
    """The configuration in force, where each value came from (`section.key`: "default", `file:line`, an option), and
    what was ignored."""

    config: Config
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()

    def rows(self) -> list[tuple[str, object, str]]:
        """`section.key`, value, origin, in the order of the file."""
        values = self.config.model_dump(mode="json")
        return [(key, _of(values, key), self.origins[key]) for key in keys()]


def load(option: Path | None, *, cwd: Path, environ: Mapping[str, str] = os.environ) -> Loaded:
    """`--config`, else SKILLOPT_CONFIG, else the user's sleep.toml, which may be absent; then the project's.

    Raises `ConfigError` with file, line and key of the first mistake.
    """
    return _told_of_no_effect(_from_files(option, cwd, environ))


def _from_files(option: Path | None, cwd: Path, environ: Mapping[str, str]) -> Loaded:
    mine = user_config(option, environ)
    named = option is not None or bool(environ.get("SKILLOPT_CONFIG"))
    loaded = Loaded(Config(), dict.fromkeys(keys(), DEFAULT))
    if named or mine.exists():
        loaded = _with_file(loaded, _File(mine, cwd))
    theirs = project_file(cwd)
    if theirs is None or (mine.exists() and theirs.samefile(mine)):
        return loaded
    return _narrowed(loaded, _File(theirs, cwd))


def override(loaded: Loaded, options: Mapping[str, tuple[object, str]]) -> Loaded:
    """The configuration with options of the command line: `{"budget.tokens": (5000, "--budget-tokens")}`."""
    values = loaded.config.model_dump(mode="json")
    for key, (value, _) in options.items():
        section, _, name = key.partition(".")
        values[section][name] = value
    try:
        config = _validated(values)
    except ValidationError as error:
        mistake = error.errors()[0]
        key = next(
            (k for k in options if tuple(k.split(".")) == mistake["loc"][:2]), ".".join(map(str, mistake["loc"]))
        )
        raise UsageError(_reason(mistake), where=options[key][1] if key in options else key) from None
    return Loaded(config, {**loaded.origins, **{key: name for key, (_, name) in options.items()}}, loaded.warnings)


def _told_of_no_effect(loaded: Loaded) -> Loaded:
    plain = Config().model_dump(mode="json")
    idle = [
        f"{origin} {key}: has no effect yet"
        for key, value, origin in loaded.rows()
        if key in NOT_YET and value != _of(plain, key)
    ]
    return Loaded(loaded.config, loaded.origins, (*loaded.warnings, *idle))


def project_file(cwd: Path) -> Path | None:
    """The nearest sleep.toml from `cwd` up to the git root; outside a git repository only in `cwd` itself."""
    here = [cwd.absolute(), *cwd.absolute().parents]
    root = next((n for n, folder in enumerate(here) if (folder / ".git").exists()), 0)
    return next((folder / NAME for folder in here[: root + 1] if (folder / NAME).exists()), None)


class _File:
    """One sleep.toml, read and checked. Messages name it as seen from the working folder."""

    def __init__(self, path: Path, cwd: Path) -> None:
        near = path.is_relative_to(cwd.absolute())
        self.folder = path.parent
        self.shown = one_line(str(path.relative_to(cwd.absolute()) if near else path))
        text = self._read(path)
        try:
            self.values: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            self._refuse_syntax(str(error), text)
        except RecursionError:
            raise ConfigError("nested too deeply", where=self.shown) from None
        self.lines = key_lines(text) if self.values else {}
        try:
            self.config = _validated(self.values)
        except ValidationError as error:
            self._refuse_values(error)

    def given(self) -> list[str]:
        """The keys that stand in it, `section.key`."""
        return [f"{section}.{key}" for section, table in self.values.items() for key in table]

    def where(self, *path: str) -> str:
        """`sleep.toml:12`."""
        line = line_of(path, self.lines)
        return self.shown if line is None else f"{self.shown}:{line}"

    def _read(self, path: Path) -> str:
        """The text; a pipe, a device or a folder in its place is not read."""
        try:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            try:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise ConfigError("is not a file", where=self.shown)
                content = _read_up_to(handle, LARGEST + 1)
            finally:
                os.close(handle)
        except OSError as error:
            raise ConfigError(f"cannot be read: {error.strerror}", where=self.shown) from None
        if len(content) > LARGEST:
            raise ConfigError(f"is larger than {LARGEST // 1024} KiB: that is no sleep.toml", where=self.shown)
        try:
            return content.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise ConfigError("is not UTF-8; save it as UTF-8", where=f"{self.shown}:{line}") from None

    def _refuse_syntax(self, said: str, text: str) -> NoReturn:
        reason, _, place = said.partition(" (at ")
        found = re.search(r"line (\d+)", place)
        line = found[1] if found else text.rstrip().count("\n") + 1
        raise ConfigError(one_line(f"not valid TOML: {reason}"), where=f"{self.shown}:{line}") from None

    def _refuse_values(self, error: ValidationError) -> NoReturn:
        def place(mistake: Mapping[str, Any]) -> int:
            return line_of(_names(mistake), self.lines) or 0

        mistake = min(error.errors(), key=place)
        path = _names(mistake)
        key = one_line(".".join(path))
        raise ConfigError(_reason(mistake), where=f"{self.where(*path)} {key}"[:200]) from None


def _with_file(loaded: Loaded, file: _File) -> Loaded:
    origins = {key: file.where(*key.split(".")) for key in file.given()}
    return Loaded(file.config, {**loaded.origins, **origins}, loaded.warnings)


def _read_up_to(handle: int, limit: int) -> bytes:
    content = b""
    while len(content) < limit and (more := os.read(handle, limit - len(content))):
        content += more
    return content


def _joined(mine: list[str], theirs: list[str]) -> list[str]:
    return [*mine, *(word for word in theirs if word not in mine)]


def _smaller(mine: float | None, theirs: float | None) -> float | None:
    return theirs if mine is None or (theirs is not None and theirs < mine) else mine


def _shorter(mine: str, theirs: str) -> str:
    ours, other = lookback_ms(mine), lookback_ms(theirs)
    return theirs if other is not None and (ours is None or other < ours) else mine


NARROWING: Mapping[str, Callable[[Any, Any], object]] = {
    "harvest.lookback": _shorter,
    "harvest.max_sessions": _smaller,
    "harvest.exclude": _joined,
    "redact.words": _joined,
    **{f"budget.{name}": _smaller for name in sections()["budget"].model_fields},
}
"""What a project's file may say, and how it joins the user's value. `redact.patterns` is not among them: an expression
from a cloned repository can take for ever. Words are enough."""


def _narrowed(loaded: Loaded, file: _File) -> Loaded:
    values, theirs = loaded.config.model_dump(mode="json"), file.config.model_dump(mode="json")
    origins, warnings = dict(loaded.origins), list(loaded.warnings)
    for key in file.given():
        where = file.where(*key.split("."))
        section, _, name = key.partition(".")
        mine, wish = values[section][name], theirs[section][name]
        if key not in NARROWING:
            warnings.append(f"{where} {key}: ignored; a project's file may only exclude, redact more and spend less")
            continue
        if key == "harvest.exclude":
            wish = [_under(file.folder, pattern) for pattern in wish]
        got = NARROWING[key](mine, wish)
        if got == mine != wish:
            warnings.append(f"{where} {key}: ignored; a project's file may only narrow, {_shown(mine)} stays")
        elif got != mine:
            values[section][name] = got
            origins[key] = where if mine in (None, []) or got == wish else f"{origins[key]} and {where}"
    return Loaded(_validated(values), origins, tuple(warnings))


def _under(folder: Path, pattern: str) -> str:
    """A project's relative pattern is meant from its own folder."""
    return pattern if pattern.startswith(("/", "~")) else f"{folder}/{pattern}"


def _validated(values: Mapping[str, object]) -> Config:
    """Through JSON, so that lists may be tuples while nothing else is guessed; dates become text and are refused."""
    return Config.model_validate_json(json.dumps(values, default=str))


def _of(values: Mapping[str, Mapping[str, object]], key: str) -> object:
    section, _, name = key.partition(".")
    return values[section][name]


def _names(mistake: Mapping[str, Any]) -> tuple[str, ...]:
    """The path of a mistake without indices and without pydantic's own marks."""
    return tuple(part for part in mistake["loc"] if isinstance(part, str) and part != "[key]")


def _reason(mistake: Mapping[str, Any]) -> str:
    """What is wrong and what would be right, in one line."""
    if mistake["type"] == "extra_forbidden":
        return _unknown(_names(mistake))
    if mistake["type"] == "value_error":
        said = str(mistake["ctx"]["error"])
    elif mistake["type"] == "missing":
        return "missing"
    elif mistake["type"] == "model_type":
        said = "should be a table"
    else:
        said = mistake["msg"].replace("Input should", "should").replace("array", "list").replace("object", "table")
    return one_line(f"{_shown(mistake['input'])} {said}" if not isinstance(mistake["input"], dict) else said)


def _unknown(path: tuple[str, ...]) -> str:
    """What an unknown key may have been meant to be: near in its own section, else of that name in another."""
    if len(path) > 2:
        return "unknown"
    prefix = f"{path[0]}." if len(path) == 2 else ""
    known = list(sections()[path[0]].model_fields if prefix else sections())
    near = [prefix + name for name in difflib.get_close_matches(path[-1], known, n=1)]
    likely = near or [key for key in keys() if key.endswith(f".{path[-1]}")]
    return f"unknown, did you mean {likely[0]}?" if likely else f"unknown; known are {', '.join(known)}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
