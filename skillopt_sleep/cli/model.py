"""`model pull`: the open model that needs no key."""

from __future__ import annotations

from typing import Annotated

import typer

from skillopt_sleep.cli.common import Call, app, command

models = typer.Typer(help="The open model that runs on this machine.", rich_markup_mode=None)


@models.callback()
def _whole() -> None:
    """A group also while it has one command."""


@command(models)
def pull(
    call: Call,
    source: Annotated[
        str | None, typer.Option(help="A path or an address, if not its public home.", metavar="S")
    ] = None,
) -> None:
    """Get a small open model (469 MiB), checked against its pinned digest."""
    from skillopt_sleep.cli import modelling

    modelling.pull(call, source)


app.add_typer(models, name="model")
