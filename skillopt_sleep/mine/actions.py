"""Tool calls of all agents as actions: one vocabulary for commands, edits, reads and searches.

Tool names are compared without case, underscores, hyphens and the `copilot_` and `vscode_` in front.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from skillopt_sleep.domain import commands
from skillopt_sleep.domain.episodes import Action, ActionKind, ActionOutcome
from skillopt_sleep.domain.sessions import StoredEvent
from skillopt_sleep.mine.arguments import Arguments
from skillopt_sleep.mine.patches import BEGIN, FileChange, changes
from skillopt_sleep.mine.places import Places

_NAMES: Final = {
    ActionKind.COMMAND: "bash shell shellcommand localshell localshellcall powershell execcommand containerexec "
    "runinterminal runterminalcommand runcommand terminal",
    ActionKind.EDIT: "edit multiedit notebookedit strreplace strreplaceeditor replacestringinfile replacestring "
    "multireplacestringinfile multireplacestring insert inserteditintofile insertedit editfiles editfile "
    "editfileinternal editnotebook editnotebookfile applypatch",
    ActionKind.WRITE: "write create createfile writefile",
    ActionKind.READ: "read view readfile viewimage notebookread getnotebooksummary",
    ActionKind.SEARCH: "grep rg grepsearch grepfiles findtextinfiles searchincode codebase semanticsearch "
    "searchcodebase",
    ActionKind.LIST: "glob ls listdir listdirectory filesearch findfiles",
}
_KINDS: Final = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_EDITOR: Final = {"view": ActionKind.READ, "create": ActionKind.WRITE}

_COMMAND: Final = ("command", "cmd", "script")
_PATH: Final = [
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "filepath",
    "target_file",
    "file",
    "uri",
    "dirPath",
    "dir_path",
    "directory",
]
_NEW: Final = [
    "new_string",
    "new_str",
    "newString",
    "content",
    "file_text",
    "code",
    "new_source",
    "insert_text",
    "contents",
]
_OLD: Final = ["old_string", "old_str", "oldString"]
_PATTERN: Final = ("pattern", "query", "regex", "glob")

_PREFIX: Final = re.compile(r"^(?:copilot|vscode|functions?)[_.-]", re.IGNORECASE)
_NOTHING: Final = re.compile(
    r"(?:no|0|zero)\s+(?:\w+\s+){0,2}(?:found|match(?:es)?|results?|files?)\b|found\s+(?:0|no)\b|nothing found",
    re.IGNORECASE,
)
_SEARCHERS: Final = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "ls"})
_EXIT: Final = re.compile(r"\A\s*(?:Exit code|exit status|Process exited with code)[: ]+\d+\s*", re.IGNORECASE)
_TAG: Final = re.compile(r"</?tool_use_error>|</?error>")


@dataclass(frozen=True, slots=True)
class Said:
    """The person's words on a refused call, and the row in which they stand."""

    text: str = ""
    event: int | None = None


def kind_of(tool: str) -> ActionKind:
    """What a tool does, by its name in any of the four agents."""
    return _KINDS.get(re.sub(r"[_\-. ]", "", _PREFIX.sub("", tool)).lower(), ActionKind.OTHER)


def own_words(text: str) -> str:
    """A tool's own message: without the exit line and the harness's tags around it."""
    return _TAG.sub("", _EXIT.sub("", text, count=1)).strip("\n")


def actions_of(event: StoredEvent, places: Places, tokens: int = 0, said: Said | None = None) -> tuple[Action, ...]:
    """One call as its actions: one, or one a file where the call is a patch. `tokens` is shared among them."""
    given = Arguments(event.arguments)
    drafts = list(_patched(event, given, places)) or [_plain(event, given, places)]
    own = max(tokens, len(event.arguments) // 4)
    said = said or Said()
    names = tuple(map(sys.intern, map(str, given.whole)))
    return tuple(replace(_finished(event, draft, own // len(drafts), said), given=names) for draft in drafts)


@dataclass(frozen=True, slots=True)
class _Draft:
    kind: ActionKind
    command: str = ""
    paths: tuple[str, ...] = ()
    new: str = ""
    old: str = ""
    pattern: str = ""


def _finished(event: StoredEvent, draft: _Draft, tokens: int, said: Said) -> Action:
    outcome = ActionOutcome(event.outcome) if event.outcome in set(ActionOutcome) else ActionOutcome.OPEN
    output = own_words(event.text) or own_words(event.head)
    return Action(
        id=event.id,
        seq=event.seq,
        kind=draft.kind,
        tool=event.tool,
        outcome=outcome,
        at_ms=event.at_ms,
        command=draft.command,
        paths=draft.paths,
        new=draft.new,
        old=draft.old,
        pattern=draft.pattern,
        output=output,
        empty=_found_nothing(draft, outcome, output),
        said=said.text if outcome is ActionOutcome.REFUSED else "",
        said_event=said.event if outcome is ActionOutcome.REFUSED else None,
        tokens=tokens,
    )


def _patched(event: StoredEvent, given: Arguments, places: Places) -> Iterator[_Draft]:
    kind = kind_of(event.tool)
    if kind not in {ActionKind.EDIT, ActionKind.COMMAND}:
        return
    texts = [*given.all(("input", "patch", *_COMMAND)), *given.all(map(str, range(8)))]
    text = next((t for t in texts if BEGIN in t), "")
    for change in changes(text[text.index(BEGIN) :]) if text else ():
        yield _of_change(change, places)


def _of_change(change: FileChange, places: Places) -> _Draft:
    kind = ActionKind.WRITE if change.change == "Add" else ActionKind.EDIT
    return _Draft(kind, paths=(places.relative(change.path),), new=change.new, old=change.old)


def _plain(event: StoredEvent, given: Arguments, places: Places) -> _Draft:
    kind = kind_of(event.tool)
    if kind is ActionKind.COMMAND:
        return _command(given, places)
    if kind is ActionKind.OTHER:
        return _Draft(kind, paths=_paths(given, places))
    if kind is ActionKind.EDIT:
        kind = _EDITOR.get(given.first(("command",)), kind)
    pattern = given.first(_PATTERN) if kind in {ActionKind.SEARCH, ActionKind.LIST} else ""
    paths = _paths(given, places)
    if kind is ActionKind.LIST:
        pattern = places.relative(pattern)
        paths = paths or tuple(filter(None, [folder_of(pattern)]))
    elif kind is ActionKind.SEARCH and not paths:
        paths = tuple(filter(None, [folder_of(places.relative(given.first(("includePattern", "glob"))))]))
    new = "\n".join(given.all(_NEW)) if kind in {ActionKind.EDIT, ActionKind.WRITE} else ""
    old = "\n".join(given.all(_OLD)) if kind is ActionKind.EDIT else ""
    return _Draft(kind, paths=paths, new=new, old=old, pattern=pattern)


def folder_of(glob: str) -> str:
    """The folder that a glob looks under: what stands before its first wildcard, "" where nothing does."""
    fixed = re.split(r"[*?\[{]", glob, maxsplit=1)[0]
    return fixed.rpartition("/")[0] if fixed != glob else glob


def _paths(given: Arguments, places: Places) -> tuple[str, ...]:
    found = dict.fromkeys(places.relative(p) for p in given.all(_PATH) if p and len(p) < 1024)
    return tuple(found)[:16]


def _command(given: Arguments, places: Places) -> _Draft:
    whole = given.whole.get("command")
    words = [w for w in whole if isinstance(w, str)] if isinstance(whole, list) else []
    text = _of_words(words) if words else given.first(_COMMAND) or given.first(("input",))
    folder = places.relative(given.first(("workdir", "cwd")))
    shell = places.shell(text)
    if folder not in {"", "."} and not folder.startswith(("/", "~")):
        shell = f"cd {shlex.quote(folder)} && {shell}"
    simples = commands.split(shell)
    named = dict.fromkeys(places.relative(p) for s in simples for p in _named(s))
    return _Draft(ActionKind.COMMAND, command=shell, paths=tuple(named)[:32])


def _named(simple: commands.Simple) -> Iterator[str]:
    """The files and folders of a simple command, below the folder that `cd` led to; those with variables left out."""
    targets = [t for operator, t in simple.redirects if "&" not in operator]
    for path in (*commands.paths(simple.words), *targets):
        if path and not path.startswith("/dev/") and not any(c in path for c in ("$", "`", "*", "?", "...")):
            below = simple.cwd and not path.startswith(("/", "~")) and not simple.moves
            yield f"{simple.cwd}/{path}" if below else path


def _of_words(words: list[str]) -> str:
    """`["bash", "-lc", TEXT]` is TEXT; other words are joined so that a shell would read them back."""
    if len(words) == 3 and re.fullmatch(r"-\w*c", words[1]):
        return words[2]
    return shlex.join(words)


def _found_nothing(draft: _Draft, outcome: ActionOutcome, output: str) -> bool:
    first = output.strip().split("\n", 1)[0][:120]
    if draft.kind in {ActionKind.SEARCH, ActionKind.LIST}:
        return outcome is ActionOutcome.OK and (not first or bool(_NOTHING.match(first)))
    if draft.kind is not ActionKind.COMMAND or first or outcome not in {ActionOutcome.OK, ActionOutcome.ERROR}:
        return False
    simples = commands.split(draft.command)
    return any(s.words[0] in _SEARCHERS or commands.head(s.words) == ("git", "grep") for s in simples)
