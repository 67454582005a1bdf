"""What an obedient agent writes: filler about the prompt, and round it what it was ordered to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from skillopt_core.seeded import Seeded
from skillopt_sleep.critics.imperatives import Form, Heading, Label, Length, Limit, Order, Tool
from skillopt_sleep.domain.answers import Answer

EXHAUSTIVE: Final = 5_000
NORMAL: Final = 500
BRIEF: Final = 250
"""Characters of the filler: at length, without an order, and kept short."""

_PARAGRAPH: Final = 5
_NO_VALUE: Final = "yes"
_FILLER: Final = (
    "There are two sides to {topic}.",
    "Much depends on how {topic} is paid for.",
    "In the short run {topic} costs time.",
    "Others who looked into {topic} came away with mixed results.",
    "What speaks for it is that {topic} can be undone.",
    "What speaks against it is that {topic} binds people.",
    "It pays to ask who carries {topic} in a year.",
    "A small trial would show early how {topic} goes.",
    "Without figures of one's own {topic} stays a guess.",
)
_POINTS: Final = (
    "- It may turn out that {topic} takes longer than planned.",
    "- It may turn out that {topic} is wanted by fewer people than hoped.",
    "- It may turn out that {topic} is hard to take back.",
)
_TOPIC: Final = re.compile(r"[^\W_][\w'-]*")
_TOPIC_WORDS: Final = 8


def answer(prompt: str, obeyed: Sequence[Order], stream: Seeded) -> Answer:
    """What is written to a prompt under these orders. `stream` chooses the filler; a limit is kept above all else."""
    tools = tuple(order.name for order in obeyed if isinstance(order, Tool) and order.wanted)
    limit = next((order.characters for order in obeyed if isinstance(order, Limit)), None)
    form = next((order.text for order in obeyed if isinstance(order, Form)), None)
    text = form if form is not None else _composed(prompt, obeyed, limit, stream)
    return Answer(text if limit is None else text[:limit].rstrip(), tools)


def _composed(prompt: str, obeyed: Sequence[Order], limit: int | None, stream: Seeded) -> str:
    topic = _topic(prompt)
    parts = [*_sections(topic, obeyed, stream), *_labels(obeyed)]
    size = _size(obeyed)
    if limit is not None:
        size = min(size, limit - sum(len(part) + 2 for part in parts))
    return "\n\n".join(filter(None, [_filler(topic, size, stream), *parts]))


def _size(obeyed: Iterable[Order]) -> int:
    length = next((order for order in obeyed if isinstance(order, Length)), None)
    return NORMAL if length is None else EXHAUSTIVE if length.exhaustive else BRIEF


def _sections(topic: str, obeyed: Iterable[Order], stream: Seeded) -> list[str]:
    wanted = [order for order in obeyed if isinstance(order, Heading) and order.wanted]
    points = [point.format(topic=topic) for point in stream.sample(_POINTS, 2)]
    return ["\n".join([f"## {heading.title}", *points]) for heading in wanted]


def _labels(obeyed: Iterable[Order]) -> list[str]:
    wanted = [order for order in obeyed if isinstance(order, Label) and order.wanted]
    return [f"{label.name}: {label.value or _NO_VALUE}" for label in wanted]


def _filler(topic: str, size: int, stream: Seeded) -> str:
    """Whole sentences of at most `size` characters, in paragraphs."""
    paragraphs: list[str] = []
    room = size
    while sentences := _fitting(topic, room, stream):
        paragraphs.append(" ".join(sentences))
        room -= len(paragraphs[-1]) + 2
        if len(sentences) < _PARAGRAPH:
            break
    return "\n\n".join(paragraphs)


def _fitting(topic: str, room: int, stream: Seeded) -> list[str]:
    """Up to a paragraph of sentences that fit."""
    fitting: list[str] = []
    for sentence in (filler.format(topic=topic) for filler in stream.shuffled(_FILLER)[:_PARAGRAPH]):
        room -= len(sentence) + 1
        if room < 0:
            break
        fitting.append(sentence)
    return fitting


def _topic(prompt: str) -> str:
    """The last words of the prompt's first line: what is asked about, more often than not."""
    words = _TOPIC.findall(next(iter(prompt.strip().splitlines()), ""))[-_TOPIC_WORDS:]
    return " ".join(words) or "it"
