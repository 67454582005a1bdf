"""Bad input gets one line that names where it is, what is wrong and what would be right; nothing is lost (cli.md)."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Result

HARVEST = {"files", "bytes", "seconds", "sessions", "skipped", "warnings", "unreadable", "pending"}


def one_line(found: Result, code: int) -> str:
    """The error's line; a traceback, a second line or a result beside it is none."""
    assert found.code == code, found.err
    assert "Traceback" not in found.err
    lines = [line for line in found.err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, found.err
    return lines[0].removeprefix("error: ")


def error_of(found: Result, code: int) -> dict[str, str]:
    """The error document."""
    assert found.code == code, found.err
    assert "error: " not in found.err
    document = found.document
    assert document["format"] == 1
    assert set(document["error"]) == {"code", "message", "where", "remedy"}
    error: dict[str, str] = document["error"]
    return error


def content(folder: Path) -> Mapping[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


MISUSE = {
    "frob": "there is no command 'frob'. See `skillopt-sleep --help`",
    "statsu": "there is no command 'statsu'. Did you mean `skillopt-sleep status`?",
    "--quiet status": "'--quiet' is no option here. Options come after the command: skillopt-sleep COMMAND [OPTIONS]",
    "run --frob": "No such option: --frob. See `skillopt-sleep run --help`",
    "run --backend nonsense": "--backend: \"nonsense\" should be 'auto', 'recorded', ",
    "run --gate nonsense": "--gate: \"nonsense\" should be 'proof', 'strict' or 'off'",
    "run --as-of nonsense": "--as-of: 'nonsense' is no date. Write YYYY-MM-DD",
    "run --budget-tokens 0": "--budget-tokens: '0' should be greater than or equal to 1. See `skillopt-sleep run",
    "run --budget-usd x": "--budget-usd: 'x' should be a valid number",
    "run --budget-minutes -1": "--budget-minutes: '-1' should be greater than or equal to 0",
    "run --project a --all-projects": "--project and --all-projects exclude each other",
    "harvest --since nonsense": '--since: \'nonsense\' is no time. Write "72h", "30d" or YYYY-MM-DD',
    "harvest --agent nonsense": "--agent: unknown agent 'nonsense'. Choose from claude-code, codex, ",
    "sessions --origin x": "--origin: unknown origin 'x'. Choose from interactive, ",
    "adopt": "ID: is missing. See `skillopt-sleep adopt --help`",
    "adopt p-1 --edit x": "--edit: 'x' should be a valid integer",
    "reject p-1": '--why: a rejection wants a reason. Say it: --why "we use another tool"',
    "schedule install --cron --systemd": "only one scheduler at a time. Choose --systemd, --cron or --launchd",
    "schedule install --cron --print --at 25:00": "--at: '25:00' is no time of day; write HH:MM, such as 03:00",
    "run --config nowhere.toml": "nowhere.toml: cannot be read: No such file or directory",
}


@pytest.mark.parametrize("call", MISUSE)
def test_wrong_use_is_told_in_one_line_and_changes_nothing(call: str, command: Command, surroundings: Path) -> None:
    before = content(surroundings)
    assert one_line(command(*call.split()), 2).startswith(MISUSE[call])
    error = error_of(command(*call.split(), "--json"), 2)
    assert error["code"] in {"usage", "config"}
    said = ": ".join(filter(None, [error["where"], error["message"]]))
    assert MISUSE[call].startswith(said[: len(MISUSE[call])])
    assert content(surroundings) == before


def test_no_command_at_all_is_answered_with_the_help(command: Command) -> None:
    found = command()
    assert found.code == 2
    assert "Commands:" in found.err
    assert not found.out
    assert one_line(command("schedule"), 2) == "Missing command. See `skillopt-sleep schedule --help`"
    assert one_line(command("harvest", "--from"), 2).startswith("Option '--from' requires an argument")


CONFIG = {
    "[gate]\nalfa = 1\n": ":2 gate.alfa: unknown, did you mean gate.alpha?",
    "[gaet]\nalpha = 1\n": ":1 gaet: unknown, did you mean gate?",
    "[gate]\n\nalpha = 'x'\n": ':3 gate.alpha: "x" should be a valid number',
    "[harvest]\nlookback = 'a week'\n": ":2 harvest.lookback: ",
    "[gate\n": ":1: not valid TOML: ",
    "[gate]\nalpha = 1\nalpha = 2\n": ":3: not valid TOML: ",
    "\n\n\xff": ":3: is not UTF-8; save it as UTF-8",
}


@pytest.mark.parametrize("text", CONFIG)
@pytest.mark.parametrize("call", ["run", "harvest", "review", "config show"])
def test_a_mistake_in_sleep_toml_is_found_with_its_line(
    text: str, call: str, command: Command, surroundings: Path
) -> None:
    mine = surroundings / "sleep.toml"
    mine.write_bytes(text.encode("latin-1"))
    assert one_line(command(*call.split(), "--config", str(mine)), 2).startswith(f"{mine}{CONFIG[text]}")
    error = error_of(command(*call.split(), "--config", str(mine), "--json"), 2)
    assert (error["code"], error["where"].split(" ")[0].rsplit(":", 1)[0]) == ("config", str(mine))
    assert not (surroundings / "state/reports").exists()


def test_doctor_finds_it_too_and_goes_on(command: Command, surroundings: Path) -> None:
    mine = surroundings / "sleep.toml"
    mine.write_text("[gate]\nalfa = 1\n")
    found = command("doctor", "--config", str(mine), "--json")
    assert found.code == 1
    *lines, last = found.lines
    states = {line["check"]: line["state"] for line in lines}
    assert states["configuration"] == "fail"
    assert states["agent codex"] == "ok"
    assert "gate.alfa" in last["error"]["message"]


@pytest.mark.parametrize("call", ["run", "harvest"])
def test_a_path_that_is_not_there_is_no_empty_night(call: str, command: Command, surroundings: Path) -> None:
    before, nowhere = content(surroundings), str(surroundings / "nowhere")
    said = one_line(command(call, "--from", nowhere), 1)
    assert said == f"{nowhere}: there is no such file or folder. Check the path after --from"
    assert error_of(command(call, "--from", nowhere, "--json"), 1)["code"] == "not_found"
    assert content(surroundings) == before


@pytest.fixture
def nothing_there(surroundings: Path) -> Path:
    """A HOME in which no agent ever ran."""
    shutil.rmtree(surroundings / "home")
    (surroundings / "home").mkdir()
    return surroundings / "home"


def test_an_empty_home_is_loud_about_where_it_looked(command: Command, nothing_there: Path) -> None:
    looked = [nothing_there / ".claude/projects", nothing_there / ".codex/sessions"]
    for call in ("harvest", "run"):
        found = command(call)
        assert found.code == 0, found.err
        assert all(f"warning: {place}: no transcripts of " in found.err for place in looked), found.err
        document = command(call, "--json").document
        document = document if call == "harvest" else document["harvest"]
        assert {w["path"] for w in document["warnings"]} >= set(map(str, looked))
        assert (document["files"], document["sessions"]["new"]) == (0, 0)


def test_a_run_in_an_empty_home_says_so_first(command: Command, nothing_there: Path) -> None:
    assert command("run").out.startswith("No session was found")
    assert command("doctor").code == 0


NO_TRANSCRIPT = {
    "notes.txt": b"what I did on my holidays\n",
    "data.json": b'{"a": 1}\n',
    "noise.jsonl": bytes(range(256)) * 20,
    "exec.jsonl": b'{"type":"thread.started","thread_id":"1"}\n',
}


@pytest.mark.parametrize("name", NO_TRANSCRIPT)
@pytest.mark.parametrize("call", ["run", "harvest"])
def test_a_file_that_is_not_empty_but_gives_nothing_wants_a_person(
    name: str, call: str, command: Command, tmp_path: Path
) -> None:
    place = tmp_path / name
    place.write_bytes(NO_TRANSCRIPT[name])
    said = one_line(command(call, "--from", str(place)), 3)
    assert said.startswith(f"{place}: gave nothing: ")
    assert said.endswith("if it is one of theirs, its format has changed")
    found = command(call, "--from", str(place), "--json")
    error = error_of(found, 3)
    assert (error["code"], error["where"]) == ("needs_person", str(place))
    harvested = found.document if call == "harvest" else found.document["harvest"]
    assert set(harvested) >= HARVEST, "the result stands beside the error"
    assert harvested["skipped"] == {"not a transcript": 1}


def test_an_empty_file_is_only_said_to_be_empty(command: Command, tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").touch()
    found = command("harvest", "--from", str(tmp_path / "e.jsonl"))
    assert found.code == 0
    assert "no transcripts of an agent that is read here" in found.err


def test_files_that_are_no_transcripts_beside_some_that_are_cost_a_number_only(
    command: Command, surroundings: Path
) -> None:
    (surroundings / "home/notes.txt").write_text("nothing to see\n")
    document = command("harvest", "--from", str(surroundings / "home"), "--json").document
    assert document["skipped"]["not a transcript"] == 1
    assert document["sessions"]["new"] == 52


@pytest.mark.parametrize("again", [1, 2])
def test_an_agent_whose_format_is_no_longer_known_is_loud_each_time(
    again: int, command: Command, nothing_there: Path
) -> None:
    place = nothing_there / ".claude/projects/-home-sam/0f0e0d0c-0000-4000-8000-000000000000.jsonl"
    place.parent.mkdir(parents=True)
    place.write_text('{"type": "tomorrow", "uuid": "1"}\n' * 3)
    for _ in range(again):
        found = command("run")
    assert one_line(found, 3).startswith(
        f"{nothing_there}/.claude/projects: gave nothing: no record in 1 file is of a kind that claude-code"
    )


UNKNOWN = ("show", "adopt", "rollback", "review", "sessions", "tasks")


@pytest.mark.parametrize("call", UNKNOWN)
@pytest.mark.parametrize(
    "name", ["p-nothing", "n-nothing", "nothing", "'; DROP TABLE night; --", "../../etc", "ü\x1b[2J"]
)
def test_an_id_that_nothing_has_is_not_found(call: str, name: str, morning: Command) -> None:
    assert "there is no such" in one_line(morning(call, name), 1)
    assert error_of(morning(call, name, "--json"), 1)["code"] == "not_found"
    assert morning("status", "--json").document["pending"]["proposals"] == 2


@pytest.mark.parametrize("call", UNKNOWN)
def test_an_id_that_is_no_text_is_wrong_use(call: str, morning: Command) -> None:
    assert one_line(morning(call, "p-\udcff"), 2) == "name: is not UTF-8. Type it in UTF-8"


def test_what_was_decided_is_not_decided_again(morning: Command) -> None:
    name = next(line["proposal"] for line in morning("review", "--json").lines if line["verdict"] == "supported")
    adoption = morning("adopt", name, "--json").document["adoption"]
    assert "adopted already" in one_line(morning("adopt", name), 1)
    assert morning("rollback", adoption).code == 0
    assert adoption in one_line(morning("rollback", adoption), 1)
    assert one_line(morning("reject", "p-nothing", "--why", "no"), 1).startswith("p-nothing: there is no such")


@pytest.mark.parametrize("flags", [["--target", "nobody"], ["--edit", "99"]])
def test_an_adoption_of_what_is_not_there_writes_nothing(flags: list[str], morning: Command, slept_once: Path) -> None:
    name = next(line["proposal"] for line in morning("review", "--json").lines if line["verdict"] == "supported")
    found = morning("adopt", name, *flags)
    assert one_line(found, found.code)
    assert found.code in {1, 2}
    assert not list((slept_once / "shop").iterdir())


def test_there_is_nothing_to_resume(morning: Command) -> None:
    assert one_line(morning("run", "--resume"), 1) == (
        "no night was interrupted. Run `skillopt-sleep run` without --resume"
    )
    assert len(morning("history", "--json").lines) == 1


@contextmanager
def somebody_elses_night(lock: Path) -> Iterator[int]:
    """Another process holds the night's lock. Yields its id."""
    code = (
        "import sys; from pathlib import Path\n"
        "from skillopt_sleep.clock import SystemClock\n"
        "from skillopt_sleep.lock import hold\n"
        "with hold(Path(sys.argv[1]), SystemClock()): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield other.pid
        other.communicate()


def test_of_two_nights_at_once_the_second_says_who_is_first_and_is_remembered_as_skipped(
    morning: Command, slept_once: Path
) -> None:
    with somebody_elses_night(slept_once / "state/night.lock") as pid:
        said = one_line(morning("run"), 4)
        assert f"another night is running (process {pid}, since " in said
        error = error_of(morning("run", "--json"), 4)
        assert error["code"] == "locked"
        status = morning("status", "--json").document
        assert f"process {pid}" in status["lock"]
    after = morning("status", "--json").document
    assert after["lock"] is None
    assert after["skips"]
    assert all("another night is running" in skip["why"] for skip in after["skips"])
    assert after["health"] == "warn"
    assert "skipped " in morning("status").out
    assert len(morning("history", "--json").lines) == 1


def spoil(store: Path) -> None:
    with store.open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\xa5" * 30_000)


def renumber(store: Path) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def replace_by_foreign(store: Path) -> None:
    store.unlink()
    with sqlite3.connect(store) as connection:
        connection.execute("CREATE TABLE cookies (a)")
    connection.close()


BROKEN_STORES = {
    "damaged": (spoil, "the store is damaged"),
    "newer": (renumber, "the store has format 99, this version knows"),
    "empty": (lambda store: store.write_bytes(b""), "the store is empty: it was cut to nothing"),
    "text": (lambda store: store.write_bytes(b"dear diary\n" * 500), "the file is not a store"),
    "foreign": (replace_by_foreign, "the file is a database of another program"),
}


@pytest.mark.parametrize("kind", BROKEN_STORES)
def test_a_store_that_cannot_be_used_is_named_and_left_as_it_is(kind: str, morning: Command, slept_once: Path) -> None:
    store = slept_once / "state/store.db"
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    break_it, reason = BROKEN_STORES[kind]
    break_it(store)
    before = store.read_bytes()
    for call in ("run", "harvest", "review"):
        said = one_line(morning(call), 1)
        assert said.startswith(f"{store}: {reason}"), said
        assert not said.endswith(reason), "it says what to do"
        assert error_of(morning(call, "--json"), 1)["code"] == "store"
    lines = morning("doctor", "--json")
    assert lines.code == 1
    assert {line["check"]: line["state"] for line in lines.lines if "check" in line}["store"] == "fail"
    assert store.read_bytes() == before


def test_a_file_in_the_place_of_the_home_is_named(command: Command, surroundings: Path) -> None:
    place = surroundings / "file"
    place.write_text("mine")
    assert one_line(command("run", "--home", str(place)), 1).startswith(f"{place}: ")
    found = command("doctor", "--home", str(place), "--json")
    assert {"check": "home", "state": "fail"}.items() <= next(
        x for x in found.lines if x.get("check") == "home"
    ).items()
    assert place.read_text() == "mine"


def test_names_with_controls_do_not_reach_the_terminal(command: Command, surroundings: Path) -> None:
    place = surroundings / "a\x1b[2Jb\nc.txt"
    place.write_text("no transcript\n")
    found = command("harvest", "--from", str(place))
    assert "\x1b" not in found.err
    assert "c.txt: gave nothing" in one_line(found, 3)
    assert json.loads(command("harvest", "--from", str(place), "--json").out)["error"]["where"] == str(place)
