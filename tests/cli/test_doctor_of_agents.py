"""`doctor` of all ten agents, over real files of each, read by a real harvest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from skillopt_harvesters import harvesters
from skillopt_sleep.config.model import Agent
from tests.cli.conftest import Command


def findings(command: Command, check: str) -> list[dict[str, str]]:
    return [line for line in command("doctor", "--json").lines if line["check"] == check]


def claude(home: Path, name: str, *records: object) -> Path:
    path = home / ".claude/projects/-shop" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_each_of_the_ten_says_where_it_looked(command: Command) -> None:
    lines = command("doctor", "--json").lines
    told = [line["check"].removeprefix("agent ") for line in lines if line["check"].startswith("agent ")]
    assert told == list(get_args(Agent)) == [harvester.agent for harvester in harvesters()]
    for line in lines:
        if line["check"].startswith("agent "):
            assert "looked in /" in line["finding"] or "files in /" in line["finding"]


def test_init_names_the_agents_that_are_read(command: Command, surroundings: Path) -> None:
    config = surroundings / "sleep.toml"
    config.write_text('[harvest]\nagents = ["codex", "pi"]\n')
    assert [agent["agent"] for agent in command("init", "--json").document["agents"]] == list(get_args(Agent))
    found = command("init", "--json", "--config", str(config)).document["agents"]
    assert [agent["agent"] for agent in found] == ["codex", "pi"]


def test_an_agent_is_told_with_version_share_retention_and_age(command: Command, surroundings: Path) -> None:
    command("harvest", "-q")
    (surroundings / "home/.claude/settings.json").write_text('{"cleanupPeriodDays": 99}')
    (found,) = findings(command, "agent claude-code")
    assert found["state"] == "ok"
    for part in ("18 files", "newest version seen 2.1.197", "100.0% of the records", "oldest file of ", "99 days"):
        assert part in found["finding"]
    assert "not known" in findings(command, "agent codex")[0]["finding"]


@pytest.mark.parametrize("unknown", [1, 8])
def test_a_file_with_records_of_a_newer_version_is_named_with_it(
    unknown: int, command: Command, surroundings: Path
) -> None:
    known = {"type": "user", "sessionId": "s", "cwd": "/x", "version": "2.9.1", "timestamp": "2026-11-20T10:00:00.000Z"}
    said = [known | {"uuid": f"u-{n}", "message": {"role": "user", "content": f"say {n}"}} for n in range(40)]
    path = claude(
        surroundings / "home", "s", *said, *({"type": f"newer-{n}", "version": "2.9.1"} for n in range(unknown))
    )
    command("harvest", "-q")
    found = findings(command, "files of claude-code")
    if unknown == 1:
        assert found == []
    else:
        (one,) = found
        assert one["state"] == "warn"
        assert f"(up to 17%), the first {path} (version 2.9.1)" in one["finding"]


def test_a_file_that_gives_nothing_although_it_is_not_empty_is_named(command: Command, surroundings: Path) -> None:
    path = claude(surroundings / "home", "mute")
    path.write_text("\n" * 40)
    empty = claude(surroundings / "home", "empty")
    command("harvest", "-q")
    (found,) = findings(command, "files of claude-code")
    assert found["finding"] == f"1 file gave nothing although not empty, the first {path}"
    assert str(empty) not in found["finding"]
    path.unlink()
    command("harvest", "-q")
    assert findings(command, "files of claude-code") == [], "a file that is gone is nobody's concern"


def test_an_agent_that_is_left_out_says_so(command: Command, surroundings: Path) -> None:
    config = surroundings / "sleep.toml"
    config.write_text('[harvest]\nagents = ["codex"]\n')
    lines = {line["check"]: line for line in command("doctor", "--json", "--config", str(config)).lines}
    assert "not read: harvest.agents leaves it out" in lines["agent claude-code"]["finding"]
    assert "not read" not in lines["agent codex"]["finding"]
