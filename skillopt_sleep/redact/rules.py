"""Our own rules over a buffer: one pass for all literals, then the few rules that each literal calls for."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from skillopt_sleep.redact.contexts import CONTEXTS, Context, secret_group
from skillopt_sleep.redact.keyblocks import key_before_cut, key_before_end, key_from_begin
from skillopt_sleep.redact.likeness import is_random
from skillopt_sleep.redact.spans import Span
from skillopt_sleep.redact.vendors import VENDORS, Vendor

Find = Callable[[bytes, int], "tuple[Span | None, int]"]
"""(buffer, where a literal begins) → the secret, and from where on the same rule may be tried again."""


class Rule(NamedTuple):
    literals: tuple[bytes, ...]
    """Lower case."""
    find: Find


_SHORT = 3
_ESCAPED = (
    rb"(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"  # the end of an escape
    rb"|(?<=\[[0-9]m)|(?<=\[[0-9]{2}m)|(?<=;[0-9]{2}m)"  # or of a colour of the terminal
)
_LEFT = rb"(?:(?<![A-Za-z0-9])|" + _ESCAPED + rb")"
_LEFT_OF_SHORT = rb"(?:(?<![A-Za-z0-9_-])|" + _ESCAPED + rb")"  # three letters also occur in base64 of URLs
_REST_BARE = re.compile(rb"[^\s\"'`,;&|<>(){}\[\]\\\x00-\x1f\x7f]*+")
_REST_QUOTED = re.compile(rb"[^\"'`\\\x00-\x1f]*+")
_JWT = re.compile(rb"eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_/+-]*+)*+={0,2}")
_JWT_BODY = re.compile(rb"\.(?:eyJ|[A-Za-z0-9_-]{16})|\.\.")


def _at_first_use(pattern: bytes) -> Callable[[], re.Pattern[bytes]]:
    """The pattern, compiled where its literal is first met: most never are, and all take as long as 100 KB of text."""
    return cache(lambda: re.compile(pattern))


def _vendor_rule(vendor: Vendor) -> Rule:
    starts = b"|".join(re.escape(start.encode()) for start in vendor.starts)
    left = _LEFT_OF_SHORT if min(map(len, vendor.starts)) <= _SHORT else _LEFT
    pattern = _at_first_use((b"" if vendor.inside_words else left) + b"(?:" + starts + b")" + vendor.run.encode())

    def find(scan: bytes, at: int) -> tuple[Span | None, int]:
        match = pattern().match(scan, at)
        if match is None:
            return None, at
        if vendor.random and not is_random(match[0], 16):
            return None, match.end()
        return Span(match.start(), match.end(), vendor.kind), match.end()

    return Rule(tuple(start.lower().encode() for start in vendor.starts), find)


def _context_rule(context: Context) -> Rule:
    pattern = _at_first_use(context.pattern.encode())

    def find(scan: bytes, at: int) -> tuple[Span | None, int]:
        match = pattern().match(scan, at)
        if match is None or not context.judge(match):
            return None, at
        start, end = match.span(secret_group(match))
        if end - start >= 256:  # the pattern is bounded, the secret may not be
            rest = _REST_QUOTED if match.lastgroup == "quoted" else _REST_BARE
            end = rest.match(scan, end).end()  # type: ignore[union-attr]  # an empty match at least
        return Span(start, end, context.kind), end

    return Rule(tuple(literal.encode() for literal in context.literals), find)


def _web_token(scan: bytes, at: int) -> tuple[Span | None, int]:
    match = _JWT.match(scan, at)
    if match is None:
        return None, at
    return (Span(at, match.end(), "jwt") if _JWT_BODY.search(match[0]) else None), match.end()


def _block_rule(literal: bytes, block: Callable[[bytes, int], tuple[int, int] | None]) -> Rule:
    def find(scan: bytes, at: int) -> tuple[Span | None, int]:
        found = block(scan, at)
        return (Span(*found, "private-key"), found[1]) if found else (None, at)

    return Rule((literal,), find)


class _Dispatch(NamedTuple):
    literals: BytesAhoCorasick
    called: tuple[tuple[int, ...], ...]
    """By literal: indexes into `rules`."""
    rules: tuple[Rule, ...]


@cache
def _dispatch() -> _Dispatch:
    """All rules, made at first use: most commands redact nothing."""
    rules = (
        *map(_vendor_rule, VENDORS),
        *map(_context_rule, CONTEXTS),
        Rule((b"eyj",), _web_token),
        _block_rule(b"-----begin", key_from_begin),
        _block_rule(b"putty-user-key-file-", key_from_begin),
        _block_rule(b"-----end", key_before_end),
        _block_rule("…".encode(), key_before_cut),
    )
    called: dict[bytes, list[int]] = {}
    for index, rule in enumerate(rules):
        for literal in dict.fromkeys(rule.literals):
            called.setdefault(literal, []).append(index)
    literals = BytesAhoCorasick(list(called), implementation=Implementation.DFA)
    return _Dispatch(literals, tuple(map(tuple, called.values())), rules)


def own_spans(scan: bytes, low: bytes) -> list[Span]:
    """The secrets that our own rules see in `scan`, unsorted, perhaps overlapping. Linear in its length.

    `low` is `scan` in lower case.
    """
    literals, called, rules = _dispatch()
    again = [0] * len(rules)
    spans: list[Span] = []
    for literal, start, _ in literals.find_matches_as_indexes(low, overlapping=True):
        for index in called[literal]:
            if start < again[index]:
                continue
            span, again[index] = rules[index].find(scan, start)
            if span is not None:
                spans.append(span)
    return spans
