"""The documentation is whole: a page for every model and agent, each of one shape, and no link that leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from skillopt_sleep.agents.native import LINES
from skillopt_sleep.config.roles import BACKENDS
from skillopt_sleep.models.anthropic import EFFORTS
from skillopt_sleep.models.anthropic import KEYS as ANTHROPIC
from skillopt_sleep.models.presets import PRESETS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HEADINGS = ["Set up", "What is sent, and to whom", "Key", "Errors", "Tested", "Known limits"]
HOW = {"tested with the real thing", "tested with a scripted server", "only written"}
MODELS = sorted(set(BACKENDS) - {"auto"})
AGENTS = sorted({*LINES, "chat", "recorded", "simulated", "plugin"})
PAGES = [*(DOCS / "models" / f"{name}.md" for name in MODELS), *(DOCS / "agents" / f"{name}.md" for name in AGENTS)]
TEXTS = sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))])
_LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")


def prose(text: str) -> str:
    """Without code, in which brackets are no links and a # is no heading."""
    return re.sub(r"`[^`\n]*\]\([^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def headings(text: str) -> list[str]:
    return [line.lstrip("#").strip() for line in prose(text).splitlines() if re.match(r"#{1,6} ", line)]


def anchor(heading: str) -> str:
    """As GitHub makes it: lower case, of punctuation hyphens and underscores alone, a hyphen for each space."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def rows(text: str) -> Iterator[list[str]]:
    """The cells of the table under "Tested", without its head."""
    section = text.split("\n## Tested\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    yield from ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_every_model_and_agent_has_a_page_of_the_one_shape(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert headings(text)[1:] == HEADINGS
    setup = text.split("## Set up", 1)[1].split("```")[1].strip()
    assert len(setup.splitlines()) == 3, "how to set it up, in three lines"
    found = list(rows(text))
    assert found
    assert all(len(row) == 3 and row[0] and row[2] for row in found)
    assert {row[1] for row in found} <= HOW


@pytest.mark.parametrize("name", ["models", "agents"])
def test_no_page_is_missing_from_its_index_or_left_over(name: str) -> None:
    named = set(MODELS if name == "models" else AGENTS)
    assert {page.stem for page in (DOCS / name).iterdir()} == named
    index = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert {Path(link).stem for link in _LINK.findall(index) if link.startswith(f"{name}/")} == named


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_the_page_of_a_server_says_where_it_is_asked_and_with_which_key(name: str) -> None:
    text, preset = (DOCS / "models" / f"{name}.md").read_text(encoding="utf-8"), PRESETS[name]
    host = urlsplit(preset.base_url or "")
    said = [*preset.keys, *([preset.address] if preset.address else []), *preset.efforts]
    said += [str(host.port) if host.hostname == "127.0.0.1" else host.hostname or ""]
    assert [word for word in said if word not in text] == []


def test_the_page_of_anthropic_says_its_key_and_its_efforts() -> None:
    text = (DOCS / "models" / "anthropic.md").read_text(encoding="utf-8")
    assert [word for word in (*ANTHROPIC, *EFFORTS) if word not in text] == []


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    dead = []
    for link in _LINK.findall(prose(page.read_text(encoding="utf-8"))):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
        known = target.exists() and ROOT in (target, *target.parents)
        if known and parts.fragment and target.suffix == ".md":
            known = parts.fragment in map(anchor, headings(target.read_text(encoding="utf-8")))
        if not known:
            dead.append(link)
    assert dead == []
