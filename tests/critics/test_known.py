"""What transcripts know."""

from __future__ import annotations

from skillopt_sleep.critics.known import known_from
from skillopt_sleep.critics.lint import unknown
from skillopt_sleep.domain.episodes import Action, ActionKind, ActionOutcome, Episode


def action(tool: str, *given: str, command: str = "", paths: tuple[str, ...] = (), failed: bool = False) -> Action:
    outcome = ActionOutcome.ERROR if failed else ActionOutcome.OK
    return Action(1, 1, ActionKind.OTHER, tool, outcome, command=command, paths=paths, given=given)


EPISODE = Episode(
    "e", "s", "claude-code", "/p", "ann", 0, "do it", 1,
    (
        action("Read", "file_path", paths=("src/a.py",)),
        action("Read", "path", failed=True),
        action("Bash", "command", command="cd x && sudo acme deploy --env=prod ./conf/acme.toml"),
        action("note"),
    ),
)  # fmt: skip


def test_what_was_used_without_an_error_is_known() -> None:
    known = known_from([EPISODE])
    assert known.tools == {"Read": frozenset({"file_path"}), "Bash": frozenset({"command"}), "note": None}
    assert known.programs == {"cd", "acme"}
    assert known.flags == {("acme", "--env")}
    assert known.files is not None
    assert known.files >= {"src/a.py", "conf/acme.toml"}


def test_what_failed_is_not_known() -> None:
    said = [
        str(found) for found in unknown("- Call `Read(path=x)` and run `acme deploy --envs`.", known_from([EPISODE]))
    ]
    assert said == ["parameter `path` (is `file_path` meant?)", "flag `--envs` (is `--env` meant?)"]
