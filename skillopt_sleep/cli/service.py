"""`schedule` and `daemon`: a night every night."""

from __future__ import annotations

from typing import Annotated

import typer

from skillopt_sleep.cli.common import Call, app, command

schedule = typer.Typer(help="Let the system start a night every night.", rich_markup_mode=None)

Systemd = Annotated[bool, typer.Option("--systemd", help="A systemd user timer.")]
Cron = Annotated[bool, typer.Option("--cron", help="A line in your crontab.")]
Launchd = Annotated[bool, typer.Option("--launchd", help="A launchd agent (macOS).")]
At = Annotated[str | None, typer.Option(help="Time of day.", metavar="HH:MM")]
Print = Annotated[bool, typer.Option("--print", help="Only print what would be written.")]


@command(schedule)
def install(
    call: Call, systemd: Systemd = False, cron: Cron = False, launchd: Launchd = False, at: At = None,
    only_print: Print = False,
) -> None:  # fmt: skip
    """Schedule a night every night."""
    from skillopt_sleep.cli import scheduling

    scheduling.install(call, scheduling.kind_of(systemd=systemd, cron=cron, launchd=launchd), at, only_print=only_print)


@command(schedule)
def remove(call: Call, systemd: Systemd = False, cron: Cron = False, launchd: Launchd = False) -> None:
    """Take the schedule away."""
    from skillopt_sleep.cli import scheduling

    scheduling.remove(call, scheduling.kind_of(systemd=systemd, cron=cron, launchd=launchd))


@command(schedule, name="show")
def show_schedule(call: Call, systemd: Systemd = False, cron: Cron = False, launchd: Launchd = False) -> None:
    """What is scheduled."""
    from skillopt_sleep.cli import scheduling

    scheduling.show(call, scheduling.kind_of(systemd=systemd, cron=cron, launchd=launchd))


app.add_typer(schedule, name="schedule")


@command()
def daemon(call: Call) -> None:
    """Stay, run a night every night, and read new transcripts by day. JSON lines on stdout."""
    from skillopt_sleep.cli import scheduling

    scheduling.daemon(call)
