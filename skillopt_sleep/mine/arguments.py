"""The arguments of a tool call as strings, also where the stored JSON was cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

_PAIR: Final = re.compile(r'"([A-Za-z_]\w*)"\s*:\s*"((?:[^"\\]|\\.)*)("|\\?\Z)', re.DOTALL)
_ITEM: Final = re.compile(r'[\[,]\s*"((?:[^"\\]|\\.)*)(?:"\s*[,\]]|\\?\Z)', re.DOTALL)
_SIMPLE: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f"}
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)


class Arguments:
    """What a call was given: `texts` maps a key to all its string values, outer ones first. It never fails.

    Text that is no JSON object (a raw patch, say) stands under the key `input`.
    """

    __slots__ = ("texts", "whole")

    def __init__(self, text: str) -> None:
        self.texts: dict[str, list[str]] = {}
        self.whole: Mapping[str, object] = {}
        try:
            value = json.loads(text) if text else {}
        except (ValueError, RecursionError):
            self._salvage(text)
            return
        if isinstance(value, dict):
            self.whole = value
            self._collect([value])
        elif isinstance(value, str):
            self.texts["input"] = [value]

    def first(self, keys: Iterable[str]) -> str:
        """The first value of the first of these keys that has one, else ""."""
        return next((self.texts[key][0] for key in keys if self.texts.get(key)), "")

    def all(self, keys: Iterable[str]) -> list[str]:
        return [value for key in keys for value in self.texts.get(key, ())]

    def _collect(self, level: Sequence[object]) -> None:
        """Breadth first, so that a call's own keys come before those of its parts."""
        while level:
            deeper: list[object] = []
            for value in level:
                items = (
                    value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
                )
                for key, item in items:
                    if isinstance(item, str):
                        self.texts.setdefault(str(key), []).append(item)
                    else:
                        deeper.append(item)
            level = deeper

    def _salvage(self, text: str) -> None:
        if not text.lstrip().startswith("{"):
            self.texts["input"] = [text]
            return
        for match in _PAIR.finditer(text):
            self.texts.setdefault(match[1], []).append(_unescape(match[2]))
        if items := [_unescape(match[1]) for match in _ITEM.finditer(text)]:
            self.texts.setdefault("input", []).append(max(items, key=len))  # `["bash", "-lc", TEXT`


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1][1:], 16)) if len(m[1]) == 5 else _SIMPLE.get(m[1], m[1]), text)
