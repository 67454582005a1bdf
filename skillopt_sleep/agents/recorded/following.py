"""A sentence followed over a project's history: to which actions it applies and what that comes to."""

from __future__ import annotations

from collections.abc import Iterator

from skillopt_sleep.agents.recorded import content_rules, path_rules, shell_rules
from skillopt_sleep.agents.recorded.effects import Occurrence
from skillopt_sleep.agents.recorded.history import Project
from skillopt_sleep.domain.sentences import (
    AddFlag,
    AlwaysWrite,
    AskBefore,
    CheckBefore,
    DoNotLookUnder,
    DoNotRun,
    DoNotWrite,
    DropFlag,
    FileIs,
    ReadBeforeEdit,
    RunBefore,
    Said,
    Sentence,
    Use,
)


def follow(project: Project, sentence: Sentence) -> Iterator[Occurrence]:
    """Every action of the project to which the sentence applies. A person's own words apply to none."""
    match sentence:
        case DoNotLookUnder():
            return path_rules.do_not_look_under(project, sentence)
        case FileIs():
            return path_rules.file_is(project, sentence)
        case ReadBeforeEdit():
            return path_rules.read_before_edit(project, sentence)
        case DoNotWrite():
            return content_rules.do_not_write(project, sentence)
        case AlwaysWrite():
            return content_rules.always_write(project, sentence)
        case Said():
            return iter(())
        case _:
            return _follow_shell(project, sentence)


def _follow_shell(
    project: Project, sentence: Use | RunBefore | CheckBefore | DoNotRun | AskBefore | AddFlag | DropFlag
) -> Iterator[Occurrence]:
    match sentence:
        case Use():
            return shell_rules.use(project, sentence)
        case RunBefore():
            return shell_rules.run_before(project, sentence)
        case CheckBefore():
            return shell_rules.check_before(project, sentence)
        case DoNotRun():
            return shell_rules.do_not_run(project, sentence)
        case AskBefore():
            return shell_rules.ask_before(project, sentence)
        case AddFlag():
            return shell_rules.add_flag(project, sentence)
        case DropFlag():
            return shell_rules.drop_flag(project, sentence)
