"""The agents' command lines as completers: one start a prompt, in rooms of its own, with the login and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from skillopt_sleep.agents.native import LINES, Command, Run, Theirs, program_of, run_plainly
from skillopt_sleep.agents.native.agent import GIVEN
from skillopt_sleep.agents.native.rooms import rooms
from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.models.base import CallFailed, Reply
from skillopt_sleep.models.choice import Part
from skillopt_sleep.models.command_lines import COMMAND_LINES, LONGEST_PROMPT, Spoke, must_know, notes_of
from skillopt_sleep.redact import Redacted

SECONDS: Final = 300.0
OUTPUT: Final = 8 << 20
"""Bytes that are kept of what it says."""


class CommandLineCompleter:
    """One agent's command line with the person's subscription. `seconds` is the deadline of one prompt.

    Its HOME and working folder are empty but for the login, so that no memory, skill, hook, server or project of the
    person's comes in; its standard input is closed; it has no tools that could do anything; and its whole process group
    is ended. Raises `ConfigError` where the program is not there or does not know the effort, `NotSignedIn`.
    """

    def __init__(
        self,
        name: str,
        theirs: Theirs,
        *,
        model: str | None = None,
        effort: str | None = None,
        commands: Mapping[str, Sequence[str]] = {},
        run: Run = run_plainly,
        seconds: float = SECONDS,
    ) -> None:
        self._line, self._login = COMMAND_LINES[name], LINES[name]
        must_know(self._line, effort)
        self.model = model or name
        self.where = self._login.hosts(theirs)[0]
        self._named, self._effort = model, effort
        self._theirs, self._run, self._seconds = theirs, run, seconds
        self._command = program_of(name, commands, theirs)
        if name == "codex":
            self._must_be_signed_in()

    def complete(self, prompt: Redacted, max_output: int) -> Reply:
        """One start, one answer. Raises `CallFailed`, `NotSignedIn`, `ModelError`."""
        text = prompt.replace("\0", "")
        if len(text.encode("utf-8", "surrogatepass")) > LONGEST_PROMPT:
            raise CallFailed("the prompt is too long for a command line", "none")
        with rooms() as room:
            places = {"HOME": str(room.home), "TMPDIR": str(room.temporary), "CLAUDE_CODE_TMPDIR": str(room.temporary)}
            login = self._login.sign_in(self._theirs, room.home)
            said = self._line.argv(text, self._named, self._effort, room.temporary)
            environ = {**self._theirs.named(GIVEN), **login, **self._line.environ(max_output), **places}
            command = Command(
                (*self._command, *said), room.work, room.home, room.temporary, environ, self._seconds, OUTPUT,
                self._login.hosts(self._theirs),
            )  # fmt: skip
            try:
                ended = self._run(command)
            except (OSError, ValueError) as error:
                raise CallFailed(f"it could not be started ({type(error).__name__})", "none") from error
            notes = _notes(room.temporary)
        if ended.late:
            raise CallFailed(f"it was not done within {self._seconds:g} s", "all")
        return self._line.reply(Spoke(ended.status, ended.out, notes), self.where)

    def _must_be_signed_in(self) -> None:
        """Codex tells a refused login in words alone; so it is looked at before anything is asked."""
        with rooms() as room:
            login = self._login.sign_in(self._theirs, room.home)
            signed_in = (room.home / ".codex/auth.json").exists()
        if not signed_in and not any(name.endswith("KEY") for name in login):
            raise NotSignedIn("it is not signed in", where="codex", remedy="Run `codex login`")


def command_line(part: Part, theirs: Theirs, commands: Mapping[str, Sequence[str]]) -> CommandLineCompleter:
    """The command line that plays a role. Raises as `CommandLineCompleter`."""
    return CommandLineCompleter(part.backend, theirs, model=part.model, effort=part.effort, commands=commands)


def _notes(folder: Path) -> str:
    try:
        with notes_of(folder).open("rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        return ""
