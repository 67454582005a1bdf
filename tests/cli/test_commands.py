"""Each command through the command line itself: its document by cli.md, its exit code, what it leaves behind."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command

RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

SESSION = {"id", "agent", "native_id", "origin", "project", "cwd", "branch", "agent_version", "models", "started",
           "ended", "source", "prompts", "answers", "tool_calls", "tool_errors", "interrupts", "tokens"}  # fmt: skip
RUN = {"night", "backend", "evidence", "harvest", "tasks", "budget", "skills", "trials", "watch", "warnings", "report"}
SKILL = {"skill", "verdict", "metric", "before", "after", "effect", "interval", "p", "e_value", "alpha", "pairs",
         "coverage", "opened", "understood", "predicate", "stake", "edits", "proposal", "next"}  # fmt: skip
HARVEST = {"files", "bytes", "seconds", "sessions", "skipped", "warnings", "unreadable", "pending"}


def has(document: dict[str, Any], keys: set[str]) -> None:
    assert document["format"] == 1
    assert keys <= set(document), keys - set(document)


def test_harvest_says_what_it_read_and_a_second_one_reads_nothing(command: Command) -> None:
    first = command("harvest", "--json")
    has(first.document, HARVEST)
    assert first.document["sessions"] == {"new": 52, "updated": 0, "unchanged": 0}
    assert first.document["bytes"] > 0
    second = command("harvest", "--json")
    assert second.document["sessions"] == {"new": 0, "updated": 0, "unchanged": 52}
    assert second.document["bytes"] == 0


def test_sessions_are_lines_with_the_prompts_that_a_person_typed(morning: Command) -> None:
    lines = morning("sessions", "--json").lines
    assert len(lines) == 52
    for line in lines:
        has(line, SESSION)
        assert RFC3339.fullmatch(line["started"])
        assert line["origin"] == "interactive"
        assert line["prompts"][0]["kind"] == "prompt"
    assert {line["agent"] for line in lines} == {"claude-code", "codex", "copilot-cli"}
    one = morning("sessions", lines[0]["id"], "--json").lines
    assert one == [lines[0]]


def test_tasks_are_lines_with_pattern_split_and_checks(morning: Command) -> None:
    lines = morning("tasks", "--json").lines
    assert lines
    for line in lines:
        has(line, {"id", "pattern", "prompt", "split", "origin", "checks", "session", "at"})
        assert {"id", "kind", "title", "sessions", "last_seen"} <= set(line["pattern"])
        assert line["split"] in {"train", "gate", "audit"}
    assert morning("tasks", lines[0]["id"], "--json").lines == [lines[0]]


def test_a_run_is_one_document_with_every_key_of_the_interface(command: Command) -> None:
    found = command("run", "--json", "--budget-tokens", "200000")
    assert found.code == 0
    document = found.document
    has(document, RUN)
    has(document["harvest"] | {"format": 1}, HARVEST)
    assert document["evidence"] == "recorded"
    assert document["budget"]["tokens"] == {"limit": 200000, "spent": 0, "exact": True}
    for skill in document["skills"]:
        assert set(skill) >= SKILL
        assert [edit["n"] for edit in skill["edits"]] == list(range(1, len(skill["edits"]) + 1))
        assert all(set(e) >= {"n", "op", "anchor", "text", "status", "why", "provenance"} for e in skill["edits"])
    supported = [s for s in document["skills"] if s["verdict"] == "supported"]
    assert [s["skill"] for s in supported] == ["shop-lessons"]
    assert {t["state"] for t in document["trials"]} <= {"running", "dropped"}
    assert Path(document["report"]).is_file()
    assert stat.S_IMODE(Path(document["report"]).stat().st_mode) == 0o600


def test_recorded_evidence_never_ends_in_accept(command: Command) -> None:
    text = command("run", "--json").out
    assert '"accept"' not in text


def test_a_second_night_stages_the_same_and_repeats_no_attempt(command: Command) -> None:
    first = command("run", "--json").document
    second = command("run", "--json").document
    assert second["night"] != first["night"]
    names = [[s["proposal"] for s in d["skills"]] for d in (first, second)]
    assert names[0] == names[1]
    assert len(command("review", "--json").lines) == len([n for n in names[0] if n])


def test_adopt_and_rollback_restore_every_byte(morning: Command, slept_once: Path) -> None:
    shop = slept_once / "shop"
    before = {p: p.read_bytes() for p in shop.rglob("*") if p.is_file()}
    staged = next(line for line in morning("review", "--json").lines if line["verdict"] == "supported")
    has(staged, {"proposal", "skill", "state", "verdict", "headline", "diff", "edits", "evidence", "needs"})
    adopted = morning("adopt", staged["proposal"], "--json")
    assert adopted.code == 0, adopted.err
    has(adopted.document, {"adoption", "proposal", "edits", "targets"})
    assert {t["state"] for t in adopted.document["targets"]} == {"written"}
    assert {"claude-code", "codex", "copilot-cli"} == {t["agent"] for t in adopted.document["targets"]}
    skill = shop / ".claude/skills/shop-lessons/SKILL.md"
    assert "config/app.yaml" in skill.read_text()
    again = morning("rollback", adopted.document["adoption"], "--json")
    assert again.code == 0, again.err
    assert {p: p.read_bytes() for p in shop.rglob("*") if p.is_file()} == before


def test_an_edit_that_is_not_proven_wants_the_word_unproven(morning: Command) -> None:
    lines = morning("review", "--json").lines
    staged = next(line for line in lines if line["verdict"] == "supported")
    unproven = next(e["n"] for e in staged["edits"] if e["status"] == "proposed")
    refused = morning("adopt", staged["proposal"], "--edit", str(unproven))
    assert refused.code == 1
    assert "--unproven" in refused.err
    assert morning("adopt", staged["proposal"], "--edit", str(unproven), "--unproven").code == 0


def test_what_was_adopted_is_watched_and_not_proposed_again(morning: Command) -> None:
    staged = next(line for line in morning("review", "--json").lines if line["verdict"] == "supported")
    assert morning("adopt", staged["proposal"]).code == 0
    document = morning("run", "--json").document
    assert len(document["watch"]) == 2
    texts = [e["text"] for s in document["skills"] for e in s["edits"]]
    assert not any("config/app.yaml" in text for text in texts)


def test_a_rejected_proposal_is_not_staged_again(morning: Command) -> None:
    staged = next(line for line in morning("review", "--json").lines if line["verdict"] == "supported")
    assert morning("reject", staged["proposal"]).code == 2
    assert morning("reject", staged["proposal"], "--why", "we are about to drop the linter").code == 0
    document = morning("run", "--json").document
    assert staged["proposal"] not in [s["proposal"] for s in document["skills"]]
    assert staged["proposal"] not in [line["proposal"] for line in morning("review", "--json").lines]


def test_adoption_is_refused_on_drift(morning: Command, slept_once: Path) -> None:
    staged = next(line for line in morning("review", "--json").lines if line["verdict"] == "supported")
    mine = slept_once / "shop/.claude/skills/shop-lessons/SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("---\nname: shop-lessons\ndescription: mine\n---\nmy own words\n")
    refused = morning("adopt", staged["proposal"])
    assert refused.code == 1
    assert mine.read_text().endswith("my own words\n")
    assert not (slept_once / "shop/.codex/skills").exists()


def test_a_folder_that_nobody_recorded_is_not_written_to(command: Command, surroundings: Path) -> None:
    command("run", "-q")
    staged = next(line for line in command("review", "--json").lines if line["verdict"] == "supported")
    refused = command("adopt", staged["proposal"])
    assert refused.code == 1
    assert "skillopt-sleep init" in refused.err
    assert not (surroundings / "shop/.claude").exists()


def test_status_history_and_show_know_the_night(morning: Command) -> None:
    status = morning("status", "--json").document
    has(status, {"last_night", "next_night", "lock", "pending", "budget_month", "skips", "health"})
    assert status["pending"]["proposals"] == 2
    night = morning("history", "--json").lines[0]
    has({"format": 1} | night, {"night", "date", "trigger", "state", "verdicts", "spent", "error"})
    shown = morning("show", night["night"]).document
    assert (shown["kind"], shown["id"]) == ("night", night["night"])
    run = shown["report"]
    ids = {"proposal": run["skills"][0]["proposal"], "trial": run["trials"][0]["id"]}
    for kind, name in ids.items():
        found = morning("show", name).document
        assert (found["kind"], found["id"]) == (kind, name)


def test_init_says_what_is_read_and_that_nothing_is_sent(command: Command, surroundings: Path) -> None:
    document = command("init", "--json", "--config", str(surroundings / "my.toml")).document
    assert document["sends"] == "nothing"
    assert document["written"]
    assert {a["agent"]: a["files"] for a in document["agents"]}["codex"] == 17
    assert not command("init", "--json", "--config", str(surroundings / "my.toml")).document["written"]
    assert command("config", "show", "--config", str(surroundings / "my.toml")).code == 0


def test_init_says_what_an_agent_that_attempts_sends_and_to_whom(command: Command, surroundings: Path) -> None:
    mine = surroundings / "my.toml"
    mine.write_text('[models]\ntarget_backend = "claude"\n')
    sends = command("init", "--json", "--config", str(mine)).document["sends"]
    assert "what the agent reads in a copy of your project" in sends
    assert "signed in to with claude" in sends


def test_doctor_is_a_line_a_check(morning: Command) -> None:
    lines = morning("doctor", "--json").lines
    assert all({"check", "state", "finding", "remedy"} <= set(line) for line in lines)
    checks = {line["check"] for line in lines}
    assert {"python", "names", "home", "store", "redaction", "agent claude-code", "agent codex"} <= checks


def test_config_show_names_the_origin_of_each_value(command: Command, surroundings: Path) -> None:
    mine = surroundings / "sleep.toml"
    mine.write_text("[gate]\nalpha = 0.01\n")
    rows = {r["key"]: r for r in command("config", "show", "--json", "--config", str(mine)).document["values"]}
    assert rows["gate.alpha"]["value"] == 0.01
    assert rows["gate.alpha"]["origin"].endswith("sleep.toml:2")
    assert rows["gate.mode"]["origin"] == "default"


def test_the_schedule_can_be_looked_at_before_it_is_installed(command: Command) -> None:
    document = command("schedule", "install", "--cron", "--at", "04:30", "--print", "--json").document
    has(document, {"kind", "installed", "at", "next", "command", "text", "changed"})
    assert not document["installed"]
    assert document["text"].startswith("30 4 * * * ")


def test_a_dry_run_stages_and_keeps_nothing(command: Command, surroundings: Path) -> None:
    document = command("run", "--dry-run", "--json").document
    assert document["dry_run"]
    assert len(document["plan"]["rules"]) >= 4
    assert not command("review", "--json").out
    assert not command("history", "--json").out
    assert not (surroundings / "state/reports").exists()


def test_a_backtest_stages_nothing(command: Command) -> None:
    document = command("run", "--as-of", "2026-09-20", "--json").document
    assert any(skill["verdict"] == "supported" for skill in document["skills"])
    assert all(skill["proposal"] is None for skill in document["skills"])
    assert not command("review", "--json").out


def test_a_helpful_preference_is_measured_and_a_hurting_one_said_to_hurt(command: Command) -> None:
    document = command(
        "run", "--json", "--preferences", "never run `npm test`", "--preferences", "use pnpm, never yarn",
    ).document  # fmt: skip
    edits = {e["text"]: (s, e) for s in document["skills"] for e in s["edits"]}
    hurting = next(e for text, (_, e) in edits.items() if "npm test" in text)
    assert hurting["status"] == "refused"
    unused = next(e for text, (_, e) in edits.items() if "yarn" in text)
    assert unused["status"] == "dropped"


def test_an_edit_with_the_negation_of_a_preference_is_refused(command: Command) -> None:
    wish = "the file is `config/app.yml`, not `config/app.yaml`"
    document = command("run", "--json", "--preferences", wish).document
    edits = [e for s in document["skills"] for e in s["edits"] if "The file is `config/app.yaml`" in e["text"]]
    assert all(e["status"] == "refused" for e in edits), json.dumps(edits)


@pytest.mark.parametrize("name", ["run", "harvest", "review", "adopt", "reject", "rollback", "sessions", "tasks",
                                  "status", "history", "show", "init", "doctor", "daemon"])  # fmt: skip
def test_each_command_explains_itself(command: Command, name: str) -> None:
    found = command(name, "--help")
    assert found.code == 0
    assert "--json" in found.out
    assert "--home" in found.out
