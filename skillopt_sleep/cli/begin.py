"""`init`, `doctor`, `config show`: how to begin, and what keeps a night from running."""

from __future__ import annotations

from typing import Annotated

import typer

from skillopt_sleep.cli.common import Call, app, command

configuration = typer.Typer(help="The configuration in force.", rich_markup_mode=None)


@command()
def init(call: Call) -> None:
    """Look for agents and keys, write a commented sleep.toml, say what will be read and sent."""
    from skillopt_sleep.cli import beginning

    beginning.init(call)


@command()
def doctor(
    call: Call,
    as_scheduled: Annotated[bool, typer.Option("--as-scheduled", help="Try it in a scheduler's environment.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Put right what needs no question.")] = False,
) -> None:
    """Preconditions, each with a finding and a remedy."""
    from skillopt_sleep.cli import beginning

    beginning.doctor(call, as_scheduled=as_scheduled, fix=fix)


@command(configuration, name="show")
def show_configuration(call: Call) -> None:
    """Each value with its origin."""
    from skillopt_sleep.cli import beginning

    beginning.show_configuration(call)


app.add_typer(configuration, name="config")
