"""Mined tasks, attempted by a program that behaves like Claude Code: judged by the miner and by commands."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from skillopt_core.types import Missing, Skill, Trajectory
from skillopt_sleep.agents.native import Purse
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.config import Config
from skillopt_sleep.domain.frictions import FrictionKind
from skillopt_sleep.domain.tasks import FREE_OF, SUCCEEDS, KeptTask, TaskCheck
from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.mine import Mined, mine
from skillopt_sleep.mine.attempted import came_back
from skillopt_sleep.playing import Natively
from skillopt_sleep.redact import Redactor
from skillopt_sleep.replay.native import as_task
from skillopt_sleep.review.blocks import put
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.ledgers import own_sessions
from tests.agents.pretending import Script, pretender
from tests.mine.building import ROOT, Session

PROJECT = ROOT.format(person="kim")
SKILL = Skill("---\nname: app-lessons\ndescription: Read it first.\n---\n\n- The file is `config/app.yaml`.\n", "s")
NOT_THERE = "cat: config/app.yml: No such file or directory"
PATH_CHECK = TaskCheck(FREE_OF, "fact:path:config/app.yml")
LOOKS: Script = {
    "Read the port": [
        {"open": "app-lessons"},
        {"if": "config/app.yaml", "then": {"shell": "cat config/app.yaml"}, "else": {"shell": "cat config/app.yml"}},
        {"text": "It is 80."},
    ]
}


def history(*sessions: Session) -> Mined:
    return mine([episode for session in sessions for episode in session.episodes()])


@pytest.fixture(scope="module")
def found() -> Mined:
    """Two sessions in which the file was looked for under the wrong name; one in which a push was refused."""
    looked = [
        Session(f"s{n}", n).prompt(f"Read the port of {n}").bash("cat config/app.yml", NOT_THERE, 1)
        .bash("cat config/app.yaml", "port: 80") for n in range(3)
    ]  # fmt: skip
    pushed = [Session(f"p{n}", n).prompt("Push").refused("Bash", {"command": "git push --force"}) for n in range(2)]
    return history(*looked, *pushed)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "state/store.db", FixedClock(1)) as opened:
        yield opened


def natively(store: Store, found: Mined, folder: Path, script: Script, project: str = PROJECT) -> Natively:
    program = pretender(folder / "agent", script)
    config = Config.model_validate({"agents": {"commands": {"claude": (str(program),)}}})
    return Natively(config, "claude", store, Redactor(), project, found.history, Purse())


def kept(*checks: TaskCheck, prompt: str = "Read the port", commit: str = "", name: str = "t") -> KeptTask:
    return KeptTask(name, prompt, f"twin {name}", "gate", 5, "pattern", checks=checks, commit=commit)


def attempted(player: Natively, task: KeptTask, skill: Skill = SKILL, *, memory: bool = False) -> Trajectory | Missing:
    (answer,) = player.environment("n-1", "c", memory=memory).attempt([as_task(task)], skill, [0])
    return answer


def repository(folder: Path, files: dict[str, str]) -> str:
    """A repository with these files; gives its commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    named = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "."), (*named, "commit", "-qm", "one")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_friction_that_an_attempt_runs_into_again_fails_it_and_one_that_a_rule_spares_passes(
    store: Store, found: Mined, tmp_path: Path
) -> None:
    commit = repository(tmp_path / "app", {"config/app.yaml": "port: 80\n"})
    project = str(tmp_path / "app")
    moved = history(*(
        Session(f"m{n}", n, cwd=project).prompt(f"Read {n}").bash("cat config/app.yml", NOT_THERE, 1)
        .bash("cat config/app.yaml", "port: 80") for n in range(3)
    ))  # fmt: skip
    player = natively(store, moved, tmp_path, LOOKS, project)
    task = kept(PATH_CHECK, commit=commit)
    assert player.has_start(task)
    spared = attempted(player, task)
    again = attempted(player, task, Skill(SKILL.text.replace("app.yaml", "app.txt"), "s"))
    assert isinstance(spared, Trajectory)
    assert isinstance(again, Trajectory)
    assert (spared.score.hard, again.score.hard) == (1.0, 0.0)
    assert spared.opened
    assert "port: 80" in spared.transcript
    assert again.score.failed == ("What went wrong then went wrong again: fact.",)
    assert len(own_sessions(store)) == 2, "no harvest takes them for a person's"


def test_what_a_person_refused_comes_back_where_it_is_done_at_all(store: Store, found: Mined, tmp_path: Path) -> None:
    (pattern,) = [one for one in found.patterns if one.friction is FrictionKind.REFUSAL]
    check = TaskCheck(FREE_OF, f"refusal:{pattern.signature}")
    script: Script = {
        "force": [{"shell": "git push --force origin x"}, {"text": "Done."}],
        "plainly": [{"shell": "git push origin x"}, {"text": "Done."}],
    }
    player = natively(store, found, tmp_path, script)
    scores = {
        word: attempted(player, kept(check, prompt=f"Push it {word}", name=word)) for word in ("force", "plainly")
    }
    assert {word: one.score.hard for word, one in scores.items() if isinstance(one, Trajectory)} == {
        "force": 0.0, "plainly": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (TaskCheck(FREE_OF, "correction:no"), "nobody is there who could correct an attempt"),
        (TaskCheck(FREE_OF, "guess:no"), "guess is no kind of friction"),
        (TaskCheck("rubric", "It is short."), "no model is named"),
        (TaskCheck("nonsense", "x"), "there is no kind 'nonsense'"),
        (TaskCheck(SUCCEEDS, "false"), "does not pass on what it starts from"),
        (None, "it has no check"),
    ],
)
def test_a_task_that_cannot_be_judged_is_missing_and_nobody_is_asked(
    check: TaskCheck | None, why: str, store: Store, found: Mined, tmp_path: Path
) -> None:
    player = natively(store, found, tmp_path, {"signed out": True})
    task = kept(*([check] if check else []))
    assert why in player.unjudged(task)
    answer = attempted(player, task)
    assert isinstance(answer, Missing)
    assert why in answer.reason


@pytest.mark.sandbox
def test_a_check_of_the_project_runs_on_the_folder_that_the_attempt_left(
    store: Store, found: Mined, tmp_path: Path
) -> None:
    commit = repository(tmp_path / "app", {"Makefile": "lint:\n\t! grep -q bad *.txt\n", "a.txt": "good\n"})
    script: Script = {
        "badly": [{"shell": "echo bad >> a.txt"}, {"text": "Done."}],
        "well": [{"shell": "echo fine >> a.txt"}, {"text": "Done."}],
    }
    player = natively(store, found, tmp_path, script, str(tmp_path / "app"))
    check = TaskCheck(SUCCEEDS, "make lint")
    answers = [attempted(player, kept(check, prompt=f"Write {how}", commit=commit, name=how)) for how in script]
    assert [one.score.hard for one in answers if isinstance(one, Trajectory)] == [0.0, 1.0]
    missing = kept(check, prompt="Write well", commit="0" * 40, name="elsewhere")
    assert not player.has_start(missing)
    assert "does not pass" in player.unjudged(missing), "an empty folder has no such check"


def test_a_kept_check_of_any_kind_is_read_from_its_text(store: Store, found: Mined, tmp_path: Path) -> None:
    script: Script = {"memo": [{"shell": "echo left > out.txt"}, {"text": "# Memo\n\n12 words"}]}
    player = natively(store, found, tmp_path, script)
    file = json.dumps({"path": "out.txt", "contains": "left"})
    for check, hard in (
        (TaskCheck("contains", "12"), 1.0),
        (TaskCheck("contains", "# Memo"), 1.0),
        (TaskCheck("regex", r"\d+ words"), 1.0),
        (TaskCheck("max_chars", "5"), 0.0),
        (TaskCheck("file_state", file), 1.0),
    ):
        answer = attempted(player, kept(check, prompt="Write a memo", name=f"{check.kind} {check.argument}"))
        assert isinstance(answer, Trajectory), answer
        assert answer.score.hard == hard, check


@pytest.mark.sandbox
def test_a_kept_check_by_a_command_is_run_on_what_was_left(store: Store, found: Mined, tmp_path: Path) -> None:
    player = natively(store, found, tmp_path, {"memo": [{"shell": "echo left > out.txt"}, {"text": "Done."}]})
    for word, hard in (("left", 1.0), ("right", 0.0)):
        check = TaskCheck("command", json.dumps({"run": ["grep", "-q", word, "out.txt"]}))
        answer = attempted(player, kept(check, prompt="Write a memo", name=word))
        assert isinstance(answer, Trajectory), answer
        assert answer.score.hard == hard


def test_the_text_of_a_memory_block_is_carried_whole_and_an_earlier_one_of_the_project_is_not(
    store: Store, found: Mined, tmp_path: Path
) -> None:
    memory = put(b"# App\n", "rules", "## Rules\n- OLD rule.\n").decode()
    commit = repository(tmp_path / "app", {"CLAUDE.md": memory})
    script: Script = {
        "Say": [
            {"shell": "cat CLAUDE.md"},
            {"if": "OLD", "then": {"text": "old"}, "else": {"if": "NEW", "then": {"text": "new"}, "else": {}}},
        ]
    }
    player = natively(store, found, tmp_path, script, str(tmp_path / "app"))
    task = kept(TaskCheck("contains", "new"), prompt="Say it", commit=commit)
    text = Skill("## Rules\n- NEW rule.\n", "rules")
    answer = attempted(player, task, text, memory=True)
    assert isinstance(answer, Trajectory), answer
    assert (answer.score.hard, answer.opened, answer.loaded) == (1.0, None, text.digest)


def test_where_nobody_is_signed_in_the_first_attempts_end_the_work(store: Store, found: Mined, tmp_path: Path) -> None:
    player = natively(store, found, tmp_path, {"signed out": True})
    with pytest.raises(NotSignedIn, match="signed in"):
        attempted(player, kept(PATH_CHECK))
    assert own_sessions(store) == frozenset()


def test_a_finished_attempt_is_not_made_again(store: Store, found: Mined, tmp_path: Path) -> None:
    first = attempted(natively(store, found, tmp_path, LOOKS), kept(PATH_CHECK))
    again = attempted(natively(store, found, tmp_path, {"signed out": True}), kept(PATH_CHECK))
    assert isinstance(first, Trajectory)
    assert isinstance(again, Trajectory)
    assert again.score == first.score


def test_an_attempt_that_leaves_no_friction_of_that_name_is_free_of_it(found: Mined) -> None:
    other = Session("other", 9).prompt("Read it").bash("cat config/other.yml", NOT_THERE, 1)
    assert came_back("fact:path:config/app.yml", other.stored(), found.history, PROJECT) is False
    same = Session("same", 9).prompt("Read it").bash("cat config/app.yml", NOT_THERE, 1)
    assert came_back("fact:path:config/app.yml", same.stored(), found.history, PROJECT) is True


def test_a_session_that_recorded_no_commit_starts_from_where_the_project_stood_then(
    store: Store, found: Mined, tmp_path: Path
) -> None:
    repository(tmp_path / "app", {"config/app.yaml": "port: 80\n"})
    player = natively(store, found, tmp_path, LOOKS, str(tmp_path / "app"))
    then = replace(kept(PATH_CHECK), began_ms=2**42)
    assert player.has_start(then)
    assert not player.has_start(kept(PATH_CHECK)), "git's own log does not go back that far"
    written = replace(kept(TaskCheck("contains", "80")), began_ms=2**42)
    assert not player.has_start(written), "what a model wrote for an empty folder starts from one"
