"""The agent over any model: a skill as system message, one answer a prompt, or a loop of tools in the sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep import sandbox
from skillopt_sleep.agents.chat import OURS, ChatAgent, ChatSettings, Offer, Workshop, read_answer
from skillopt_sleep.agents.chat.in_words import heard
from skillopt_sleep.agents.chat.tools import MOST_SHOWN, inside, put
from skillopt_sleep.budget import Usage
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.errors import SandboxUnavailable, UsageError
from skillopt_sleep.models.base import CallFailed
from skillopt_sleep.models.conversing import Conversation, Said, Sampling, ToolCall
from skillopt_sleep.redact import Redacted, Redactor

SKILL = Skill("Say it in one line.\n")
TASK = Task("t1", "Is the depot open?")
FOLDER = Offer(folder=True)
Answers = Said | CallFailed


@dataclass
class Scripted:
    """A model that says what it is told to, in turn, the last one for ever, and keeps what it was asked."""

    answers: tuple[Answers, ...]
    functions: bool = True
    model: str = "scripted"
    where: str = "here"
    asked: list[tuple[Conversation, Sampling]] = field(default_factory=list)

    def converse(self, asked: Conversation, sampling: Sampling) -> Said:
        self.asked.append((asked, sampling))
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, CallFailed):
            raise answer
        return answer

    @property
    def results(self) -> list[str]:
        """What the calls of the last answers came to, in order."""
        return [one.text for turn in self.asked[-1][0].turns for one in turn.results]


def said(text: str, *calls: tuple[str, Mapping[str, object] | None]) -> Said:
    made = tuple(ToolCall(f"c{n}", name, given) for n, (name, given) in enumerate(calls))
    return Said(text, Usage(20, 2), written=text, calls=made, message={"role": "assistant", "content": text})


def short(_task: Task, answer: Answer) -> Score | Missing:
    return Score(float(len(answer.text) < 10), 0.5, () if len(answer.text) < 10 else ("too long",))


def attempted(
    model: Scripted, settings: ChatSettings | None = None, draw: int = 3, **parts: Any
) -> Trajectory | Missing:
    (one,) = ChatAgent(model, parts.pop("judge", short), settings, **parts).attempt([TASK], SKILL, [draw])
    return one


def test_an_answer_is_judged_and_its_cost_is_kept() -> None:
    model = Scripted((said("Yes."),))
    one = attempted(model)
    assert isinstance(one, Trajectory)
    assert (one.score.hard, one.transcript, one.loaded) == (1.0, "Yes.", SKILL.digest)
    assert one.score.objectives == {"tokens": 2.0, "tool_calls": 0.0}
    asked, sampling = model.asked[0]
    assert (asked.system, asked.request, asked.tools) == ("Say it in one line.", "Is the depot open?", ())
    assert (sampling.max_output, sampling.temperature) == (400, 0.7)


def test_a_failed_call_is_missing_and_a_cut_answer_is_an_answer_where_it_may_be() -> None:
    assert attempted(Scripted((CallFailed("no connection"),))) == Missing("no connection")
    long = Scripted((Said("On and on and on", None, truncated=True),))
    cut = attempted(long)
    assert isinstance(cut, Trajectory)
    assert cut.score.failed == ("too long",)
    assert attempted(long, ChatSettings(cut_counts=False)) == Missing("the answer was cut off")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Said("", None), "the answer was empty"),
        (Said("I will not.", None, refused=True), "an answer was refused"),
        (Said("x" * 20_000, None), "the answer was longer than was asked for"),
    ],
)
def test_what_is_no_answer_is_missing(answer: Said, why: str) -> None:
    assert attempted(Scripted((answer,))) == Missing(why)


def test_what_cannot_be_judged_is_missing() -> None:
    agent = ChatAgent(Scripted((said("Yes."),)), lambda _task, _answer: Missing("nobody can tell"))
    assert agent.attempt([TASK], SKILL, [0]) == [Missing("nobody can tell")]


def test_draws_have_seeds_of_their_own_and_both_texts_of_a_pair_the_same() -> None:
    model = Scripted((said("Yes."),))
    agent = ChatAgent(model, short)
    agent.attempt([TASK, TASK], SKILL, [1, 2])
    agent.attempt([TASK], Skill("Another text."), [1])
    seeds = [sampling.seed for _, sampling in model.asked]
    assert seeds[0] != seeds[1]
    assert seeds[0] == seeds[2]
    assert agent.deterministic is False
    assert ChatAgent(model, short, ChatSettings(temperature=0)).deterministic


def test_offered_tools_are_called_by_a_line_and_others_are_not() -> None:
    model = Scripted((said("CALL rota: sundays\nYes."),))
    one = attempted(model, ChatSettings(tools=("rota", "map")))
    assert isinstance(one, Trajectory)
    assert one.score.objectives["tool_calls"] == 1
    assert model.asked[0][0].system.startswith("Tools: rota, map\n")
    assert model.asked[0][0].system.endswith("Say it in one line.")
    assert read_answer("CALL rota: sundays\nYes.", ("rota",)) == Answer("Yes.", ("rota",))
    assert read_answer("- `CALL rota`\nYes.", ("rota",)).tools == ()
    assert read_answer("> CALL rota\nCALL map: x\nYes.", ("rota", "map")).tools == ("rota", "map")
    assert read_answer("CALL shell: ls\nYes.", ("rota",)) == Answer("CALL shell: ls\nYes.", ())
    assert read_answer("I would CALL rota: x if I could.", ("rota",)).tools == ()


def test_nothing_leaves_that_was_not_cleaned() -> None:
    model = Scripted((said("Yes."),))
    attempted(model, clean=lambda text: Redacted(text.replace("depot", "[x]").replace("line", "[y]")))
    asked, _ = model.asked[0]
    assert (asked.system, asked.request) == ("Say it in one [y].", "Is the [x] open?")


@pytest.fixture(scope="session")
def walls() -> sandbox.Sandbox:
    with suppress(SandboxUnavailable):
        return sandbox.find()
    pytest.skip("no sandbox works here")


def workshop(walls: sandbox.Sandbox, offer: Offer = FOLDER, files: Mapping[str, str] = {}) -> Workshop:
    def lay_out(_: Task, folder: Path) -> None:
        for name, text in files.items():
            (folder / name).write_text(text)

    return Workshop(walls, lay_out, lambda _: offer)


def kept(into: dict[str, object]) -> Callable[[Task, Answer], Score]:
    """A judge that keeps what it saw of the folder, while it is there."""

    def judge(_: Task, answer: Answer) -> Score:
        into.update({"text": answer.text, "tools": answer.tools})
        if answer.files is not None:
            into["files"] = {name: answer.files[name].decode() for name in answer.files}
        return Score(1, 1)

    return judge


def test_a_loop_of_tools_works_in_the_tasks_folder_and_what_it_leaves_is_judged(walls: sandbox.Sandbox) -> None:
    model = Scripted(
        (
            said("Let me look.", ("read", {"path": "in.txt"})),
            said("", ("shell", {"command": "tr a-z A-Z < in.txt > out.txt; echo done; exit 3"}),
                 ("write", {"path": "notes/a.md", "content": "# Notes\n"})),
            said("It is done."),
        )
    )  # fmt: skip
    seen: dict[str, object] = {}
    one = attempted(model, judge=kept(seen), workshop=workshop(walls, files={"in.txt": "hello\n"}))
    assert isinstance(one, Trajectory)
    assert model.results == ["hello\n", "done\n[exit status 3]", "Written."]
    assert seen == {
        "text": "It is done.",
        "tools": ("read", "shell", "write"),
        "files": {"in.txt": "hello\n", "out.txt": "HELLO\n", "notes/a.md": "# Notes\n"},
    }
    objectives = dict(one.score.objectives)
    assert objectives.pop("seconds") > 0
    assert objectives == {"tokens": 6.0, "tool_calls": 3.0, "tool_errors": 1.0}
    assert one.transcript.splitlines() == [
        "Let me look.",
        '[called read] {"path": "in.txt"}',
        "[ok] hello",
        '[called shell] {"command": "tr a-z A-Z < in.txt > out.txt; echo done; exit 3"}',
        "[error] done [exit status 3]",
        '[called write] {"path": "notes/a.md", "content": "# Notes\\n"}',
        "[ok] Written.",
        "It is done.",
    ]
    assert [len(asked.turns) for asked, _ in model.asked] == [0, 1, 2]


def test_a_model_without_functions_calls_tools_in_words(walls: sandbox.Sandbox) -> None:
    model = Scripted(
        (
            said("CALL write\nplan.md\n```\n# Plan\n\nCALL it a day.\n```"),
            said("I look at it.\nCALL shell: cat plan.md | wc -l"),
            said("Three lines."),
        ),
        functions=False,
    )
    seen: dict[str, object] = {}
    one = attempted(model, judge=kept(seen), workshop=workshop(walls))
    assert isinstance(one, Trajectory)
    assert seen["tools"] == ("write", "shell")
    assert seen["files"] == {"plan.md": "# Plan\n\nCALL it a day."}
    assert seen["text"] == "Three lines."
    first, last = model.asked[0][0], model.asked[-1][0]
    assert first.tools == ()
    assert "CALL shell\n(command)" in first.system
    assert first.system.endswith("Say it in one line.")
    assert [turn.text for turn in last.turns] == ["write:\nWritten.", "shell:\n2\n[exit status 0]"]


@pytest.mark.parametrize(
    ("text", "name", "given"),
    [
        ("CALL write out.txt HELLO there", "write", {"path": "out.txt", "content": "HELLO there"}),
        ("CALL write: out.txt\nHELLO\n", "write", {"path": "out.txt", "content": "HELLO"}),
        ("CALL read note.txt\nThe city is in it.", "read", {"path": "note.txt"}),
        ("`CALL shell` ls -l\nwc -l x", "shell", {"command": "ls -l\nwc -l x"}),
        ("CALL shell\n```sh\nls\n```", "shell", {"command": "ls"}),
    ],
)
def test_a_call_in_words_is_read_as_small_models_write_it(text: str, name: str, given: dict[str, str]) -> None:
    (call,) = heard(said(text), OURS).calls
    assert (call.name, call.arguments) == (name, given)


def test_words_that_only_speak_of_a_tool_call_none() -> None:
    for text in ("You may CALL shell for it.", "CALL rm x", "CALL shelling"):
        assert heard(said(text), OURS).calls == ()


def test_calls_that_make_no_sense_are_answered_and_no_tool_of_ours_runs(walls: sandbox.Sandbox) -> None:
    model = Scripted(
        (
            said("", ("shell", None), ("shell", {"cmd": "id"}), ("rm", {"path": "/"}), ("read", {"path": 7}),
                 ("read", {"path": "../../etc/passwd"}), ("read", {"path": "/etc/passwd"}), ("read", {"path": "gone"})),
            said("Well."),
        )
    )  # fmt: skip
    one = attempted(model, workshop=workshop(walls))
    assert isinstance(one, Trajectory)
    assert model.results == [
        "Its arguments are an object with command, each a text.",
        "Its arguments are an object with command, each a text.",
        "There is no tool 'rm'.",
        "Its arguments are an object with path, each a text.",
        "It could not be done: the path leads out of the working folder.",
        "It could not be done: the path leads out of the working folder.",
        "There is no such file.",
    ]
    assert one.score.objectives["tool_errors"] == 7


def test_a_hostile_command_reaches_neither_files_nor_network_nor_a_later_command(
    walls: sandbox.Sandbox, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the person's own words")
    model = Scripted(
        (
            said("", ("shell", {"command": f"cat {secret}; ls {tmp_path.parent}; cat /proc/net/dev | wc -l; "
                                           "(setsid sleep 60 >/dev/null 2>&1 &); echo $HOME; env"})),
            said("", ("shell", {"command": f"ln -s {secret} link; mkdir d; ln -s / d/root; "
                                           "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 6[0]'"})),
            said("", ("read", {"path": "link"}), ("write", {"path": "link", "content": "x"}),
                 ("write", {"path": f"d/root{tmp_path}/new.txt", "content": "x"})),
            said("Well."),
        )
    )  # fmt: skip
    one = attempted(model, workshop=workshop(walls))
    assert isinstance(one, Trajectory)
    first, second, *files = model.results
    assert "own words" not in "".join(model.results)
    assert "No such file or directory" in first
    assert first.startswith("3\n/tmp/home\n"), "of the network two headings and the loopback; no home of ours"
    assert "KEY" not in first
    assert second.startswith("0\n"), "what a command started is dead when the next one begins"
    assert files[0] == "There is no such file."
    assert all(one.startswith("It could not be done") for one in files[1:])
    assert secret.read_text() == "the person's own words"
    assert not (tmp_path / "new.txt").exists()


def test_a_fork_bomb_ends_within_its_limits_and_the_attempt_goes_on(walls: sandbox.Sandbox) -> None:
    bomb = "bomb() { bomb | bomb & }; bomb; sleep 30"
    model = Scripted(
        (said("", ("shell", {"command": bomb})), said("", ("shell", {"command": "echo alive"})), said("So."))
    )
    one = attempted(model, workshop=workshop(walls))
    assert isinstance(one, Trajectory)
    assert "ended: processes" in model.results[0] or "fork" in model.results[0].lower()
    assert model.results[1] == "alive\n[exit status 0]"


def test_what_a_command_prints_is_capped_and_redacted(walls: sandbox.Sandbox) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    model = Scripted(
        (said("", ("shell", {"command": "yes | head -c 1000000"}), ("shell", {"command": f"echo token={token}"})),
         said("So."))
    )  # fmt: skip
    one = attempted(model, workshop=workshop(walls), clean=Redactor(engine=False).redact)
    assert isinstance(one, Trajectory)
    assert len(model.results[0]) < MOST_SHOWN + 100
    assert "left out" in model.results[0]
    assert token not in json.dumps(model.results)
    assert "[redacted:" in model.results[1]


def test_the_last_turn_may_call_nothing_and_is_the_answer(walls: sandbox.Sandbox) -> None:
    again = said("I go on.", ("shell", {"command": "true"}))
    model = Scripted((again,))
    seen: dict[str, object] = {}
    one = attempted(model, ChatSettings(turns=2), judge=kept(seen), workshop=workshop(walls))
    assert isinstance(one, Trajectory)
    assert [asked.closed for asked, _ in model.asked] == [False, False, True]
    assert seen["tools"] == ("shell", "shell")
    assert seen["text"] == "I go on."
    silent = Scripted((said("", ("shell", {"command": "true"})),))
    assert attempted(silent, ChatSettings(turns=1), workshop=workshop(walls)) == Missing("the answer was empty")


def test_an_attempt_that_is_late_or_fails_half_way_is_missing(walls: sandbox.Sandbox) -> None:
    call = said("", ("shell", {"command": "true"}))
    clock = iter([0.0, 0.0, 700.0])
    late = attempted(Scripted((call,)), workshop=workshop(walls), now=lambda: next(clock))
    assert late == Missing("it was not done within 600 s")
    broken = attempted(Scripted((call, CallFailed("HTTP 500"))), workshop=workshop(walls))
    assert broken == Missing("HTTP 500")


def test_a_folder_that_is_filled_up_is_no_score(walls: sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillopt_sleep.agents.chat.tools.MOST_LEFT", 1000)
    model = Scripted((said("", ("shell", {"command": "head -c 2000 /dev/zero > big"})), said("So.")))
    assert isinstance(attempted(model, workshop=workshop(walls)), Missing)


def test_folders_within_folders_are_no_crash(walls: sandbox.Sandbox) -> None:
    deep = "i=0; while [ $i -lt 1500 ]; do mkdir d && cd -P d; i=$((i+1)); done"
    model = Scripted((said("", ("shell", {"command": deep})), said("So.")))
    found = attempted(model, workshop=workshop(walls))
    assert isinstance(found, Missing)
    assert "folders deep" in found.reason


def test_tools_that_only_have_a_name_are_recorded_and_bring_nothing_back(walls: sandbox.Sandbox) -> None:
    model = Scripted((said("", ("search", {"input": "depot"})), said("Yes.")))
    seen: dict[str, object] = {}
    one = attempted(model, judge=kept(seen), workshop=workshop(walls, Offer(named=("search",))))
    assert isinstance(one, Trajectory)
    assert seen == {"text": "Yes.", "tools": ("search",)}
    assert [tool.name for tool in model.asked[0][0].tools] == ["search"]
    with pytest.raises(UsageError, match="as no model can be offered one"):
        attempted(model, workshop=workshop(walls, Offer(named=("my tool",))))


def test_files_are_written_below_the_folder_alone(tmp_path: Path) -> None:
    folder, beyond = tmp_path / "work", tmp_path / "beyond"
    folder.mkdir()
    beyond.mkdir()
    (folder / "way").symlink_to(beyond)
    (folder / "file").symlink_to(beyond / "x")
    put(folder, "a/b/c.txt", b"1")
    put(folder, "a/b/c.txt", b"")
    assert (folder / "a/b/c.txt").read_bytes() == b""
    for path in ("way/x", "file"):
        with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
            put(folder, path, b"1")
    assert not list(beyond.iterdir())
    assert inside(f"{folder}/a.txt", folder) == "a.txt"
    assert inside("./a/b", folder) == "a/b"
    for path in ("..", "a/../../b", "/etc/passwd", "", ".git/config", "a\0b"):
        with pytest.raises(ValueError, match="leads out"):
            inside(path, folder)
