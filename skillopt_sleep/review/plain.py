"""Text of others made harmless for where it is shown: a terminal, a Markdown file, an HTML page."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Final

from skillopt_sleep.redact import printable

_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>&|~$@]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
_OPENING: Final = re.compile(r"\A(\d{0,9})([#+=.)-])")
_CODE: Final = re.compile(r"(`+)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def one_line(text: str, most: int | None = None) -> str:
    """`printable` on one line, cut to `most` characters with an ellipsis."""
    line = " ".join(printable(text).split())
    return line if most is None or len(line) <= most else line[: max(most - 1, 0)].rstrip() + "…"


def kept_line(text: str) -> str:
    """A line of a document with its spaces: what is printable of it, tabs as four spaces."""
    return printable(text).replace("\n", " ").replace("\t", "    ")


def markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line: no markup, no link, no mention, no list or heading."""
    return _OPENING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", one_line(text)))


def markdown_rule(text: str) -> str:
    """A rule for Markdown: what stands in backticks is code, nothing else is markup."""
    return _spliced(one_line(text), markdown, code)


def code(text: str) -> str:
    """Text as a Markdown code span, whatever backticks it holds."""
    line = one_line(text) or " "
    fence = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def fenced(text: str, language: str = "") -> str:
    """Lines as a Markdown code block that they cannot close."""
    body = printable(text).rstrip("\n")
    fence = "`" * max(3, max((len(run) for run in re.findall(r"`+", body)), default=0) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def escaped(text: str) -> str:
    """Text for HTML, on one line."""
    return html.escape(one_line(text), quote=True)


def escaped_lines(text: str) -> str:
    """Several lines for HTML."""
    return html.escape(printable(text), quote=True)


def escaped_rule(text: str) -> str:
    """A rule for HTML: what stands in backticks is code, nothing else is markup."""
    return _spliced(one_line(text), html.escape, lambda inner: f"<code>{html.escape(inner)}</code>")


def _spliced(line: str, prose: Callable[[str], str], code_span: Callable[[str], str]) -> str:
    """The parts of a line in and between backticks, each made harmless in its own way, spaces between them kept."""
    parts: list[str] = []
    last = 0
    for found in _CODE.finditer(line):
        parts += [_padded(line[last : found.start()], prose), code_span(found[2].strip())]
        last = found.end()
    return "".join([*parts, _padded(line[last:], prose)])


def _padded(text: str, prose: Callable[[str], str]) -> str:
    lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :] if text.strip() else ""
    return f"{lead}{prose(text.strip())}{trail}"
