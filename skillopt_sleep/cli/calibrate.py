"""`gate aa`, `gate power`, `gate simulate`: what the gate's verdicts are worth."""

from __future__ import annotations

from typing import Annotated

import typer

from skillopt_sleep.cli.common import Call, app, command

gate = typer.Typer(help="What the gate's verdicts are worth.", rich_markup_mode=None)

Repeats = Annotated[
    int | None, typer.Option(min=1, max=20, help="Pairs of attempts on each task; else gate.repeats.", metavar="R")
]


@command(gate)
def aa(
    call: Call,
    clear: Annotated[bool, typer.Option("--clear", help="Let a halted gate go on, with --why.")] = False,
    why: Annotated[str | None, typer.Option(help="What was found and mended; kept.", metavar="TEXT")] = None,
) -> None:
    """How often the gate took a text for better than itself, in past nights with a noisy agent."""
    from skillopt_sleep.cli import calibrating

    if clear:
        calibrating.clear(call, why or "")
    calibrating.aa(call)


@command(gate)
def power(
    call: Call,
    tasks: Annotated[int | None, typer.Option(min=0, max=100_000, help="So many gate tasks.", metavar="N")] = None,
    repeats: Repeats = None,
) -> None:
    """What the present gate tasks could detect, and at what price."""
    from skillopt_sleep.cli import calibrating

    calibrating.power(call, tasks, repeats)


@command(gate)
def simulate(
    call: Call,
    seeds: Annotated[int, typer.Option(min=4, max=20_000, help="Simulated candidates a row.", metavar="N")] = 200,
    tasks_per_night: Annotated[
        int, typer.Option("--tasks-per-night", min=1, max=200, help="New tasks that a night brings.", metavar="N")
    ] = 4,
    nights: Annotated[int, typer.Option(min=1, max=365, help="Longest trial.", metavar="N")] = 60,
    repeats: Repeats = None,
) -> None:
    """What `strict` and `proof` do with edits whose true effect is known. Simulated; nothing is run."""
    from skillopt_sleep.cli import calibrating

    calibrating.simulate(call, seeds, tasks_per_night, nights, repeats)


app.add_typer(gate, name="gate")
