"""The world of a night on this machine: what its harvest does beside reading."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillopt_harvesters.model import TAG
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.config import Config
from skillopt_sleep.config.model import Redact
from skillopt_sleep.domain.ledgers import AttemptKey
from skillopt_sleep.paths import Home
from skillopt_sleep.redact import RULES_VERSION, Redactor
from skillopt_sleep.store import again, keeping
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.ledgers import Attempts, note_session
from skillopt_sleep.world import LocalWorld
from tests.harvesters import made

NOON = 1_795_953_600_000
WORD = "Quetzalcoatl"
KEY = AttemptKey("c-1", "t-1", "d" * 64, 0, "claude")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "state")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    with open_store(home.store, FixedClock(NOON)) as opened:
        yield opened


World = Callable[..., LocalWorld]


@pytest.fixture
def world(home: Home, store: Store, tmp_path: Path) -> World:
    """A world with some words to be redacted."""

    def make(*words: str) -> LocalWorld:
        config = Config(redact=Redact(words=words))
        return LocalWorld(home, config, store, tmp_path / "user", environ={}, clock=FixedClock(NOON))

    return make


def talk(tmp_path: Path, name: str, prompt: str, **more: object) -> None:
    path = tmp_path / "user/.claude/projects/-shop" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [made.user(prompt, 1, **more), made.says("done", 2, **more)]
    lines = [json.dumps(record | {"sessionId": name}) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def codex(tmp_path: Path, **more: object) -> None:
    path = tmp_path / "user/.codex/sessions/2026/11/20" / f"rollout-2026-11-20T10-00-00-{made.THREAD}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    said = made.codex("event_msg", 1, type="user_message", message="hello")
    path.write_text("\n".join(map(json.dumps, [made.meta(**more), said])) + "\n", encoding="utf-8")


def named(n: int) -> str:
    return f"00000000-0000-4000-8000-{n:012d}"


def origins(store: Store) -> dict[str, str]:
    return {row["native_id"]: row["origin"] for row in store.sessions("all")}


def holds(store: Store, word: str) -> bool:
    return any(word.encode() in content for _, content in keeping.contents(store))


def test_our_own_attempts_are_known_by_their_ids_before_and_after_they_are_read(
    world: World, store: Store, tmp_path: Path
) -> None:
    for n in (1, 2, 3):
        talk(tmp_path, named(n), "hello")
    for draw, n in ((0, 1), (1, 2)):
        key = AttemptKey("c-1", "t-1", "d" * 64, draw, "claude")
        Attempts(store, "n", Redactor(engine=False).redact).save([(key, "it timed out")])
        if draw == 0:
            note_session(store, key, named(n))
    done = world().harvest()
    assert (done.new, done.skipped["own session"]) == (2, 1)
    assert origins(store) == {named(1): "own", named(2): "interactive", named(3): "interactive"}
    note_session(store, key, named(2))
    assert origins(store) == {named(1): "own", named(2): "own", named(3): "interactive"}
    talk(tmp_path, named(2), "hello", version="2.1.198")
    world().harvest()
    assert origins(store)[named(2)] == "own"


def test_our_own_runs_are_known_by_the_tag_that_they_were_started_with(
    world: World, store: Store, tmp_path: Path
) -> None:
    talk(tmp_path, named(1), "hello", entrypoint=TAG)
    talk(tmp_path, named(2), "hello", entrypoint="cli")
    talk(tmp_path, named(3), "hello", entrypoint=TAG, promptSource="sdk")
    codex(tmp_path, originator=TAG)
    world().harvest()
    assert origins(store) == {named(1): "own", named(2): "interactive", named(3): "own", made.THREAD: "own"}


def test_a_word_that_is_added_goes_over_what_is_there_at_the_next_harvest(
    world: World, store: Store, tmp_path: Path, home: Home
) -> None:
    talk(tmp_path, named(1), f"tell me of {WORD}")
    world().harvest()
    home.reports.mkdir()
    report = home.reports / "n-1.json"
    report.write_text(json.dumps({"skills": [], "warnings": [f"of {WORD}"]}))
    assert holds(store, WORD)
    world(WORD).harvest()
    assert not holds(store, WORD)
    assert WORD not in report.read_text()
    patterns = world(WORD)._patterns
    assert again.redact_again(store, world(WORD).redactor, patterns)["bodies"] == 0, "nothing is new"


def test_what_was_read_without_a_word_is_read_with_it_again(world: World, store: Store, tmp_path: Path) -> None:
    world(WORD, "another").harvest()
    talk(tmp_path, named(1), f"tell me of {WORD}")
    world().harvest()
    assert holds(store, WORD), "as from another project, whose own sleep.toml does not have the word"
    world("another").harvest()
    assert holds(store, WORD)
    world(WORD).harvest()
    assert not holds(store, WORD)


def test_newer_rules_go_over_what_is_there_at_the_next_harvest(
    world: World, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(tmp_path, named(1), f"tell me of {WORD}")
    world().harvest()
    stricter = world()
    stricter.redactor = Redactor((WORD,), engine=False)
    stricter.harvest()
    assert holds(store, WORD), "the rules are as old as they were"
    monkeypatch.setattr(again, "RULES_VERSION", RULES_VERSION + 1)
    stricter.harvest()
    assert not holds(store, WORD)
    assert [row["prompts"][0]["text"] for row in store.sessions()] == ["tell me of [redacted:custom]"]
