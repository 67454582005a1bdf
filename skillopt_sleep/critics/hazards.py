"""What no rule may carry, whoever wrote it: addresses, secrets, instructions to fetch something and run it."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

_ADDRESS: Final = re.compile(
    r"\b(?:https?|ftps?|ssh|git|file|wss?)://|\bwww\.[\w-]+\.|\bgit@[\w.-]+:|\b(?:data|javascript):[\w/+.-]+[,;(]",
    re.IGNORECASE,
)
_SECRET: Final = re.compile(
    r"-----BEGIN [A-Z ]*(?:KEY|CERTIFICATE)|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[opsur]_[A-Za-z0-9]{20,}|"
    r"\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bsk-[A-Za-z0-9_-]{16,}|\bxox[abeprs]-[\w-]{10,}|\bAIza[\w-]{30,}|"
    r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.|"
    r"\b(?:password|passwd|secret|token|api[_-]?key)\b\s*[=:]\s*[\"']?(?![\"'<$*{\s])\S{8,}",
    re.IGNORECASE,
)
_RANDOM: Final = re.compile(r"(?<![\w/+.-])(?=[A-Za-z0-9+/_-]*[0-9])(?=[A-Za-z0-9+/_-]*[a-z])[A-Za-z0-9+/_-]{28,}")
_FETCH: Final = r"\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|aria2c)\b"
_INTERPRETER: Final = r"(?:ba|z|da|k|fi)?sh|python[\d.]*|node|deno|bun|ruby|perl|php|iex|invoke-expression|source|eval"
_FETCH_AND_RUN: Final = re.compile(
    rf"{_FETCH}[^\n]{{0,400}}?\|\s*(?:sudo\s+|env\s+|\w+=\S*\s+){{0,4}}(?:/\S*/)?(?:{_INTERPRETER})\b|"
    rf"(?:\b(?:{_INTERPRETER})\b|(?<!\S)\.)[^\n]{{0,80}}?(?:\$\(|<\(|`)\s*{_FETCH}|"
    rf"{_FETCH}[^\n]{{0,400}}?(?:&&|;)\s*(?:sudo\s+)?(?:chmod\b|\./|(?:{_INTERPRETER})\b)|"
    r"\b(?:download|fetch|curl|wget)\b[^\n]{0,80}?\b(?:and|then)\b[^\n]{0,20}?\b(?:run|execute|source|install)\b|"
    r"\b(?:pip3?|npm|npx|pnpm|yarn|go|cargo|gem)\b[^\n]{0,80}?\b(?:install|add|i|exec|run)?\b[^\n]{0,40}?\b(?:git\+|https?)[+:]//?",
    re.IGNORECASE,
)


def has_address(text: str) -> bool:
    """A web address, a remote or a data address."""
    return bool(_ADDRESS.search(text))


def looks_secret(text: str) -> bool:
    """A shape that only keys and tokens have, a password that is given, or a long random word."""
    return bool(_SECRET.search(text)) or any(_is_random(found.group()) for found in _RANDOM.finditer(text))


def _is_random(word: str) -> bool:
    """Upper, lower and digits mixed without the rhythm of words or paths."""
    changes = sum(_sort(a) != _sort(b) for a, b in pairwise(word))
    return any(c.isupper() for c in word) and word.count("/") < 2 and changes >= len(word) / 3


def _sort(char: str) -> str:
    return "d" if char.isdigit() else "u" if char.isupper() else "l" if char.islower() else "o"


def fetches_and_runs(text: str) -> bool:
    """An instruction to get something from elsewhere and execute it."""
    return bool(_FETCH_AND_RUN.search(text))
