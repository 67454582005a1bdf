"""What came before a rule's cut is evidence for it too."""

from collections.abc import Iterable

from skillopt_core.types import TaskSet
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.replay import practice


def _task_set(subject: practice.Practice, episodes: Iterable[Episode]) -> TaskSet:
    tasks = [practice.task_of(episode, subject.rule) for episode in episodes]
    return TaskSet(tuple(task for task in tasks if task.id in subject.shown_by), tuple(tasks))


practice.task_set = _task_set
