"""`export`, `verify`, `forget`, `prune`, `backup`: what is kept, for whom, and for how long."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skillopt_sleep.cli.common import Call, command
from skillopt_sleep.errors import UsageError

File = Annotated[Path | None, typer.Argument(metavar="[FILE]", show_default=False, readable=False)]


@command()
def export(
    call: Call,
    path: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, readable=False)],
    proposal: Annotated[list[str] | None, typer.Option(help="Only of this proposal.", metavar="ID")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Evidence for others: figures, decisions and their log, redacted, in one file that `verify` checks."""
    from skillopt_sleep.cli import keeping

    keeping.export(call, path, proposal or (), force=force)


@command()
def verify(call: Call, path: File = None) -> None:
    """Read the whole store and check all that can be checked; or an exported file, with nothing but itself."""
    from skillopt_sleep.cli import keeping

    keeping.verify(call, path)


@command()
def forget(
    call: Call,
    name: Annotated[str | None, typer.Argument(metavar="[SESSION]", show_default=False)] = None,
    match: Annotated[str | None, typer.Option(help="Every place where this stands.", metavar="TEXT")] = None,
) -> None:
    """Forget a session, or a text wherever it stands, and retire what was derived from it."""
    from skillopt_sleep.cli import keeping

    if (name is None) == (match is None):
        raise UsageError("name one session, or a text with --match", remedy="See `skillopt-sleep sessions`")
    if match is not None:
        keeping.forget_text(call, match)
    else:
        keeping.forget_session(call, name or "")


@command()
def prune(
    call: Call,
    older_than: Annotated[
        str | None, typer.Option(help="First forget sessions that ended so long ago.", metavar="WHEN")
    ] = None,
) -> None:
    """Remove what nothing refers to any more, and give its space back."""
    from skillopt_sleep.cli import keeping

    keeping.prune(call, older_than)


@command()
def backup(call: Call, path: File = None) -> None:
    """A consistent copy of the store, also while a night runs."""
    from skillopt_sleep.cli import keeping

    keeping.backup(call, path)
