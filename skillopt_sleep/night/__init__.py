"""One night, in the order of the idea. Read `sleep` first; what it calls is in the modules beside it."""

from __future__ import annotations

from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.domain.world import World
from skillopt_sleep.night.journal import opened
from skillopt_sleep.night.work import Night

__all__ = ["sleep"]


def sleep(world: World) -> NightReport:
    """One night: read what happened, practise, leave proposals.

    Live skills are never touched unless auto-adoption was asked for. A night killed anywhere goes on where it was.
    Raises `NightLocked`, and at the end the first error of a skill, if any failed.
    """
    with opened(world) as journal:
        night = Night(world, journal)
        night.harvest()
        for project in night.projects():  # one code base at a time
            with journal.survives(project.name):
                found = night.mine(project)
                for subject in night.plan(project, found):  # trials first: forward evidence for what was not proven
                    with journal.survives(subject.title):
                        night.practise(project, subject)  # the optimizer and its gate, one rule a fact
                with journal.survives(f"the skill of {project.name}"):
                    night.grow(project)  # with a model and an agent: the skill, on tasks from what the person asked for
                night.stage(project)
                night.watch_adopted(project)
                night.watch_gate(project)
        return night.report()
