"""Six weeks of one team's real sessions: what a person who read them would name is found, by structure.

Nothing of those sessions stands here or in the product: what is asked for is its kind, never its name.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from skillopt_sleep.critics import grammar
from skillopt_sleep.domain.episodes import Action, Episode
from skillopt_sleep.domain.frictions import FrictionKind, Pattern
from skillopt_sleep.domain.sentences import DoNotLookUnder, DoNotWrite, DropFlag, FileIs, ReadBeforeEdit
from skillopt_sleep.mine import Mined, episodes_of, mine
from skillopt_sleep.mine.wording import ending, stem
from tests.mine.reading import stored_sessions

pytestmark = pytest.mark.shared

HISTORY = "transcripts/claude/entireio__cli_history"
CHECKPOINTS = "transcripts/claude/entireio__cli_checkpoints"
PRODUCT = ("skillopt_sleep", "skillopt_core", "harvesters")


@cache
def episodes(folder: Path) -> tuple[Episode, ...]:
    return tuple(episode for session in stored_sessions([folder]) for episode in episodes_of(session))


@cache
def mined(folder: Path) -> Mined:
    return mine(episodes(folder))


@pytest.fixture
def history(shared: Path) -> Mined:
    return mined(shared / HISTORY)


def of_kind(found: Mined, kind: FrictionKind) -> list[Pattern]:
    return [p for p in (*found.patterns, *found.rare) if p.friction is kind]


def test_what_was_refused_is_found_with_the_reasons(history: Mined) -> None:
    """53 results are written as refusals: 3 are approved plans, 2 belong to calls before the first record."""
    refused = [f for f in history.frictions if f.kind is FrictionKind.REFUSAL]
    assert len(refused) == 48
    assert sum(any(q.author == "person" for q in f.quotes) for f in refused) >= 37
    assert len({p.person for p in of_kind(history, FrictionKind.REFUSAL)}) >= 4
    recurring = [p for p in history.patterns if p.friction is FrictionKind.REFUSAL]
    assert sum(len(p.members) for p in recurring) >= 25
    assert all(p.document == "memory" for p in recurring)


def test_diagnostic_codes_that_come_back_are_named_with_the_edits_before_them(history: Mined) -> None:
    coded = [p for p in history.patterns if p.friction is FrictionKind.DIAGNOSTIC and not p.signature.startswith("~")]
    assert len(coded) >= 10
    assert sum("after edits like" in p.title for p in coded) >= 8
    rules = [p.sentence for p in coded if isinstance(p.sentence, DoNotWrite)]
    assert len(rules) >= 2
    assert any(rule.instead for rule in rules)
    assert all(rule.code for rule in rules)


def test_a_folder_that_is_not_there_is_named_once_for_all_that_looked_below_it(history: Mined) -> None:
    folders = [
        p
        for p in history.patterns
        if isinstance(p.sentence, DoNotLookUnder) and not ending(p.sentence.p).startswith(".")
    ]
    assert any(len(p.sessions) >= 4 and len({m.person for m in p.members}) >= 3 and not p.too_rare for p in folders)


def test_a_file_under_the_wrong_ending_is_named_with_the_right_one(history: Mined) -> None:
    wrong = [p.sentence for p in history.patterns if isinstance(p.sentence, FileIs)]
    assert any(stem(rule.p) == stem(rule.q) and rule.p != rule.q for rule in wrong)


def test_a_flag_that_is_unknown_is_named_and_said_to_be_too_rare_to_test(history: Mined) -> None:
    flags = [p for p in of_kind(history, FrictionKind.FACT) if isinstance(p.sentence, DropFlag)]
    assert any(len(p.sessions) >= 2 and p.too_rare for p in flags)


def test_unread_edits_are_true_heal_themselves_and_come_last(history: Mined) -> None:
    unread = next(p for p in history.patterns if p.sentence == ReadBeforeEdit())
    assert len(unread.sessions) >= 8
    assert unread.self_healing
    below = history.patterns[history.patterns.index(unread) :]
    assert all(p.self_healing for p in below)
    assert not any(p.self_healing and isinstance(p.sentence, FileIs) for p in history.patterns)


def test_the_list_is_ordered_by_what_is_at_stake(history: Mined) -> None:
    shares = [p.stake.output_share for p in history.patterns if not p.self_healing]
    assert shares == sorted(shares, reverse=True)
    assert FrictionKind.REFUSAL in {p.friction for p in history.patterns[:8]}
    assert 0.02 < sum(p.stake.output_share for p in (*history.patterns, *history.rare)) < 0.5


def test_the_clones_of_the_team_are_one_project(history: Mined) -> None:
    counts = Counter(e.project for e in {e.session: e for e in history.episodes}.values())
    assert counts.most_common(1)[0][1] >= 0.95 * sum(counts.values())


def test_every_rule_can_stand_in_a_skill_and_is_read_back(history: Mined) -> None:
    for pattern in (*history.patterns, *history.rare, *history.corrections):
        assert pattern.title.isprintable()
        if pattern.sentence is not None:
            assert grammar.parse(grammar.render(pattern.sentence)) == (pattern.sentence,)


def test_a_rule_before_its_cut_rests_on_sessions_before_its_cut(history: Mined) -> None:
    for pattern in history.patterns:
        if pattern.cut_ms is not None and (before := history.before(pattern, pattern.cut_ms)):
            assert all(m.at_ms < pattern.cut_ms for m in before.members)


def test_it_takes_a_few_seconds(shared: Path) -> None:
    found = episodes(shared / HISTORY)
    began = time.process_time()
    mine(found)
    assert time.process_time() - began < 8


IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_.:/-][A-Za-z0-9]+)+|[A-Za-z]+[a-z][A-Z]\w*")
WORD = re.compile(r"[A-Za-z][\w./:-]*\w")


def distinctive(found: Mined) -> set[str]:
    """Names of the history: of people and codes; of files, folders, options and code that three sessions hold."""
    named = {p.signature for p in of_kind(found, FrictionKind.DIAGNOSTIC) if not p.signature.startswith("~")}
    sessions: dict[str, set[str]] = defaultdict(set)
    for episode in found.episodes:
        named.add(episode.person)
        for action in episode.actions:
            for name in named_by(action):
                sessions[name].add(episode.session)
    return named | {name for name, held in sessions.items() if len(held) >= 3}


def named_by(action: Action) -> Iterator[str]:
    yield from (part for path in action.paths for part in path.split("/") if len(part) >= 6 and not part.isalpha())
    yield from (word for word in action.command.split() if word.startswith("--"))
    yield from IDENTIFIER.findall(action.new)


def product_text(checkout: Path) -> str:
    files = (f for folder in PRODUCT for f in sorted((checkout / folder).rglob("*.py")))
    return "\n".join(f.read_text("utf-8") for f in files)


def test_no_name_of_that_history_stands_in_the_product(history: Mined, checkout: Path, shared: Path) -> None:
    text = product_text(checkout)
    stands = set(WORD.findall(text)) | set(re.findall(r"--[\w-]+", text)) | set(re.findall(r"[A-Za-z]\w+", text))
    suspects = {name for name in distinctive(history) if len(name) >= 4 and name in stands}
    own = (HISTORY.rpartition("/")[2], CHECKPOINTS.rpartition("/")[2])
    for file in sorted((shared / "transcripts").rglob("*")):  # what others say too is no name of that history
        if suspects and file.is_file() and not any(name in file.parts for name in own):
            said = file.read_bytes().decode("utf-8", "replace")
            suspects = {name for name in suspects if name not in said}
    assert suspects == set()
