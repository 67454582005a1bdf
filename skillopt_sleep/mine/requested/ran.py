"""Which of the commands that a session ran are checks, and how each of them ended.

What a tool said is looked at for one thing alone: whether a check behind a pipe passed. It is never quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from skillopt_sleep.domain import commands
from skillopt_sleep.domain.commands import Simple
from skillopt_sleep.domain.episodes import Action, ActionOutcome
from skillopt_sleep.mine.wording import words

MOST_WORDS: Final = 40
LONGEST_WORD: Final = 300
_REACH: Final = 4
"""Words of a command in which its kind is looked for."""

_CHECKS: Final = re.compile(
    r"(?:py|c|vi)?tests?|unittest|jest|nox|tox|rspec|phpunit|mypy|pyright|ruff|flake8|eslint|tsc|clippy|vet"
    r"|shellcheck|golangci-lint|(?:test|lint|check|typecheck|type-check|build|verify)(?:[:_-][\w:-]+)?"
)
_NO_CHECKS: Final = words(
    "git gh cat ls mkdir rmdir rm cp mv ln echo printf grep egrep rg ag find fd cd pushd touch head tail sed awk less "
    "more wc sort docker podman kubectl terraform ssh scp rsync curl wget open code vim nano kill pkill sleep test [ "
    "true false which type man source . export set pip pip3 tar unzip chmod chown"
)
"""Programs that check nothing, whatever their arguments are called."""
_SHELL_MARKS: Final = re.compile(r"[*?\[\]{}$`~!<>|&;\n\r\x00-\x1f]")
"""What a shell would have read in a word, or may have: words come without their quotes."""
_WATCHES: Final = words("--watch -w --watchAll --watch-all --ui --serve watch serve start dev")
_UNTOLD: Final = re.compile(r"(?<![&>])&(?![&>\d])|(?:\A|[;&|({]|\bif|\bwhile|\buntil)\s*!\s")
"""What is run beside the rest, or whose status is turned round."""
_LAST_LINES: Final = words("tail head")
_PASSED: Final = re.compile(
    r"\b\d+ pass(?:ed|ing)\b|^ok\s|\bOK$|\btest result: ok\b|\b0 errors\b|^PASS\b|no (?:issues|problems|errors)",
    re.MULTILINE,
)
_FAILED: Final = re.compile(
    r"\b[1-9]\d* (?:failed|failing|errors?)\b|^FAIL|\bFAILED\b|^E  |Traceback|^error\b|panic:|[Ee]xit (?:code|status)",
    re.MULTILINE,
)


def argv_of(simple: Simple) -> tuple[str, ...] | None:
    """The words of a command that can be run as they are: no assignments, no other folder, nothing for a shell."""
    argv = simple.words
    if simple.env or simple.inside or simple.stdin or written_to(simple) or simple.cwd not in {"", "."}:
        return None
    if len(argv) > MOST_WORDS or any(_odd(word) for word in argv):
        return None
    return argv


def written_to(simple: Simple) -> tuple[str, ...]:
    """The files that its output goes to."""
    aside = {"/dev/null", "/dev/stderr", "/dev/stdout"}
    return tuple(
        target for operator, target in simple.redirects
        if ">" in operator and target not in aside and not (operator.endswith("&") and target.isdigit())
    )  # fmt: skip


def is_check(argv: Sequence[str]) -> bool:
    """Whether a command looks like one that says if the work is good: tests, a linter, a type checker, a build."""
    plain = commands.bare(argv)
    if not plain or PurePosixPath(plain[0]).name in _NO_CHECKS or any(word in _WATCHES for word in plain):
        return False
    return any(_CHECKS.fullmatch(PurePosixPath(word).name) for word in plain[:_REACH])


def _odd(word: str) -> bool:
    above = word.startswith(("/", "~")) or ".." in PurePosixPath(word).parts
    return not word or len(word) > LONGEST_WORD or above or bool(_SHELL_MARKS.search(word)) or not word.isprintable()


def ended(action: Action, parts: Sequence[Simple]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The checks of one shell text with how they ended, each where that can be told.

    In a chain of `&&` that ended well every part did. The status of a pipe is its last command's: there the words of a
    check that passed or failed are looked for. Behind `||`, `;`, `&` and `!` a status says nothing of one part.
    """
    if _UNTOLD.search(action.command):
        return
    chained = all(part.joint in {"", "&&"} for part in parts)
    piped = len(parts) > 1 and all(
        part.joint in {"", "&&"} or (part.joint in {"|", "|&"} and part.words[0] in _LAST_LINES) for part in parts
    )
    for n, part in enumerate(parts):
        argv = argv_of(part)
        if argv is None or not is_check(argv):
            continue
        if chained and action.outcome is ActionOutcome.OK:
            yield argv, True
        elif chained and len(parts) == 1:
            yield argv, False
        elif piped and n == len(parts) - 2:
            if _FAILED.search(action.output):
                yield argv, False
            elif _PASSED.search(action.output) and action.outcome is ActionOutcome.OK:
                yield argv, True
