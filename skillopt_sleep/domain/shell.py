"""The reader of shell text: one pass, nothing is run, nothing fails. `commands.split` is the way in."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

MOST_NESTED: Final = 24
"""Levels of `$(…)` that are read; what lies deeper stays text."""

_PLAIN: Final = re.compile(r"[^\s'\"\\$`|&;()<>]+")
_IN_DOUBLE: Final = re.compile(r"[^\"\\$`]+")
ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_OPERATORS: Final = ("&&", "||", ";;", "|&", "|", "&", ";")
_REDIRECTIONS: Final = ("<<<", "<<-", "&>>", "<<", ">>", "&>", ">&", "<&", ">|", "<>", ">", "<")
_OPENERS: Final = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"})
_CLOSERS: Final = frozenset({"fi", "done", "esac", "}"})


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command. `words` are unquoted, never empty; `words[0]` is the program.

    `env` are the assignments before it (`NAME=value`), `cwd` the folder that `cd` in the same text has led to ("" where
    there was none), `joint` the operator before it (`&&`, `||`, `;`, `|`, `&`, "" for the first), `inside` whether it
    stands in a `$(…)`, `stdin` its heredoc, `redirects` pairs of operator and target, `start` and `end` its place.
    """

    words: tuple[str, ...]
    env: tuple[str, ...] = ()
    cwd: str = ""
    joint: str = ""
    inside: bool = False
    stdin: str = ""
    redirects: tuple[tuple[str, str], ...] = ()
    start: int = 0
    end: int = 0

    @property
    def moves(self) -> bool:
        """True for `cd` and its like: they only say where the rest runs."""
        return self.words[0] in {"cd", "pushd", "popd"}


def read(text: str) -> tuple[Simple, ...]:
    """The simple commands of a text as it stands; `bash -c` is not looked into."""
    reader = _Reader(text)
    reader.commands(0)
    return tuple(reader.found)


class _Reader:
    """A cursor over one text. Every step moves it on, so the whole takes linear time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: list[Simple] = []
        self.heredocs: list[tuple[_Draft, str, bool]] = []

    def commands(self, depth: int) -> None:
        """Read a list of commands up to the end of the text, or to the `)` that closes this `$(`."""
        draft = _Draft(self.at)
        folders = [""]
        while self.at < len(self.text):
            draft = self._step(draft, folders, depth)
            if draft.closed:
                break
        self._close(draft, folders, depth)

    def _step(self, draft: _Draft, folders: list[str], depth: int) -> _Draft:
        char = self.text[self.at]
        if char == "\n":
            self.at += 1
            self._read_heredocs()
            return draft if draft.pattern else self._next(draft, folders, depth, ";")
        if char.isspace():
            self.at += 1
            return draft
        if char == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
            return draft
        if char in "()":
            return self._parenthesis(char, draft, folders, depth)
        if self.text.startswith("\\\n", self.at):
            self.at += 2
            return draft
        if (operator := self._starts(_OPERATORS)) and not self._starts(("&>",)):
            self.at += len(operator)
            if draft.pattern:
                return draft
            return draft.take(operator) if draft.tests else self._next(draft, folders, depth, operator)
        if (operator := self._starts(_REDIRECTIONS)) and not self._substitutes(depth):
            self._redirect(draft, operator, depth)
            return draft
        draft.take(self._word(depth))
        draft.end = min(self.at, len(self.text))
        return draft

    def _parenthesis(self, char: str, draft: _Draft, folders: list[str], depth: int) -> _Draft:
        self.at += 1
        if draft.tests:
            return draft.take(char)
        if draft.pattern:  # of a `case`: the words before `)` are no command
            return draft if char == "(" else _Draft(self.at, joint=";", cases=draft.cases)
        if char == "(":
            folders.append(folders[-1])
            return draft
        if len(folders) == 1 and depth:
            draft.closed = True
            return draft
        draft = self._next(draft, folders, depth, ";")
        if len(folders) > 1:
            folders.pop()
        return draft

    def _next(self, draft: _Draft, folders: list[str], depth: int, joint: str) -> _Draft:
        empty = not draft.words and not draft.env
        self._close(draft, folders, depth)
        following = _Draft(self.at, joint=draft.joint if empty and joint == ";" else joint[:2], cases=draft.cases)
        if joint == ";;":
            following.pattern, following.joint = draft.cases > 0, ";"
        return following

    def _close(self, draft: _Draft, folders: list[str], depth: int) -> None:
        if not draft.words:
            return
        simple = draft.simple(folders[-1], inside=depth > 0)
        draft.place = len(self.found)
        self.found.append(simple)
        if simple.words[0] in {"cd", "pushd"} and len(simple.words) > 1 and simple.joint != "|":
            folders[-1] = _into(folders[-1], simple.words[-1])

    def _redirect(self, draft: _Draft, operator: str, depth: int) -> None:
        draft.drop_descriptor(self.at)
        self.at += len(operator)
        self._blanks()
        target = self._word(depth)
        if operator in {"<<", "<<-"}:
            self.heredocs.append((draft, target, operator == "<<-"))
        elif operator == "<<<":
            draft.stdin = target
        else:
            draft.redirects.append((operator, target))
        draft.end = min(self.at, len(self.text))

    def _read_heredocs(self) -> None:
        pending, self.heredocs = self.heredocs, []
        for draft, delimiter, dedent in pending:
            body = self._heredoc(delimiter, dedent)
            draft.stdin = body
            if draft.place is not None:  # it was closed before the line ended: `cat <<EOF | tee x`
                self.found[draft.place] = replace(self.found[draft.place], stdin=body)

    def _heredoc(self, delimiter: str, dedent: bool) -> str:
        begin = self.at
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end]
            last, self.at = self.at, min(end + 1, len(self.text))
            if (line.lstrip("\t") if dedent else line).rstrip() == delimiter:
                self.at = end  # the line's own end still closes the command
                return self.text[begin:last]
        return self.text[begin:]

    def _word(self, depth: int) -> str:
        """One word from here, without its quotes; "" where none stands here."""
        pieces: list[str] = []
        while self.at < len(self.text):
            if run := _PLAIN.match(self.text, self.at):
                pieces.append(run.group())
                self.at = run.end()
            elif not self._piece(pieces, depth):
                break
        return "".join(pieces)

    def _piece(self, pieces: list[str], depth: int) -> bool:
        char = self.text[self.at]
        if char == "'":
            pieces.append(self._upto("'", self.at + 1))
        elif char == '"':
            self.at += 1
            self._double(pieces, depth)
        elif char == "\\":
            if self.text[self.at + 1 : self.at + 2] != "\n":
                pieces.append(self.text[self.at + 1 : self.at + 2])
            self.at += 2
        elif char in "$`":
            pieces.append(self._dollar(depth))
        elif self._substitutes(depth):
            pieces.append(self._nested(2, depth))
        else:
            return False
        return True

    def _double(self, pieces: list[str], depth: int) -> None:
        while self.at < len(self.text):
            char = self.text[self.at]
            if run := _IN_DOUBLE.match(self.text, self.at):
                pieces.append(run.group())
                self.at = run.end()
            elif char == '"':
                self.at += 1
                return
            elif char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                pieces.append("" if following == "\n" else following if following in '"\\$`' else "\\" + following)
                self.at += 2
            else:
                pieces.append(self._dollar(depth))

    def _dollar(self, depth: int) -> str:
        """What a `$` or a backtick begins, as text; commands inside are found on the way."""
        if self.text[self.at] == "`":
            begin = self.at
            script = self._upto("`", self.at + 1)
            self.found.extend(replace(s, inside=True, start=begin, end=self.at) for s in read(script))
            return self.text[begin : self.at]
        if self.text.startswith("$((", self.at):
            return self._balanced("(", ")")
        if self.text.startswith("$(", self.at) and depth < MOST_NESTED:
            return self._nested(2, depth)
        if self.text.startswith("${", self.at):
            return self._balanced("{", "}")
        if self.text.startswith("$'", self.at):
            return self._escaped()
        self.at += 1
        return "$"

    def _nested(self, opening: int, depth: int) -> str:
        begin = self.at
        self.at += opening
        self.commands(depth + 1)
        return self.text[begin : self.at]

    def _balanced(self, opening: str, closing: str) -> str:
        begin = self.at
        self.at += 1
        open_ = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            open_ += (char == opening) - (char == closing)
            if not open_:
                break
        return self.text[begin : self.at]

    def _escaped(self) -> str:
        begin = self.at = self.at + 2
        while self.at < len(self.text) and self.text[self.at] != "'":
            self.at += 2 if self.text[self.at] == "\\" else 1
        content = self.text[begin : self.at]
        self.at += 1
        return content.replace("\\n", "\n").replace("\\t", "\t").replace("\\'", "'")

    def _upto(self, closing: str, begin: int) -> str:
        """The text from `begin` to the next `closing`, which is passed; to the end where there is none."""
        end = self.text.find(closing, begin)
        end = len(self.text) if end < 0 else end
        self.at = min(end + 1, len(self.text))
        return self.text[begin:end]

    def _starts(self, options: Sequence[str]) -> str:
        return next((o for o in options if self.text.startswith(o, self.at)), "")

    def _substitutes(self, depth: int) -> bool:
        return depth < MOST_NESTED and self.text.startswith(("<(", ">("), self.at)

    def _blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1


class _Draft:
    """A simple command while it is read."""

    __slots__ = (
        "cases",
        "closed",
        "end",
        "env",
        "joint",
        "loops",
        "pattern",
        "place",
        "redirects",
        "start",
        "stdin",
        "words",
    )

    def __init__(self, start: int, joint: str = "", cases: int = 0) -> None:
        self.start = start
        self.end = start
        self.joint = joint
        self.cases = cases
        self.loops = False
        self.pattern = False
        self.words: list[str] = []
        self.env: list[str] = []
        self.redirects: list[tuple[str, str]] = []
        self.stdin = ""
        self.closed = False
        self.place: int | None = None

    @property
    def tests(self) -> bool:
        """Inside `[[ … ]]`, where operators are words."""
        return bool(self.words) and self.words[0] == "[[" and self.words[-1] != "]]"

    def drop_descriptor(self, at: int) -> None:
        """The `2` of `2>` is no word of the command."""
        if self.words and self.end == at and self.words[-1].isdigit():
            self.words.pop()

    def take(self, word: str) -> _Draft:
        if self.pattern:
            if word == "esac":
                self.cases, self.pattern = self.cases - 1, False
        elif self.words:
            self.words.append(word)
        elif self.loops or word in _OPENERS or word in _CLOSERS or word == "":
            pass
        elif word in {"for", "select", "case"}:
            self.loops, self.pattern = True, word == "case"
            self.cases += word == "case"
        elif ASSIGNMENT.match(word):
            self.env.append(word)
        else:
            self.words.append(word)
        return self

    def simple(self, cwd: str, *, inside: bool) -> Simple:
        end = max(self.end, self.start)
        fixed = tuple(self.words), tuple(self.env), cwd, self.joint, inside, self.stdin, tuple(self.redirects)
        return Simple(*fixed, start=self.start, end=end)


def _into(folder: str, target: str) -> str:
    """Where `cd target` leads from `folder`; "" where that cannot be told."""
    if target.startswith(("-", "$", "~")):
        return ""
    return posixpath.normpath(posixpath.join(folder, target))
