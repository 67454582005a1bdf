"""Requests that come back: prompts grouped by the cosine of their idf-weighted word n-grams, by leaders.

A prompt joins the first leader that is alike enough, in order of time; leaders are found through their rarest terms, so
that the work grows with the text and not with its square.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.mine.wording import words

ALIKE: Final = 0.5
"""The cosine from which two prompts are one kind of request."""
_MOST_CHARACTERS: Final = 2000
_MOST_TERMS: Final = 100
_KEYS: Final = 10
_MOST_LEADERS: Final = 16
_FEWEST_WORDS: Final = 3
_SMALL: Final = words(
    "a an the to of in on for and or but with is are be it its this that these those you we i me my us our your please "
    "just so then ok okay yes yeah yep no sure now also again here there can could would should let let's do does did "
    "go ahead lets implement continue proceed both"
)
"""Words that say nothing of what is asked."""
_WORD: Final = re.compile(r"[\w./-]*\w")


@dataclass(frozen=True, slots=True)
class Group:
    """Episodes whose prompts are alike; the first is the leader."""

    episodes: tuple[Episode, ...]


def terms(prompt: str) -> Counter[str]:
    """Word uni- and bigrams of a prompt's first 2,000 characters, numbers as `0`; empty where it asks for nothing."""
    said = [re.sub(r"\d+", "0", w) for w in _WORD.findall(prompt[:_MOST_CHARACTERS].casefold())][:_MOST_TERMS]
    if len({w for w in said if w not in _SMALL and w != "0"}) < _FEWEST_WORDS:
        return Counter()
    return Counter([*said, *(f"{a} {b}" for a, b in pairwise(said))])


def groups_of(episodes: Sequence[Episode]) -> list[Group]:
    """All groups, also those of one, in order of their leaders. `episodes` are of one project."""
    ordered = sorted(episodes, key=lambda e: (e.began_ms, e.session, e.prompt_event))
    counted = [(e, terms(e.prompt)) for e in ordered]
    documents = Counter(term for _, held in counted for term in held)
    idf = {term: math.log((1 + len(counted)) / (1 + n)) + 0.1 for term, n in documents.items()}
    clusters = _Leaders()
    for episode, held in counted:
        if held:
            clusters.take(episode, _unit({term: n * idf[term] for term, n in held.items()}))
    return [Group(tuple(members)) for members in clusters.members]


def _unit(weights: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(w * w for w in weights.values())) or 1.0
    return {term: w / length for term, w in sorted(weights.items())}


def cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    return sum(w * large[term] for term, w in small.items() if term in large)


class _Leaders:
    """Leaders by their heaviest terms."""

    def __init__(self) -> None:
        self.members: list[list[Episode]] = []
        self._vectors: list[dict[str, float]] = []
        self._by_term: dict[str, list[int]] = defaultdict(list)

    def take(self, episode: Episode, vector: dict[str, float]) -> None:
        keys = sorted(vector, key=lambda t: (-vector[t], t))[:_KEYS]
        near = Counter(i for key in keys for i in self._by_term[key][-_MOST_LEADERS:])
        tried = sorted(near, key=lambda i: (-near[i], i))[:_MOST_LEADERS]
        scored = [(cosine(self._vectors[i], vector), -i) for i in tried]
        best, index = max(scored, default=(0.0, 0))
        if best >= ALIKE:
            self.members[-index].append(episode)
            return
        for key in keys:
            self._by_term[key].append(len(self.members))
        self.members.append([episode])
        self._vectors.append(vector)
