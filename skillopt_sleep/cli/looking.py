"""`sessions`, `tasks`, `status`, `history`, `show`: what is known and what was done. Nothing is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skillopt_sleep.cli.common import Call, command
from skillopt_sleep.errors import UsageError

ORIGINS = ("interactive", "headless", "subagent", "own", "all")
Id = Annotated[str | None, typer.Argument(metavar="[ID]", show_default=False)]


@command()
def sessions(
    call: Call,
    name: Id = None,
    origin: Annotated[str, typer.Option(help=f"One of {', '.join(ORIGINS)}.", metavar="O")] = "interactive",
) -> None:
    """Harvested sessions, one a line."""
    from skillopt_sleep.cli import listing

    if origin not in ORIGINS:
        raise UsageError(f"unknown origin {origin!r}", where="--origin", remedy=f"Choose from {', '.join(ORIGINS)}")
    listing.sessions(call, name, origin)


@command()
def tasks(
    call: Call,
    name: Id = None,
    export: Annotated[Path | None, typer.Option(help="Write them to a new file.", metavar="FILE")] = None,
    to_import: Annotated[
        Path | None, typer.Option("--import", help="Add the tasks of a file.", metavar="FILE", readable=False)
    ] = None,
    mark_reviewed: Annotated[bool, typer.Option("--mark-reviewed", help="Say that you have read them.")] = False,
) -> None:
    """Patterns and tasks with checks, split and sources."""
    from skillopt_sleep.cli import exchange, listing

    if sum((export is not None, to_import is not None, mark_reviewed)) > 1:
        raise UsageError("--export, --import and --mark-reviewed exclude each other", remedy="Do one at a time")
    if export is not None:
        exchange.export(call, name, export)
    elif to_import is not None:
        exchange.import_(call, to_import)
    else:
        listing.tasks(call, name, mark_reviewed=mark_reviewed)


@command()
def status(call: Call) -> None:
    """What was done, what waits, what was skipped and why."""
    from skillopt_sleep.cli import listing

    listing.status(call)


@command()
def history(call: Call) -> None:
    """The nights so far, the newest first."""
    from skillopt_sleep.cli import listing

    listing.history(call)


@command()
def show(call: Call, name: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Anything by its id: night, session, task, rule, proposal, adoption, trial."""
    from skillopt_sleep.cli import listing

    listing.show(call, name)
