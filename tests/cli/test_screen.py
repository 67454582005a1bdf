"""The drawn review: fits any terminal, says without colour what it says with it."""

from __future__ import annotations

import importlib.util
import io
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from rich.cells import cell_len
from rich.console import Console

from skillopt_sleep.cli.screen import Frame, frame
from skillopt_sleep.review.session import Desk, opened, press


def drawn(desk: Desk, width: int = 80, height: int = 24) -> Frame:
    return frame(desk, Console(file=io.StringIO(), width=width, height=height), width, height)


def text(desk: Desk, width: int = 80, height: int = 24) -> str:
    return "\n".join(line.plain for line in drawn(desk, width, height).lines)


@pytest.fixture(scope="module")
def sample() -> ModuleType:
    """The sample morning of the tests of review: tests are no package, so it is found by its file."""
    path = Path(__file__).parent.parent / "review" / "sample.py"
    spec = importlib.util.spec_from_file_location("review_sample", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def desk(sample: ModuleType) -> Desk:
    return opened(Desk(sample.proposals()), 0)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 16), (200, 60), (80, 12), (30, 14)])
@pytest.mark.parametrize("keys", [[], ["tab"], ["tab", "tab"], ["?"], ["r", "x"], ["4", "a"], ["n", "f"]])
def test_a_frame_has_exactly_the_size_of_the_terminal(desk: Desk, width: int, height: int, keys: list[str]) -> None:
    for key in keys:
        desk, _ = press(desk, key, 0)
    lines = drawn(desk, width, height).lines
    assert len(lines) == height
    assert all(cell_len(line.plain) <= width for line in lines)
    assert not any("\n" in line.plain or "\x1b" in line.plain for line in lines)


def test_a_frame_shows_edits_verdicts_ticks_and_keys_at_once(desk: Desk) -> None:
    shown = text(desk)
    for words in (
        "proposal 1 of 3",
        "harbor-api (learned skill)  3 rules supported, 1 not proven yet",
        "› [x]  1 Use `pnpm`, not `npm`.",
        "  [ ]  4 In `.py` files",
        "supported          1.4%",
        "came back in 13 of 31 later sessions",
        "+++++++++·+",
        "“no, this repo is on pnpm. use pnpm, never npm” a person, 8 Feb",
        "not that an",
        "a adopt   1-4 tick   r reject   d later   tab pane   ? keys   q leave",
    ):
        assert words in shown


def test_the_sessions_pane_is_a_table_of_before_and_after(desk: Desk) -> None:
    desk, _ = press(desk, "tab", 0)
    rows = [line.strip() for line in text(desk, height=40).splitlines()]
    assert "day     unit             before after     d" in rows
    assert "3 Feb   2026-02-03/mara    0.00  1.00 +1.00  prevented 1, broken 0, unknown 0" in rows


def test_the_changes_pane_shows_what_is_ticked_alone(desk: Desk) -> None:
    for key in ("tab", "tab"):
        desk, _ = press(desk, key, 0)
    assert "+- Use `pnpm`, not `npm`." in text(desk, height=60)
    desk, _ = press(desk, "1", 0)
    assert "+- Use `pnpm`, not `npm`." not in text(desk, height=60)
    for key in ("2", "3"):
        desk, _ = press(desk, key, 0)
    assert "nothing is ticked" in text(desk)


def test_what_does_not_fit_is_counted_and_scrolled_to(desk: Desk) -> None:
    desk, _ = press(desk, "tab", 0)
    first = drawn(desk, height=16)
    assert first.limit > 0
    assert "more lines (f)" in text(desk, height=16)
    last = replace(desk, scroll=first.limit)
    assert "more lines" not in text(last, height=16)
    assert "13 Feb" in text(last, height=16)


def test_many_edits_are_listed_around_the_one_in_focus(sample: ModuleType) -> None:
    proposal = sample.proposals()[0]
    many = tuple(replace(proposal.edits[0], n=n) for n in range(1, 31))
    desk = opened(Desk((replace(proposal, edits=many),)), 0)
    for _ in range(20):
        desk, _ = press(desk, "down", 0)
    shown = text(desk)
    assert "› [x] 21" in shown
    assert "(30 in all)" in shown or len([line for line in shown.splitlines() if "[x]" in line]) == 7


def test_questions_stand_above_the_keys(desk: Desk) -> None:
    asked, _ = press(press(desk, "4", 0)[0], "a", 0)
    assert "Edit 4 is not proven. Adopt all the same?" in text(asked).splitlines()[-2]
    typed = desk
    for key in ("r", "n", "o"):
        typed, _ = press(typed, key, 0)
    assert "Why not? (enter: reject, esc: back) no▏" in text(typed).splitlines()[-2]


def test_a_long_answer_is_read_to_its_end(desk: Desk) -> None:
    said = "CLAUDE.md: " + "the live text changed since it was staged " * 3 + "Run a night to stage it anew"
    lines = text(replace(desk, said=said)).splitlines()
    assert len(lines) == 24
    assert lines[-2].endswith("anew")
    assert lines[-1].startswith("a adopt")


def test_hostile_words_reach_the_screen_as_words(sample: ModuleType) -> None:
    proposal = sample.proposals()[0]
    edits = tuple(replace(edit, provenance=(sample.quote(sample.HOSTILE, 2),)) for edit in proposal.edits)
    shown = text(opened(Desk((replace(proposal, edits=edits),)), 0))
    assert "<script>alert('x')</script> red **bold** [link]" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
