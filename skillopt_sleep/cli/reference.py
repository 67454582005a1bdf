"""`docs/commands.md`: the help of every command, as it is printed. `python -m skillopt_sleep.cli.reference FILE`."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

from skillopt_sleep.cli.__main__ import run

COMMANDS = (
    "", "init", "run", "harvest", "sessions", "tasks", "review", "adopt", "reject", "rollback", "status", "history",
    "show", "train", "eval", "schedule install", "schedule remove", "schedule show", "daemon", "doctor", "model pull",
    "export", "verify", "forget", "prune", "backup", "gate aa", "gate power", "gate simulate", "config show",
)  # fmt: skip

HEAD = """\
# Commands

What each command says of itself; a test keeps this page equal to `--help`. Every command takes `--json`, `--config`,
`--home`, `-q` and `-v`. Results go to stdout, talk to stderr.

Exit codes: 0 done · 1 the command failed, in one line · 2 wrong use or configuration · 3 finished, but something needs
you · 4 another night is running · 5 the budget stopped it before a first comparison · 130, 143 interrupted, resumable.
"""


def page() -> str:
    """The page's text: a heading and a block of help a command."""
    return HEAD + "".join(f"\n## {name or 'skillopt-sleep'}\n\n```\n{help_of(name)}```\n" for name in COMMANDS)


def help_of(name: str) -> str:
    """What `skillopt-sleep NAME --help` prints on a terminal of 100 columns."""
    kept = {key: os.environ.get(key) for key in ("COLUMNS", "TERMINAL_WIDTH")}
    os.environ["COLUMNS"] = os.environ["TERMINAL_WIDTH"] = "100"
    try:
        with redirect_stdout(io.StringIO()) as out:
            run([*name.split(), "--help"])
    finally:
        for key, value in kept.items():
            os.environ.pop(key)
            if value is not None:
                os.environ[key] = value
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
