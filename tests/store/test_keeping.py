"""Copies, checks, pruning, and forgetting for good."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Batch, Cursor, Source, discover, read
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.ledgers import CompletionKey
from skillopt_sleep.domain.proposals import Decision
from skillopt_sleep.domain.tasks import KeptTask, TaskCheck
from skillopt_sleep.errors import NotFound, StoreError, UsageError
from skillopt_sleep.ingest import harvest
from skillopt_sleep.redact import RULES_VERSION, Redactor
from skillopt_sleep.store import again, keeping, mining
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.evidence_log import log_evidence
from skillopt_sleep.store.forgetting import forget_session, forget_text
from skillopt_sleep.store.ledgers import Completions
from skillopt_sleep.store.proposals import decide, find_proposal, save_proposal

WORD = "Quetzalcoatl"


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor(engine=False)


def line(kind: str, n: int, session: str, **more: Any) -> str:
    row = {"type": kind, "uuid": f"{session}-{n}", "sessionId": session, "cwd": "/home/kim/shop", "version": "2.1.30"}
    row |= {"timestamp": f"2026-11-0{1 + n // 60}T10:{n % 60:02}:00.000Z", "isSidechain": False, "parentUuid": None}
    return json.dumps(row | more)


def talk(home: Path, session: str, *prompts: str) -> Path:
    path = home / ".claude" / "projects" / "-x" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for n, prompt in enumerate(prompts):
        lines.append(line("user", 2 * n, session, message={"role": "user", "content": prompt}))
        said = {"id": f"m{n}", "role": "assistant", "model": "x", "content": [{"type": "text", "text": f"done {n}"}]}
        lines.append(line("assistant", 2 * n + 1, session, message=said))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "user"


def take_in(store: Store, home: Path, redactor: Redactor, clock: FixedClock) -> None:
    harvest(store, discover(home, {})[0], read, redactor, clock)


def prompts(store: Store) -> list[str]:
    return [prompt["text"] for row in store.sessions() for prompt in row["prompts"]]


def on_disk(store: Store, word: str) -> bool:
    """Whether a word stands in the store's files or in any body, compressed or not."""
    files = b"".join(file.read_bytes() for file in store.path.parent.iterdir() if file.is_file())
    return word.encode() in files or any(word.encode() in content for _, content in keeping.contents(store))


def test_a_backup_is_a_store_of_its_own(store: Store, home: Path, redactor: Redactor, clock: FixedClock) -> None:
    from skillopt_sleep.store.engine import open_store

    talk(home, "one", "hello there")
    take_in(store, home, redactor, clock)
    path = store.path.parent / "copies" / "first.db"
    assert keeping.backup(store, path) == {"path": str(path), "bytes": path.stat().st_size}
    assert path.stat().st_mode & 0o777 == 0o600
    with open_store(path, clock) as copy:
        assert prompts(copy) == ["hello there"]
    with pytest.raises(StoreError, match="already"):
        keeping.backup(store, path)


def test_a_sound_store_verifies(store: Store, home: Path, redactor: Redactor, clock: FixedClock) -> None:
    talk(home, "one", "hello there", "and again " * 500)
    take_in(store, home, redactor, clock)
    log_evidence(store, "verdict", ["c-1"])
    assert [check.finding for check in keeping.verify(store)] == [""] * 5


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        ("UPDATE body SET bytes = x'00', codec = 'raw'", "bodies"),
        ("UPDATE evidence_log SET at_ms = at_ms + 1", "evidence log"),
        ("UPDATE event SET stretch_id = 99", "references"),
        ("UPDATE comparison SET e = 99 WHERE id = 'v-p-1-2'", "figures and decisions"),
        ("UPDATE comparison_unit SET d = -d", "figures and decisions"),
        ("UPDATE proposal SET base_digest = 'x'", "figures and decisions"),
        ("UPDATE decision SET choice = 'adopt'", "figures and decisions"),
        ("DELETE FROM decision", "figures and decisions"),
        ("UPDATE adoption_target SET path = 'elsewhere'", "figures and decisions"),
        ("UPDATE completion SET model = 'another'", "figures and decisions"),
    ],
)
def test_what_was_changed_behind_our_back_is_found(
    store: Store, home: Path, redactor: Redactor, clock: FixedClock, filled: ModuleType, broken: str, name: str
) -> None:
    talk(home, "one", "hello there")
    take_in(store, home, redactor, clock)
    save_proposal(store, filled.proposal(filled.night(store).id))
    decide(store, Decision("p-1", "defer", (1, 2), 5))
    Adoptions(store).intend(filled.adoption())
    Completions(store, redactor.redact).save(CompletionKey("n", "optimizer", "m", "d"), "Why?", "So.", "ok")
    assert all(check.sound for check in keeping.verify(store))
    with closing(sqlite3.connect(store.path)) as raw:
        raw.execute(broken)
        raw.commit()
    assert [check.name for check in keeping.verify(store) if not check.sound] == [name]


def test_every_reference_to_a_body_is_known_to_the_pruner() -> None:
    named = {f"{column.table.name}.{column.name}" for column in keeping.body_columns()}
    assert {"stretch.body", "adoption_target.before", "task.prompt", "edit.text", "skill_version.body"} <= named


def test_pruning_removes_what_nothing_refers_to_and_nothing_else(
    store: Store, home: Path, redactor: Redactor, clock: FixedClock, filled: ModuleType
) -> None:
    path = talk(home, "one", "hello there")
    take_in(store, home, redactor, clock)
    save_proposal(store, filled.proposal(filled.night(store).id))
    Adoptions(store).intend(filled.adoption())
    path.write_text(path.read_text().replace("hello there", "hello you, who are longer"), encoding="utf-8")
    take_in(store, home, redactor, clock)
    assert prompts(store) == ["hello you, who are longer"]
    before = keeping.counts(store)
    done = keeping.prune(store)
    assert (done["stretches"], done["bodies"]) == (1, 1)
    after = keeping.counts(store)
    assert {name: before[name] - after[name] for name in before if before[name] != after[name]} == {
        "stretch": 1,
        "body": 1,
    }
    assert prompts(store) == ["hello you, who are longer"]
    assert Adoptions(store).find("a-1") == filled.adoption()
    assert keeping.prune(store)["bodies"] == 0


def kept_task(store: Store, session: str) -> None:
    mining.save_tasks(
        store, [KeptTask("t-1", f"{WORD} again", "tw", "gate", 5, session=session, checks=(TaskCheck("has", WORD),))]
    )


def test_a_forgotten_session_is_gone_and_does_not_come_back(
    store: Store, home: Path, redactor: Redactor, clock: FixedClock
) -> None:
    path = talk(home, "one", f"tell me of {WORD}", "more " * 300 + WORD)
    talk(home, "two", "something else")
    take_in(store, home, redactor, clock)
    name = next(row["id"] for row in store.sessions() if row["native_id"] == "one")
    kept_task(store, name)
    log_evidence(store, "verdict", ["c-1"])
    assert on_disk(store, WORD)
    done = forget_session(store, name)
    assert (done.sessions, done.events, done.tasks) == (1, 4, ["t-1"])
    assert not on_disk(store, WORD)
    assert prompts(store) == ["something else"]
    assert mining.tasks(store) == []
    with path.open("a", encoding="utf-8") as file:
        file.write(line("user", 9, "one", message={"role": "user", "content": f"{WORD} once more"}) + "\n")
    take_in(store, home, redactor, clock)
    assert prompts(store) == ["something else"]
    assert not on_disk(store, WORD)
    assert all(check.sound for check in keeping.verify(store))
    with pytest.raises(NotFound):
        forget_session(store, "s-none")


def test_a_forgotten_text_is_gone_and_the_rest_of_its_session_stays(
    store: Store, home: Path, redactor: Redactor, clock: FixedClock, filled: ModuleType
) -> None:
    path = talk(home, "one", f"tell me of {WORD}", "and of the weather " * 60)
    take_in(store, home, redactor, clock)
    (name,) = [row["id"] for row in store.sessions()]
    kept_task(store, name)
    one = filled.proposal(filled.night(store).id)
    save_proposal(store, one)
    done = forget_text(store, WORD)
    assert (done.events, done.tasks) == (1, ["t-1"])
    assert not on_disk(store, WORD)
    assert prompts(store) == ["[forgotten]", ("and of the weather " * 60).strip()]
    assert find_proposal(store, "p-1") == one

    def anew(source: Source, cursor: Cursor | None) -> Iterator[Batch]:
        return read(source, None)

    path.touch()
    harvest(store, discover(home, {})[0], anew, redactor, clock)
    assert prompts(store) == ["[forgotten]", ("and of the weather " * 60).strip()]
    with path.open("a", encoding="utf-8") as file:
        file.write(line("user", 9, "one", message={"role": "user", "content": "one more"}) + "\n")
    harvest(store, discover(home, {})[0], anew, redactor, clock)
    assert prompts(store) == ["[forgotten]", ("and of the weather " * 60).strip(), "one more"]
    assert all(check.sound for check in keeping.verify(store))
    with pytest.raises(UsageError):
        forget_text(store, "a ")


def test_newer_rules_take_out_what_older_ones_left(
    store: Store, home: Path, redactor: Redactor, clock: FixedClock, filled: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(home, "one", f"tell me of {WORD}", "and more")
    talk(home, "two", "nothing in here")
    take_in(store, home, redactor, clock)
    kept_task(store, next(row["id"] for row in store.sessions()))
    save_proposal(store, filled.proposal(filled.night(store).id))
    monkeypatch.setattr(again, "RULES_VERSION", RULES_VERSION + 1)
    stricter = Redactor(extra=[WORD], engine=False)
    done = again.redact_again(store, stricter)
    assert done["changed"] == 3
    assert not on_disk(store, WORD)
    texts = prompts(store)
    assert [text for text in texts if "redacted" not in text] == ["and more", "nothing in here"]
    assert "redacted" in mining.tasks(store)[0].prompt
    assert find_proposal(store, "p-1").candidate == filled.proposal("n").candidate
    assert again.redact_again(store, stricter) == {"bodies": 0, "changed": 0, "words": 0}
    assert all(check.sound for check in keeping.verify(store))


def test_a_proposal_that_quotes_what_is_forgotten_is_marked(
    store: Store, home: Path, filled: ModuleType, clock: FixedClock
) -> None:
    save_proposal(store, filled.proposal(filled.night(store).id))
    done = forget_text(store, "no, Use `pnpm`")
    assert done.proposals == ["p-1"]
    assert store.driver.execute("SELECT quotes_forgotten FROM proposal").fetchone() == (1,)
    assert find_proposal(store, "p-1").edits[0].provenance[0].text == "[forgotten]"


def test_what_a_rollback_needs_is_kept_and_counted(store: Store, filled: ModuleType) -> None:
    save_proposal(store, filled.proposal(filled.night(store).id))
    Adoptions(store).intend(filled.adoption())
    done = forget_text(store, "older")
    assert (done.kept, done.bodies) == (2, 0)
    assert Adoptions(store).find("a-1") == filled.adoption()
