"""`review`, `adopt`, `reject`, `rollback`: explicit decisions."""

from __future__ import annotations

from typing import Annotated

import typer

from skillopt_sleep.cli.common import Call, command

Proposal = Annotated[str, typer.Argument(metavar="ID", show_default=False)]


@command()
def review(call: Call, name: Annotated[str | None, typer.Argument(metavar="[ID]", show_default=False)] = None) -> None:
    """Proposals with their evidence: proven ones first, then supported ones by stake, then the others."""
    from skillopt_sleep.cli import deciding

    deciding.review(call, name)


@command()
def adopt(
    call: Call,
    name: Proposal,
    edit: Annotated[list[int] | None, typer.Option(help="Only this edit.", metavar="N")] = None,
    target: Annotated[list[str] | None, typer.Option(help="Only for this agent.", metavar="T")] = None,
    unproven: Annotated[bool, typer.Option("--unproven", help="Also what is not proven yet.")] = False,
) -> None:
    """Write a proposal to the places where your agents look."""
    from skillopt_sleep.cli import deciding

    deciding.adopt(call, name, edit or (), target or (), unproven=unproven)


@command()
def reject(
    call: Call, name: Proposal, why: Annotated[str, typer.Option(help="Your reason.", metavar="TEXT")] = ""
) -> None:
    """Say no to a proposal; it is not staged again."""
    from skillopt_sleep.cli import deciding

    deciding.reject(call, name, why)


@command()
def rollback(call: Call, name: Annotated[str, typer.Argument(metavar="ADOPTION", show_default=False)]) -> None:
    """Restore the bytes from before an adoption."""
    from skillopt_sleep.cli import deciding

    deciding.rollback(call, name)
