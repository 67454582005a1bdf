"""Questions in a folder, answers beside them: asked together, taken over once, read with care."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from skillopt_core.types import Missing
from skillopt_sleep.errors import AnswersAwaited
from skillopt_sleep.models.handoff import GUIDE, HandedOver, Handoff
from skillopt_sleep.redact import Redacted
from tests.models.ledgers import Replies


def handed(root: Path, replies: Replies | None = None, night: str = "n", redact: object = Redacted) -> HandedOver:
    handoff = Handoff(root / "handoff", "mine", "optimizer")
    return HandedOver(
        handoff, replies or Replies(), night=night, role="optimizer", redact=redact, max_output=20  # type: ignore[arg-type]
    )  # fmt: skip


def questions(root: Path) -> dict[str, Path]:
    """The open questions, each with the path of its answer."""
    found = sorted((root / "handoff").glob("*/*.question.md"))
    return {path.read_text(): path.with_name(path.name.replace(".question.", ".answer.")) for path in found}


def test_all_that_has_no_answer_is_asked_together_and_told(tmp_path: Path) -> None:
    with pytest.raises(AnswersAwaited) as awaited:
        handed(tmp_path)(["one", "two", "one"])
    assert set(questions(tmp_path)) == {"one", "two"}
    error = awaited.value
    assert (error.exit_code, error.message) == (3, "2 questions wait for an answer by your own agent")
    told = error.as_json()["handoff"]
    assert isinstance(told, dict)
    assert sorted(told["questions"]) == sorted(path.name for path in Path(told["folder"]).glob("*.question.md"))
    assert (Path(told["folder"]) / GUIDE).is_file()


def test_the_files_are_the_owners_alone(tmp_path: Path) -> None:
    with pytest.raises(AnswersAwaited):
        handed(tmp_path)(["one"])
    (folder,) = (tmp_path / "handoff").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_what_is_answered_is_taken_over_and_the_rest_is_asked_again(tmp_path: Path) -> None:
    replies = Replies()
    with pytest.raises(AnswersAwaited):
        handed(tmp_path, replies)(["one", "two"])
    questions(tmp_path)["two"].write_text("  the second\n")
    with pytest.raises(AnswersAwaited):
        handed(tmp_path, replies)(["one", "two"])
    assert set(questions(tmp_path)) == {"one"}
    assert list(replies.kept.values()) == ["the second"]
    questions(tmp_path)["one"].write_text("the first")
    assert handed(tmp_path, replies)(["one", "two"]) == ["the first", "the second"]
    assert not (tmp_path / "handoff").exists(), "nothing is left once all is answered"
    assert handed(tmp_path, replies)(["one", "two"]) == ["the first", "the second"]


def test_an_empty_answer_is_none_yet(tmp_path: Path) -> None:
    for text in ("", " \n"):
        with pytest.raises(AnswersAwaited):
            handed(tmp_path)(["one"])
        questions(tmp_path)["one"].write_text(text)
    with pytest.raises(AnswersAwaited):
        handed(tmp_path)(["one"])


def test_an_answer_that_is_too_long_is_missing_and_not_kept(tmp_path: Path) -> None:
    replies = Replies()
    with pytest.raises(AnswersAwaited):
        handed(tmp_path, replies)(["one"])
    questions(tmp_path)["one"].write_text("w" * 1_000_000)
    assert handed(tmp_path, replies)(["one"]) == [Missing("the answer was longer than was asked for")]
    assert not replies.kept


def test_an_answer_is_redacted_before_it_is_kept(tmp_path: Path) -> None:
    replies = Replies()
    hidden = lambda text: Redacted(text.replace("hush", "[redacted]"))  # noqa: E731
    with pytest.raises(AnswersAwaited):
        handed(tmp_path, replies, redact=hidden)(["say hush"])
    assert set(questions(tmp_path)) == {"say [redacted]"}
    questions(tmp_path)["say [redacted]"].write_text("the word is hush")
    assert handed(tmp_path, replies, redact=hidden)(["say hush"]) == ["the word is [redacted]"]
    assert list(replies.kept.values()) == ["the word is [redacted]"]


def test_a_link_a_pipe_or_a_folder_in_an_answers_place_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of another")
    for place in (lambda p: p.symlink_to(tmp_path / "secret"), os.mkfifo, lambda p: p.mkdir()):
        with pytest.raises(AnswersAwaited):
            handed(tmp_path)(["one"])
        answer = questions(tmp_path)["one"]
        place(answer)  # type: ignore[operator]
        with pytest.raises(AnswersAwaited):
            handed(tmp_path)(["one"])
        answer.rmdir() if answer.is_dir() and not answer.is_symlink() else answer.unlink()


def test_an_answer_of_any_bytes_is_text(tmp_path: Path) -> None:
    with pytest.raises(AnswersAwaited):
        handed(tmp_path)(["one \udc80"])
    (answer,) = questions(tmp_path).values()
    answer.write_bytes(b"half \xff\x00 of it")
    (reply,) = handed(tmp_path)(["one \udc80"])
    assert isinstance(reply, str)
    assert reply.startswith("half ")


def test_questions_that_nobody_asks_any_more_go_and_those_of_another_night_stay(tmp_path: Path) -> None:
    for night, prompt in (("n", "old"), ("m", "others"), ("n", "new")):
        with pytest.raises(AnswersAwaited):
            handed(tmp_path, night=night)([prompt])
    assert set(questions(tmp_path)) == {"new", "others"}


def test_a_night_of_any_name_stays_in_the_folder(tmp_path: Path) -> None:
    with pytest.raises(AnswersAwaited):
        handed(tmp_path, night="../../outside")(["one"])
    assert [path.name for path in tmp_path.iterdir()] == ["handoff"]
