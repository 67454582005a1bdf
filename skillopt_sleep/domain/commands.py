"""Shell text cut into its simple commands, without ever running anything.

`split` reads what agents really write: chains, pipes, subshells, `cd X &&` in front, heredocs inside
`"$(cat <<'EOF' …)"`, `bash -lc "…"`. It takes linear time and never fails: text that is cut off or badly quoted is read
to its end as far as it goes. Words come without their quotes; redirections and assignments are set aside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from skillopt_sleep.domain.shell import ASSIGNMENT, Simple, read

__all__ = [
    "PROGRAMS",
    "Simple",
    "bare",
    "canonical",
    "find_run",
    "flags",
    "has_run",
    "head",
    "paths",
    "split",
    "starts_with",
]

_MOST_SHELLS: Final = 3

_SUBCOMMAND: Final = re.compile(r"[a-z][a-z0-9]*(?:[-_:][a-z0-9]+)*\Z")
_SYSTEM: Final = re.compile(r"\A/(?:usr/(?:local/)?)?s?bin/(?=[^/]+\Z)")
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})

_WRAPPERS: Final = {
    "sudo": ("-u", "-g", "-C", "-h", "-p"),
    "env": ("-u", "-C", "-S"),
    "time": ("-f", "-o"),
    "nohup": (),
    "command": (),
    "exec": (),
    "nice": ("-n",),
    "stdbuf": ("-i", "-o", "-e"),
    "xargs": ("-I", "-n", "-P", "-L", "-d", "-s", "-E"),
}
"""Programs that run the command behind them, with those of their options that take a value."""
_GLOBAL_VALUES: Final = {
    "git": ("-C", "-c", "--git-dir", "--work-tree", "--namespace"),
    "npm": ("--prefix", "-C", "-w", "--workspace"),
    "pnpm": ("--dir", "-C", "--filter", "-F"),
    "yarn": ("--cwd",),
    "docker": ("--context", "-H", "--host", "-c"),
    "kubectl": ("-n", "--namespace", "--context"),
    "make": ("-C", "-f", "-j"),
    "go": ("-C",),
    "cargo": ("--manifest-path", "-Z", "--color"),
    "gh": ("-R", "--repo"),
    "uv": ("--project", "--directory"),
}
"""Options before the sub-command that take a value."""
_TWO_DEEP_TEXT: Final = """
npm run, pnpm run, yarn run, bun run, mise run, uv run, uv pip, uv tool, poetry run, pipenv run, hatch run, docker
compose, docker container, docker image, docker volume, docker network, gh pr, gh issue, gh run, gh repo, gh
release, gh workflow, go mod, go tool, go work, git stash, git remote, git worktree, git submodule, git config,
cargo install, kubectl config, az account, aws s3, gcloud compute, terraform state, dotnet tool, npm exec, just run,
rails db, mix ecto
"""
_TWO_DEEP: Final = frozenset(" ".join(pair.split()) for pair in _TWO_DEEP_TEXT.split(","))
_OPERAND_TEXT: Final = """
ls cat head tail grep egrep fgrep rg ag find echo printf cd pushd mkdir rmdir rm cp mv ln touch chmod chown wc sort
uniq cut tr sed awk gawk jq yq diff cmp file stat which type tee less more du df ps kill pkill sleep test [ [[ true
false export unset source . eval read set bash sh zsh python python3 node ruby perl php java pytest tsc eslint ruff
mypy black prettier gofmt goimports shellcheck curl wget tar unzip zip ssh scp rsync basename dirname realpath
readlink seq date xxd od strings tree fd bat npx pnpx bunx tsx ts-node sqlite3 psql open code vim nano man env for
select function case declare local return exit wait trap shift
"""
_OPERAND: Final = frozenset(_OPERAND_TEXT.split())
"""Programs whose first word is an operand, not a sub-command."""
PROGRAMS: Final = _OPERAND | frozenset(_GLOBAL_VALUES) | frozenset(pair.split()[0] for pair in _TWO_DEEP)
"""Programs that are known by name, whatever a history holds."""


def split(command: str) -> tuple[Simple, ...]:
    """The simple commands of a shell text, in order of their place; those inside `$(…)` before the one they serve."""
    return _split(command, 0)


def _split(command: str, shells: int) -> tuple[Simple, ...]:
    found: list[Simple] = []
    for simple in read(command):
        script = _script(simple.words) if shells < _MOST_SHELLS else ""
        inner = _split(script, shells + 1) if script else ()
        found.extend(replace(s, start=simple.start, end=simple.end) for s in inner) if inner else found.append(simple)
    return tuple(found)


def _script(words: Sequence[str]) -> str:
    """The text that `bash -lc TEXT` runs, else ""."""
    plain = bare(words)
    if len(plain) < 3 or plain[0].rpartition("/")[2] not in _SHELLS:
        return ""
    at = next((i for i, w in enumerate(plain[1:], 1) if w.startswith("-") and not w.startswith("--") and "c" in w), 0)
    return plain[at + 1] if at and at + 1 < len(plain) else ""


def bare(words: Sequence[str]) -> tuple[str, ...]:
    """The words without what merely runs them (`sudo`, `timeout 5`, `env A=b`, `xargs`) and without `/usr/bin/`."""
    rest = list(words)
    while rest and (name := _SYSTEM.sub("", rest[0])) in {*_WRAPPERS, "timeout"}:
        after = _behind(rest, _WRAPPERS.get(name, ("-k", "-s")))
        after += name == "timeout" and after < len(rest)
        while after < len(rest) and name in {"env", "sudo"} and ASSIGNMENT.match(rest[after]):
            after += 1
        if after >= len(rest):
            break
        rest = rest[after:]
    if rest:
        rest[0] = _SYSTEM.sub("", rest[0])
    return tuple(rest)


def _behind(words: Sequence[str], valued: Sequence[str]) -> int:
    """The place of the first word after the options that follow `words[0]`."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in valued else 1
    return at


def canonical(words: Sequence[str]) -> tuple[str, ...]:
    """`bare` words without the options that stand before a sub-command: `git -C x commit` is `git commit`."""
    plain = bare(words)
    if not plain or plain[0] not in _GLOBAL_VALUES:
        return plain
    return plain[:1] + plain[_behind(plain, _GLOBAL_VALUES[plain[0]]) :]


def head(words: Sequence[str]) -> tuple[str, ...]:
    """Program and sub-command: `("go", "test")`, `("npm", "run", "build")`, `("python", "-m", "pytest")`, `("ls",)`."""
    plain = canonical(words)
    if not plain:
        return ()
    if plain[0].startswith("python") and plain[1:2] == ("-m",):
        return plain[:3]
    if plain[0] in _OPERAND or len(plain) < 2 or not _SUBCOMMAND.match(plain[1]):
        return plain[:1]
    deep = " ".join(plain[:2]) in _TWO_DEEP and len(plain) > 2 and not plain[2].startswith("-")
    return plain[: 3 if deep else 2]


def flags(words: Sequence[str]) -> tuple[str, ...]:
    """The names of the options, without values: `--name` of `--name=x`; nothing after a bare `--`."""
    plain = bare(words)[1:]
    upto = plain.index("--") if "--" in plain else len(plain)
    return tuple(w.split("=", 1)[0] for w in plain[:upto] if w.startswith("-") and len(w) > 1)


_FILE_NAME: Final = re.compile(
    r"[\w.@+-]*[\w@+-]\.[A-Za-z][A-Za-z0-9]{0,9}\Z|\.[A-Za-z][\w.-]+\Z|[Mm]akefile\Z|Dockerfile\Z"
)


def paths(words: Sequence[str]) -> tuple[str, ...]:
    """The operands (and values of `--name=x`) that look like files or folders; no addresses, globs or prose."""
    found = (w.split("=", 1)[1] if w.startswith("--") and "=" in w else w for w in bare(words)[1:])
    return tuple(w for w in found if _like_a_path(w))


def _like_a_path(word: str) -> bool:
    if not word or word.startswith("-") or "://" in word or any(c in word for c in " \t\n*?$`|<>(){}[]^,;:'\"\\"):
        return False
    return ("/" in word and word.strip("/") != "") or word in {".", ".."} or bool(_FILE_NAME.match(word))


def starts_with(words: Sequence[str], prefix: Sequence[str]) -> bool:
    """Whether the command, as written or in its canonical form, begins with the words of `prefix`."""
    n, wanted = len(prefix), tuple(prefix)
    return bool(n) and (tuple(words[:n]) == wanted or canonical(words)[:n] == wanted)


def has_run(words: Sequence[str], run: Sequence[str]) -> bool:
    """Whether `run` stands in `words` as whole words, one after the other."""
    return find_run(words, run) >= 0


def find_run(words: Sequence[str], run: Sequence[str]) -> int:
    """The place of the first such run, -1 where there is none."""
    n, wanted = len(run), tuple(run)
    if not n:
        return -1
    return next((i for i in range(len(words) - n + 1) if tuple(words[i : i + n]) == wanted), -1)
