from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from skillopt_core.protocols import Exhausted
from skillopt_core.types import Missing
from skillopt_sleep.clock import DAY_MS
from skillopt_sleep.domain.sentences import DoNotRun, Said
from skillopt_sleep.mine import Mined, mine
from skillopt_sleep.mine.kinds import (
    Item,
    Kind,
    ask_kinds,
    batches,
    items_of,
    kinds_of,
    most_requests,
    patterns_of,
)
from tests.mine.building import START, Session, episodes_in

RULE = "Do not run `git push --force`."
Reply = str | Missing


class Scripted:
    """Answers in turn, the last one for ever; the budget is out after `most` prompts that were not asked before."""

    def __init__(self, *replies: Reply | Callable[[str], Reply], most: int = 1000) -> None:
        self.replies = replies
        self.asked: list[str] = []
        self.known: dict[str, Reply] = {}
        self.most = most

    def __call__(self, prompts: Sequence[str]) -> Sequence[Reply]:
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: str) -> Reply:
        if prompt not in self.known:
            if len(self.asked) == self.most:
                raise Exhausted("all calls are made")
            self.asked.append(prompt)
            reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
            self.known[prompt] = reply(prompt) if callable(reply) else reply
        return self.known[prompt]


def kinds(*rows: tuple[Sequence[object], str]) -> str:
    return json.dumps({"kinds": [{"items": list(numbers), "name": "pushes", "rule": rule} for numbers, rule in rows]})


def history(sessions: int = 4) -> tuple[Mined, tuple[Item, ...]]:
    made = [
        Session(f"s{n}", day=n).prompt("ship it").refused("Bash", {"command": "git push --force"}, f"no force push {n}")
        for n in range(sessions)
    ]
    found = mine(episodes_in(made))
    return found, items_of(found)


def formed(complete: Scripted, told: Sequence[Sequence[Item]], known: Sequence[Kind] = ()) -> tuple[list[Kind], object]:
    asked = ask_kinds(complete, told)
    return kinds_of(asked, complete, known, frozenset({"git"}), cut_ms=START + 10 * DAY_MS, model="m")


def test_support_is_counted_from_the_items_that_were_shown() -> None:
    _, items = history()
    (kind,), left = formed(Scripted(kinds(([1, 2, 2, "3", 99, True, None], RULE))), [items])
    assert kind.sessions == ("s0", "s1", "s2")
    assert kind.sentence == DoNotRun("git push --force")
    assert left == {}


def test_one_session_is_no_kind() -> None:
    _, items = history()
    found, left = formed(Scripted(kinds(([1], RULE))), [items])
    assert found == []
    assert left == {"it was said in one session alone": 1}


def test_one_rule_in_two_batches_is_one_kind() -> None:
    _, items = history()
    found, _ = formed(Scripted(kinds(([1], RULE)), kinds(([1], RULE)), '{"same": []}'), [items[:2], items[2:]])
    assert [kind.sessions for kind in found] == [("s0", "s2")]


def test_rules_that_the_model_takes_for_the_same_are_joined_where_their_items_speak_of_it() -> None:
    _, items = history()
    replies = (kinds(([1, 2], RULE)), kinds(([1], "Never push by force.")), '{"same": [[1, 2], [2, 1], [7]]}')
    found, _ = formed(Scripted(*replies), [items[:2], items[2:]])
    assert [(kind.rule, kind.sessions) for kind in found] == [(RULE, ("s0", "s1", "s2"))]


def test_what_is_known_keeps_its_words_and_is_not_found_again() -> None:
    _, items = history()
    known = Kind("old", RULE, (items[0].event, items[1].event), ("s0", "s1"), 5)
    assert formed(Scripted(kinds(([1, 2, 3], RULE))), [items], [known]) == ([], {})


@pytest.mark.parametrize(
    "reply",
    ["", "no", "{}", '{"kinds": 7}', '{"kinds": ["x"]}', '{"kinds": [{"items": "all", "rule": "x"}]}', "[" * 10_000],
)
def test_what_cannot_be_read_is_asked_for_once_more_and_then_counted(reply: str) -> None:
    _, items = history()
    complete = Scripted(reply)
    asked = ask_kinds(complete, [items])
    assert len(complete.asked) == 2
    assert "could not be read" in complete.asked[1]
    assert (asked.answered, asked.kinds, asked.lost) == (0, [], {"unusable reply": 1})


def test_a_failed_call_is_counted_and_not_taken_for_nothing_to_learn() -> None:
    _, items = history()
    asked = ask_kinds(Scripted(Missing("HTTP 500"), '{"kinds": []}'), [items[:2], items[2:]])
    assert (asked.of, asked.answered, asked.lost) == (2, 1, {"HTTP 500": 1})
    assert [item.session for item in asked.read] == ["s2", "s3"]


def test_the_budgets_end_keeps_what_was_answered() -> None:
    _, items = history()
    complete = Scripted(kinds(([1], RULE)), most=2)
    asked = ask_kinds(complete, [[item] for item in items])
    assert (asked.of, asked.answered, len(asked.kinds)) == (4, 2, 2)
    assert asked.exhausted == "all calls are made"
    assert len(complete.asked) == 2


def test_no_more_is_asked_than_was_said_beforehand() -> None:
    _, items = history()
    for told in ([items], [items[:2], items[2:]], [[item] for item in items]):
        complete = Scripted("garbage")
        formed(complete, told)
        assert len(complete.asked) <= most_requests(len(told))


def test_a_kind_is_a_pattern_of_corrections_with_the_persons_quotes() -> None:
    found, items = history()
    (kind,), _ = formed(Scripted(kinds(([1, 2, 3], RULE))), batches(items))
    (pattern,) = patterns_of([kind], items, found)
    assert (pattern.kind, pattern.sentence, pattern.document) == ("correction", DoNotRun("git push --force"), "memory")
    assert pattern.cut_ms == START + 10 * DAY_MS
    assert pattern.sessions == kind.sessions
    assert next(quote.text for quote in pattern.quotes if quote.author == "person") == "no force push 2"
    assert {quote.author for quote in pattern.quotes} == {"person", "agent"}
    assert pattern.title == "“pushes”, said in 3 sessions (grouped by a model)"


def test_a_kind_of_free_words_is_a_house_rule_that_nothing_checks() -> None:
    found, items = history()
    (kind,), _ = formed(Scripted(kinds(([1, 2], "Never push by force."))), batches(items))
    (pattern,) = patterns_of([kind], items, found)
    assert pattern.sentence == Said("Never push by force.")


def test_a_kind_whose_words_were_forgotten_is_gone() -> None:
    found, items = history()
    kind = Kind("pushes", RULE, (items[0].event, items[1].event), ("s0", "s1"), 5)
    assert len(patterns_of([kind], items, found)) == 1
    assert patterns_of([kind], items[1:], found) == []


def test_a_name_that_does_harm_is_not_shown() -> None:
    found, items = history()
    reply = json.dumps({"kinds": [{"items": [1, 2], "name": "see https://evil.example", "rule": RULE}]})
    (kind,), _ = formed(Scripted(reply), batches(items))
    assert kind.name == ""
    assert "evil" not in patterns_of([kind], items, found)[0].title
