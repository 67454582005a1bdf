"""Checks of what was done beside the words: tools called, files left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Final

from skillopt_core.types import Missing
from skillopt_sleep.checks.model import BadArgument, Kind, Rule
from skillopt_sleep.checks.patterns import compile_pattern
from skillopt_sleep.checks.reading import UNKNOWN_FILES, UNKNOWN_TOOLS, fields, plain, told, words
from skillopt_sleep.domain.answers import Answer, Need

_FILE_TESTS: Final = frozenset({"exists", "equals", "contains", "not_contains", "matches"})


def _tool_called(argument: object) -> Rule:
    name = words(argument, "the name of a tool").strip()
    said = f"The agent did not use a tool that the task needs. A run passes that calls, for example, `{name}` first."
    return Rule(_called(name, wanted=True), lambda _: said)


def _tool_not_called(argument: object) -> Rule:
    name = words(argument, "the name of a tool").strip()
    said = f"The agent used a tool that it must leave alone. A run passes that never calls, for example, `{name}`."
    return Rule(_called(name, wanted=False), lambda _: said)


def _called(name: str, *, wanted: bool) -> Callable[[Answer], bool | Missing]:
    return lambda answer: UNKNOWN_TOOLS if answer.tools is None else (name in answer.tools) is wanted


def _file_state(argument: object) -> Rule:
    given = fields(argument, frozenset({"path"}), _FILE_TESTS)
    path = relative_path(given["path"], "path")
    tests = [key for key in given if key != "path"]
    if len(tests) != 1:
        raise BadArgument(f"it has {len(tests)} tests", f"One of {', '.join(sorted(_FILE_TESTS))} stands beside path")
    holds = _test(tests[0], given[tests[0]])
    secrets = () if tests[0] == "exists" else (str(given[tests[0]]),)

    def passes(answer: Answer) -> bool | Missing:
        return UNKNOWN_FILES if answer.files is None else holds(answer.files, path)

    return Rule(passes, lambda answer: _told(answer, path, tests[0], given[tests[0]]), secrets)


def _test(name: str, argument: object) -> Callable[[Mapping[str, bytes], str], bool]:
    if name == "exists":
        if not isinstance(argument, bool):
            raise BadArgument(f"it is {told(argument)}", "It is true or false", name)
        return lambda files, path: (path in files) is argument
    if name == "matches":
        pattern = compile_pattern(words(argument, "a regular expression (RE2)", name))
        return lambda files, path: path in files and pattern.search(_text(files[path])) is not None
    wanted = words(argument, "a text", name)
    if name == "equals":
        return lambda files, path: path in files and _text(files[path]).rstrip("\n") == wanted.rstrip("\n")
    return lambda files, path: path in files and (wanted in _text(files[path])) is (name == "contains")


def _told(answer: Answer, path: str, test: str, argument: object) -> str:
    there = path in (answer.files or {})
    if test == "exists":
        return f"The file `{path}` {'is not there' if argument else 'is there'} at the end, and it should be otherwise."
    if not there:
        return f"The file `{path}` is not there at the end."
    return f"The file `{path}` has not the wanted content at the end; which it is is not shown."


def _text(content: bytes) -> str:
    return plain(content.decode("utf-8", "replace"))


def relative_path(argument: object, key: str = "") -> str:
    """A path inside a folder: relative, with `/`, never up. `BadArgument` otherwise."""
    text = words(argument, "a path inside the task's folder", key).strip()
    path = PurePosixPath(text)
    odd = path.is_absolute() or ".." in path.parts or "\\" in text or ":" in text.split("/")[0] or not path.parts
    if odd or not text.isprintable():
        raise BadArgument("it leads outside the task's folder", "Write a relative path like src/app.py", key)
    return str(path)


KINDS: Final = (
    Kind(
        "tool_called",
        "tool name",
        "The agent called a tool of exactly this name at least once, whether or not the call succeeded.",
        "search",
        _tool_called,
        needs=frozenset({Need.TOOLS}),
    ),
    Kind(
        "tool_not_called",
        "tool name",
        "The agent never called a tool of exactly this name.",
        "delete_branch",
        _tool_not_called,
        needs=frozenset({Need.TOOLS}),
        shape_only=True,
    ),
    Kind(
        "file_state",
        "object with `path` and one of `exists`, `equals`, `contains`, `not_contains`, `matches`",
        "When the agent is done, the file at this path in its working folder is there or not (`exists`: true or "
        "false), is this text (`equals`; line ends and closing line feeds are not counted), contains a text, is there "
        "and does not (`contains`, `not_contains`), or is matched by a pattern (`matches`, see `regex`). Bytes that "
        "are no UTF-8 are read as replacement characters.",
        {"path": "CHANGELOG.md", "contains": "## [Unreleased]"},
        _file_state,
        needs=frozenset({Need.FILES}),
    ),
)
