from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep import log as the_log
from skillopt_sleep.log import FILE, log_unexpected, one_line, open_log
from skillopt_sleep.paths import Home

LOGGER = logging.getLogger("skillopt_sleep.night")


def written(home: Home) -> str:
    return (home.logs / FILE).read_text(encoding="utf-8")


def test_a_record_is_a_sentence_with_its_fields(tmp_path):
    home = Home(tmp_path)
    with open_log(home, scrub=str):
        LOGGER.info("The night of %s began", "Monday", extra={"action": "night_began", "project": "a b", "n": 3})
    (line,) = written(home).splitlines()
    assert line.endswith(
        'Z INFO night: The night of Monday began action=night_began project="a b" n=3'.partition("Z")[2]
    )


def test_log_and_folder_are_the_owners_alone(tmp_path):
    home = Home(tmp_path / "state")
    with open_log(home, scrub=str):
        LOGGER.info("Here", extra={"action": "x"})
    assert stat.S_IMODE(home.logs.stat().st_mode) == 0o700
    assert stat.S_IMODE((home.logs / FILE).stat().st_mode) == 0o600


def test_a_full_file_is_rotated_and_five_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(the_log, "MAX_BYTES", 300)
    home = Home(tmp_path)
    with open_log(home, scrub=str):
        for n in range(60):
            LOGGER.info("Line %d of a log that grows and grows", n, extra={"action": "grow"})
    files = sorted(path.name for path in home.logs.iterdir())
    assert files == [FILE, *(f"{FILE}.{n}" for n in range(1, 6))]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in home.logs.iterdir())


def test_everything_passes_the_scrub_tracebacks_and_fields_too(tmp_path):
    home = Home(tmp_path)
    with open_log(home, scrub=lambda text: text.replace("hunter2", "***")):
        try:
            raise ValueError("the password is hunter2")
        except ValueError:
            LOGGER.exception("Failed with hunter2", extra={"action": "fail", "token": "hunter2"})
    assert "hunter2" not in written(home)
    assert written(home).count("***") >= 3


@given(st.text())
def test_no_text_can_move_a_cursor_or_start_a_line(text):
    shown = one_line(text)
    assert len(shown) == len(text)
    assert len(shown.splitlines()) <= 1
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2066\u200b" for c in shown)


def test_a_message_cannot_forge_a_record(tmp_path):
    home = Home(tmp_path)
    with open_log(home, scrub=str):
        LOGGER.info("said %s", "x\n2026-01-01T00:00:00.000Z INFO night: forged\x1b[2J", extra={"action": "a\nb"})
        LOGGER.info("scrubbed", extra={"action": "x"})
    assert len(written(home).splitlines()) == 2
    assert "\x1b" not in written(home)


def test_a_traceback_is_indented(tmp_path):
    home = Home(tmp_path)
    with open_log(home, scrub=str):
        try:
            raise ValueError("one\n2026-01-01T00:00:00.000Z INFO night: forged")
        except ValueError:
            LOGGER.exception("Failed", extra={"action": "fail"})
    head, *rest = written(home).splitlines()
    assert "Failed" in head
    assert rest
    assert all(line.startswith("    ") for line in rest)


def test_after_the_block_nothing_is_attached(tmp_path):
    with open_log(Home(tmp_path), scrub=str):
        pass
    assert logging.getLogger("skillopt_sleep").handlers == []
    assert logging.getLogger("skillopt_sleep").propagate


def test_a_log_that_cannot_be_written_ends_nothing_and_is_kept(tmp_path):
    home = Home(tmp_path)
    with open_log(home, scrub=str) as file:
        (home.logs / FILE).mkdir()
        LOGGER.info("Nowhere to go", extra={"action": "x"})
    assert isinstance(file.failure, IsADirectoryError)


def test_a_link_in_the_place_of_the_log_is_not_followed(tmp_path):
    home, victim = Home(tmp_path / "state"), tmp_path / "victim"
    home.logs.mkdir(parents=True)
    (home.logs / FILE).symlink_to(victim)
    with open_log(home, scrub=str) as file:
        LOGGER.info("Nowhere to go", extra={"action": "x"})
    assert file.failure is not None
    assert not victim.exists()


@pytest.mark.parametrize("argv", [["run", "--home", "HOME", "--preferences", "secret"], ["run", "--home=HOME"]])
def test_an_unforeseen_error_leaves_its_traceback_without_its_words(tmp_path, argv):
    argv = [word.replace("HOME", str(tmp_path / "state")) for word in argv]
    try:
        try:
            raise KeyError("quoted from a transcript")
        except KeyError as error:
            raise ValueError("secret") from error
    except ValueError as error:
        path = log_unexpected(error, argv, {})
    said = path.read_text(encoding="utf-8")
    assert path == tmp_path / "state" / "logs" / FILE
    assert "command=run" in said
    assert "test_log.py" in said
    assert said.index("KeyError") < said.index("ValueError")
    assert "secret" not in said
    assert "quoted" not in said


def test_without_the_option_the_home_of_the_environment_is_taken(tmp_path):
    assert log_unexpected(ValueError(), [], {"SKILLOPT_HOME": str(tmp_path)}) == Path(tmp_path, "logs", FILE)
