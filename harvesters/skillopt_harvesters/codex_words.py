"""Which of Codex's user texts a person typed, and how a call ended (transcript-formats.md 2.3, 2.4)."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from skillopt_harvesters.clip import CUT
from skillopt_harvesters.codex_shapes import shell_output
from skillopt_harvesters.glance import GLANCE, QUOTE, Glance, fingerprint, opening, shown, unescaped
from skillopt_harvesters.jsonl import REFUSED
from skillopt_harvesters.model import HEAD, Kind, Outcome

REQUEST = "## My request for Codex:"
IDE = "# Context from my IDE setup:"
OFFER = re.compile(r"^- ([^\s:]+): .*\(file: [^()\n]+\)$", re.MULTILINE)
LOOK = 256
"""Bytes at either end of an output that show how it ended."""
SHELL_JSON = b'"{\\"output\\":\\"'
EXIT_CODE = b'\\"exit_code\\":'
GOOD_CODES = (b"exited with code 0\\n", b"Exit code: 0\\n")
OUTPUT = b"Output:\\n"
INJECTED = {
    "<environment_context>": "environment",
    "<user_instructions>": "instructions",
    "# AGENTS.md instructions for ": "instructions",
    "<INSTRUCTIONS>": "instructions",
    "<turn_aborted>": "abort notice",
    "<subagent_notification>": "sub-agent notice",
    "<plugins>": "plug-ins",
    "<codex_internal_context>": "internal context",
    "<hook_prompt": "hook",
    "<goal_context>": "goal",
    "<permissions instructions>": "instructions",
    "<collaboration_mode>": "instructions",
    "<skills_instructions>": "instructions",
    "<model_switch>": "instructions",
    "<personality_spec>": "instructions",
    "Warning: The maximum number of ": "warning",
    "Warning: apply_patch was requested via ": "warning",
    "Warning: Your account was flagged ": "warning",
}
REFUSALS = ("rejected by user", "rejected by the user", "denied by user", "declined by user")
NOT_RUN = "exec_command failed"
REJECTED = "Rejected("
"""Codex's own rules refuse a command: `CreateProcess { message: "Rejected(…` (seen in 0.171)."""
RULES = (
    "rejected by user approval settings",
    "blocked by policy",
    "forbidden by policy",
    "required by policy",
    "you cannot ask for escalated permissions",
)
FAILURES = (
    "failed in sandbox",
    "execution error:",
    "exec_command failed",
    "failed to parse function arguments",
    "failed to parse ",
    "unsupported call:",
    "unsupported custom tool call:",
    "apply_patch verification failed",
    "tool call error:",
    "Err:",
    "err: ",
    "error:",
    "Error:",
    "unable to ",
    "write_stdin failed",
)

_text = msgspec.json.Decoder(str)


class Words(NamedTuple):
    """A text as classified. `kind` None: nobody typed it, and `why` says what it is."""

    kind: Kind | None
    text: str
    why: str = ""


def classify(text: str) -> Words:
    """One text of a user message."""
    text = text.strip()
    if text.startswith("<user_shell_command>"):
        return Words(Kind.COMMAND, "!" + between(text, "command"))
    if text.startswith("<skill>"):
        return Words(Kind.SKILL, between(text, "name"))
    for marker, why in INJECTED.items():
        if text.startswith(marker):
            return Words(None, "", why)
    if text.startswith("<image") and (text.endswith(("</image>", "/>")) or ("\n" not in text and text.endswith(">"))):
        return Words(None, "", "image")
    if text in ("</image>", ""):
        return Words(None, "", "empty")
    if text.startswith(IDE):
        at = text.rfind(REQUEST)
        text = text[at + len(REQUEST) :].strip() if at >= 0 else ""
        return Words(Kind.PROMPT, text) if text else Words(None, "", "IDE context")
    return Words(Kind.PROMPT, text)


def between(text: str, tag: str) -> str:
    at = text.find(f"<{tag}>")
    if at < 0:
        return ""
    end = text.find(f"</{tag}>", at)
    return text[at + len(tag) + 2 : end if end >= 0 else len(text)].strip()


def offered_skills(text: str) -> list[str]:
    """The names of the skills that a developer message lists for the model (seen in 0.171)."""
    _, found, listed = text.partition("<skills_instructions>")
    return OFFER.findall(listed.partition("</skills_instructions>")[0]) if found else []


class Ending(NamedTuple):
    """How a call ended: its outcome and its own output, without what Codex wrote around it."""

    outcome: Outcome
    text: str


def ending(text: str, verdict: bool | None) -> Ending:
    """How a call ended, from the text of its output. `verdict` is what an event said of it, where one did."""
    head = text[:400]
    if head.startswith('{"output":'):
        try:
            shell = shell_output.decode(text)
        except REFUSED:
            pass
        else:
            return Ending(by_code(shell.metadata.exit_code, verdict), shell.output)
    if any(rule in head for rule in RULES) or (head.startswith(NOT_RUN) and REJECTED in head):
        return Ending(Outcome.DENIED, text)
    if any(refusal in head for refusal in REFUSALS):
        return Ending(Outcome.REFUSED, text)
    if head.startswith("aborted by user"):
        return Ending(Outcome.INTERRUPTED, text)
    if head.startswith(("Exit code:", "Chunk ID:", "Wall time:")):
        if "\naborted by user" in head.partition("Output:\n")[0]:
            return Ending(Outcome.INTERRUPTED, text)
        return Ending(by_code(exit_code(head), verdict), behind(text, "Output:\n"))
    failed = head.startswith(FAILURES)
    return Ending(by_code(1 if failed else None, verdict), text)


def glance_at(raw: msgspec.Raw, verdict: bool | None) -> Glance | None:
    """What is kept of an output that stands raw in its record, a string that is seen to be a success by its first and
    last bytes; None where it must be looked at whole."""
    written = bytes(raw)
    if written[0] != QUOTE:
        return None
    length = len(written)
    if written.startswith(SHELL_JSON):
        at = written.rfind(EXIT_CODE, length - LOOK if length > LOOK else 0)
        if at < 0 or written[at + len(EXIT_CODE) : length].lstrip()[:2] not in (b"0,", b"0}"):
            return None
        head = beginning_of_inner(written)
        if not head:
            inner = opening(memoryview(written), len(SHELL_JSON), GLANCE * 5 // 4)
            head = shown(unescaped(inner.partition('","metadata"')[0].rstrip("\\").encode()), length)
    elif (at := written.find(OUTPUT, 0, LOOK)) > 0 and any(code in written[:at] for code in GOOD_CODES):
        head = shown(opening(memoryview(written), at + len(OUTPUT)), length)
    else:
        outcome, head = ending(opening(memoryview(written)), verdict)
        if outcome is not Outcome.OK:
            return None
        head = shown(head, length)
    return Glance(length - 2, fingerprint(written), head)


def beginning_of_inner(written: bytes) -> str:
    """As `glance.beginning`, of the output inside `SHELL_JSON`, which is written twice over; "" where it is short."""
    blank = written.rfind(b" ", HEAD // 2, HEAD)
    if blank < 0 or len(written) < GLANCE + LOOK:
        return ""
    try:
        return _text.decode(_text.decode(b'"%b"' % written[len(SHELL_JSON) - 2 : blank]) + '"') + CUT
    except REFUSED:
        return ""


def by_code(code: int | None, verdict: bool | None) -> Outcome:
    if code is not None:
        return Outcome.ERROR if code else Outcome.OK
    return Outcome.ERROR if verdict is False else Outcome.OK


def exit_code(head: str) -> int | None:
    """The exit code in the lines before a shell's output."""
    for line in head.partition("Output:\n")[0].split("\n"):
        for before in ("Exit code: ", "Process exited with code "):
            if line.startswith(before) and line[len(before) :].strip().lstrip("-").isdigit():
                return int(line[len(before) :])
    return None


def behind(text: str, marker: str) -> str:
    before, found, after = text.partition(marker)
    return after if found else before


def escalated(arguments: str) -> bool:
    """Whether a call asked to leave the sandbox, which a person has to allow."""
    return '"require_escalated"' in arguments or '"with_escalated_permissions":true' in arguments.replace(" ", "")
