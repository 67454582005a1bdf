"""What is asked of the agents, what the model says to it, and what must be found in their transcripts afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skillopt_harvesters import Kind, Origin, Outcome

Form = Literal["headless", "interactive", "busy"]
"""`busy`: in the terminal too, where the person types while the agent works, and stops it."""
Steps = list[dict[str, Any]]

LOOK = "Find the missing file, please"
AGAIN = "Carry on and tell me what is in it"
TIDY = "Tidy up what is left over"
WHY = "Keep it, the folder holds our release"
ASK = "Let a helper count for you"
HELPER = "Count the lines of a.txt in one go"
REPORT = "Write the report, as short as can be"
WORK = "Work on it for a while"
MEANWHILE = "Also mind the tests"
ENDLESS = "Work on it without an end"
STOP = "Stop that, it takes too long"

ANSWERS = {
    LOOK: "It is not there, but a.txt is.",
    AGAIN: "It holds one, two and three.",
    TIDY: "I was not allowed to do that.",
    WHY: "I keep it as it is.",
    ASK: "The helper says there are three.",
    HELPER: "There are three lines.",
    REPORT: "SUMMARY of it all.",
    WORK: "All the work is done.",
    MEANWHILE: "The tests are minded.",
    ENDLESS: "It has ended.",
    STOP: "It is stopped.",
}
SKILL = "heading-rule"
DESCRIPTION = "Use it when a report is written; says which heading a report needs."
SKILL_TEXT = f"---\nname: {SKILL}\ndescription: {DESCRIPTION}\n---\n\nBegin every report with the heading SUMMARY.\n"
REFUSED = "python3 tidy.py --all"
ESCALATED = {"cmd": REFUSED, "sandbox_permissions": "require_escalated", "justification": "Shall I tidy up?"}


@dataclass(frozen=True)
class Call:
    """A call as it must be found: a part of its arguments, how it ended, a part of what came of it."""

    arguments: str
    outcome: Outcome
    says: str = ""


@dataclass(frozen=True)
class Turn:
    """What was typed, and what came of it. `answer` "" where the agent was stopped before it had one."""

    typed: str
    calls: tuple[Call, ...]
    answer: str
    kind: Kind = Kind.PROMPT


@dataclass(frozen=True)
class Session:
    """A session as it must be found. `helper`: the calls that its sub-agent made."""

    origin: Origin
    turns: tuple[Turn, ...]
    helper: tuple[Call, ...] = ()
    opened: bool = False


def lay_out(work: Path, *, skills: tuple[str, ...]) -> None:
    """The folder in which the agents work."""
    (work / "a.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    for place in skills:
        folder = work / place / SKILL
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL_TEXT, encoding="utf-8")


SKILL_PLACES = (".claude/skills", ".agents/skills")


def script(agent: str) -> dict[str, Steps]:
    """What the model says to each task."""
    steps: dict[str, Steps] = {
        LOOK: [{"shell": "cat no-such-file.txt"}, {"shell": "wc -l a.txt"}],
        AGAIN: [{"shell": "cat a.txt"}],
        TIDY: [{"tool": "exec_command", "arguments": ESCALATED} if agent == "codex" else {"shell": REFUSED}],
        WHY: [{"shell": "wc -c a.txt"}],
        ASK: helped(agent),
        HELPER: [{"shell": "wc -l a.txt"}],
        REPORT: [opening(agent)],
        WORK: [{"shell": f"touch {BEGUN}; until test -e {GO_ON}; do sleep 0.1; done"}],
        MEANWHILE: [{"shell": "wc -c a.txt"}],
        ENDLESS: [{"shell": f"touch {ENDLESSLY}; sleep 300"}],
        STOP: [],
    }
    return {task: [*calls, {"text": ANSWERS[task]}] for task, calls in steps.items()}


def helped(agent: str) -> Steps:
    """How a sub-agent is started, and waited for where that is a call of its own."""
    if agent == "codex":
        spawn = {"tool": "multi_agent_v1.spawn_agent", "arguments": {"message": HELPER}}
        return [spawn, {"tool": "multi_agent_v1.wait_agent", "arguments": {"targets": ["SPAWNED"]}}]
    asked = {"description": "Counts lines", "prompt": HELPER}
    if agent == "claude-code":
        return [{"tool": "Agent", "arguments": {**asked, "subagent_type": "general-purpose"}}]
    return [{"tool": "task", "arguments": {**asked, "agent_type": "task", "name": "counter"}}]


def opening(agent: str) -> dict[str, Any]:
    if agent == "codex":
        return {"shell": f"cat .agents/skills/{SKILL}/SKILL.md"}
    return {"tool": "Skill" if agent == "claude-code" else "skill", "arguments": {"skill": SKILL}}


BEGUN, GO_ON, ENDLESSLY = "begun", "go-on", "endlessly"
"""Files by which a command says that it runs, and is told to end."""


def typed_while_busy(agent: str) -> list[tuple[Kind, str]]:
    """What the person typed, and how it must be found. Codex keeps for the next turn what is typed within one; Claude
    Code writes a stop in the words of a refusal, of which the next prompt is then the reason."""
    meanwhile = Kind.PROMPT if agent == "codex" else Kind.QUEUED
    stop = Kind.REJECTION if agent == "claude-code" else Kind.PROMPT
    return [(Kind.PROMPT, WORK), (meanwhile, MEANWHILE), (Kind.PROMPT, ENDLESS), (stop, STOP)]


def expected(agent: str, form: Form) -> list[Session]:
    """All sessions of a run in one form, in order."""
    look = Turn(LOOK, (Call("cat no-such-file.txt", Outcome.ERROR, "No such file"), OK_LINES), ANSWERS[LOOK])
    again = Turn(AGAIN, (Call("cat a.txt", Outcome.OK, "two"),), ANSWERS[AGAIN])
    report = Turn(REPORT, (Call(SKILL, Outcome.OK),), ANSWERS[REPORT])
    waits = (Call("targets", Outcome.OK, ANSWERS[HELPER]),) if agent == "codex" else ()
    ask = Turn(ASK, (Call(HELPER, Outcome.OK), *waits), ANSWERS[ASK])
    if form == "headless":
        tidy = Turn(TIDY, (Call(REFUSED, Outcome.DENIED),), ANSWERS[TIDY])
        return [
            Session(Origin.HEADLESS, (look, again)),
            Session(Origin.HEADLESS, (tidy,)),
            Session(Origin.HEADLESS, (ask,), helper=(OK_LINES,)),
            Session(Origin.HEADLESS, (report,), opened=True),
        ]
    turns = (look, *refused(agent), ask, report, again)
    return [Session(Origin.INTERACTIVE, turns, helper=(OK_LINES,), opened=True)]


OK_LINES = Call("wc -l a.txt", Outcome.OK, "3 a.txt")


def refused(agent: str) -> tuple[Turn, ...]:
    """A refusal and its reason: Copilot asks for it in its question, to the others the next prompt says it."""
    call = Call(REFUSED, Outcome.REFUSED)
    if agent == "copilot-cli":
        return Turn(TIDY, (call,), ""), Turn(WHY, (), ANSWERS[TIDY], Kind.REJECTION)
    kept = Call("wc -c a.txt", Outcome.OK, "14 a.txt")
    return Turn(TIDY, (call,), ""), Turn(WHY, (kept,), ANSWERS[WHY], Kind.REJECTION)
