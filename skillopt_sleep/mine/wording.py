"""Small readings of text that all finders share: shapes of messages, words in backticks, kinds of files."""

from __future__ import annotations

import posixpath
import re
from typing import Final


def words(text: str) -> frozenset[str]:
    """A set of words, written as a line of text."""
    return frozenset(text.split())


_QUOTED: Final = re.compile(r"`[^`]*`|\"[^\"]*\"|(?<![\w])'[^']*'(?!\w)|‘[^’]*’|“[^”]*”|«[^»]*»")
_NAMES: Final = re.compile(
    r"\S*(?:[/\\_@#=<>|$]|\.(?=\w))\S*|\b\w*\d\w*\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z]{2,}[a-z]\w*\b|\b[A-Z][a-z]+[A-Z]\w*\b"
    r"|(?<=: )\w+\s*\Z"
)
_WORDS: Final = re.compile(r"[A-Za-z]+(?:-[a-z]+)*'?[a-z]*|_|:")
_LONGEST: Final = 300

MISSING: Final = re.compile(
    r"(?:does not|doesn'?t|did not|didn't) (?:exist|match any)|no such (?:file|dir|path)|\\bENOENT\\b"
    r"|(?:file|path|folder|directory) not found|not found: |cannot find (?:the )?(?:file|path|module|package)"
    r"|could not (?:be found|find (?:file|path))",
    re.IGNORECASE,
)
"""What a tool says of a path that is not there."""
UNKNOWN_FLAG: Final = re.compile(
    r"(?:unknown|unrecogni[sz]ed|illegal|invalid|unsupported|unexpected|undefined|no such)\s+"
    r"(?:shorthand |command[- ]line |long |short )?(?:flag|option|switch|argument)s?\b"
    r"|flag provided but not defined",
    re.IGNORECASE,
)
UNKNOWN_COMMAND: Final = re.compile(
    r"command not found|not recognized as (?:an|the name of)|unknown command", re.IGNORECASE
)
UNREAD: Final = re.compile(
    r"not (?:been |yet )?(?:been )?read\b|modified since|changed (?:on disk )?since|must read", re.IGNORECASE
)


def first_line(text: str) -> str:
    """The first line with anything in it, without the blanks around it, at most 300 characters."""
    return next((line.strip()[:_LONGEST] for line in text.split("\n", 40)[:40] if line.strip()), "")


def shape(line: str) -> str:
    """A message without what varies: quoted parts, paths, numbers and names become `_`. At most twelve words.

    >>> shape("Found 3 matches of 'x' in src/a.py")
    'found _ matches of _ in _'
    """
    plain = _NAMES.sub("_", _QUOTED.sub("_", line[:_LONGEST]))
    words = [w.lower() for w in _WORDS.findall(plain)]
    kept = [w for i, w in enumerate(words) if w != "_" or i == 0 or words[i - 1] != "_"]
    return " ".join(kept[:12]).replace(" :", ":")


def clipped(text: str, longest: int) -> str:
    """One line of the text, cut with an ellipsis."""
    plain = " ".join(re.sub(r"[\x00-\x1f\x7f]+", " ", text[: 4 * longest]).split())
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def code(text: str, longest: int = 60) -> str:
    """The text as an identifier in backticks: one line, no backticks inside, cut with an ellipsis."""
    return f"`{clipped(text.replace('`', ' '), longest)}`"


def ending(path: str) -> str:
    """What tells the kind of a file by its name: `.go`, `.yml`; the whole name where there is no ending.

    >>> ending("a/b.test.ts"), ending("Makefile"), ending(".gitignore")
    ('.ts', 'Makefile', '.gitignore')
    """
    name = posixpath.basename(path)
    stem, dot, end = name.rpartition(".")
    return f".{end}" if dot and stem and end.isalnum() and len(end) <= 8 else name


def stem(path: str) -> str:
    """The path without its ending, to tell `x.yml` and `x.yaml` from other files; "" for a name without ending.

    >>> stem("a/b.yml"), stem("a/b")
    ('a/b', '')
    """
    end = ending(path)
    return path.removesuffix(end) if end.startswith(".") and posixpath.basename(path) != end else ""
