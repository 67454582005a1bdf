"""`skillopt-sleep --help` and `--version`: the one list of commands, and where each lives. Imports nothing heavy.

A command's own module is imported when the command is called, and typer with it: asking what there is costs little
more than a start of the interpreter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "init": ("begin", "Look for agents and keys, write a commented sleep.toml."),
    "run": ("nights", "One night: harvest, mine, replay, evolve, gate, stage, report."),
    "harvest": ("nights", "Read new transcripts into the store, and nothing else."),
    "review": ("morning", "Proposals with their evidence, those to adopt first."),
    "adopt": ("morning", "Write a proposal to the places where your agents look."),
    "reject": ("morning", "Say no to a proposal; it is not staged again."),
    "rollback": ("morning", "Restore the bytes from before an adoption."),
    "status": ("looking", "What was done, what waits, what was skipped and why."),
    "history": ("looking", "The nights so far, the newest first."),
    "show": ("looking", "Anything by its id: night, session, task, rule, proposal ..."),
    "sessions": ("looking", "Harvested sessions, one a line."),
    "tasks": ("looking", "Patterns and tasks with checks, split and sources."),
    "train": ("training", "Train a skill on tasks of your own."),
    "eval": ("training", "Score one skill on tasks, or two in pairs."),
    "schedule": ("service", "Let the system start a night every night."),
    "daemon": ("service", "Stay, run a night every night, read new transcripts by day."),
    "doctor": ("begin", "Preconditions, each with a finding and a remedy."),
    "model": ("model", "Get a small open model that runs on this machine."),
    "export": ("keep", "Evidence for others, in one file that `verify` checks."),
    "verify": ("keep", "Check all of the store, or an exported file."),
    "forget": ("keep", "Forget a session, or a text wherever it stands."),
    "prune": ("keep", "Remove what nothing refers to any more."),
    "backup": ("keep", "A consistent copy of the store."),
    "gate": ("calibrate", "What the gate's verdicts are worth: A/A, power, simulation."),
    "config": ("begin", "The configuration in force, each value with its origin."),
}
"""The module below `skillopt_sleep.cli` and one sentence, by command, in the order in which a newcomer meets them."""

HELP: Final = ("--help", "-h")


def answer(argv: list[str]) -> str | None:
    """What `--help` or `--version` alone prints; None for everything else."""
    if argv and argv[0] in HELP:
        return overview()
    if argv == ["--version"]:
        return f"skillopt-sleep {version()}\n"
    return None


def overview() -> str:
    """The help of the whole, at most 80 columns wide."""
    rows = "".join(f"  {name:<10}{sentence}\n" for name, (_, sentence) in COMMANDS.items())
    return f"""\
Usage: skillopt-sleep COMMAND [OPTIONS]

  Makes coding agents better at your own work while you sleep.

Commands:
{rows}
Every command takes --json, --config FILE, --home DIR, -q, -v and --help.
`skillopt-sleep --version` says which version this is.
"""


def version() -> str:
    """The installed version."""
    from importlib import metadata

    return metadata.version("skillopt-sleep")


def wrong(argv: list[str]) -> tuple[str, str] | None:
    """What is wrong with the first word, and what would be right; None where it is a command."""
    if not argv:
        return "no command was given", "See `skillopt-sleep --help`"
    first = argv[0]
    if first in COMMANDS:
        return None
    if first.startswith("-"):
        return f"{first!r} is no option here", "Options come after the command: skillopt-sleep COMMAND [OPTIONS]"
    import difflib

    near = difflib.get_close_matches(first, COMMANDS, n=1)
    meant = f"Did you mean `skillopt-sleep {near[0]}`?" if near else "See `skillopt-sleep --help`"
    return f"there is no command {first!r}", meant
