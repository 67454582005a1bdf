"""What is said of a night's rules as a list: in Markdown, on the page and on the terminal, harmless in each."""

from __future__ import annotations

import io
from dataclasses import replace

from skillopt_sleep.cli.view import View
from skillopt_sleep.review.page import page
from skillopt_sleep.review.report import as_markdown
from tests.review.sample import night, quiet_night

STANDS = "Of 5 recorded rules with five later units or more, 2 would stand out of the list as a whole"
CHANCES = ("Expected false adoptions, at most: 0.02", "Rules that recordings may support by chance, at most: 0.15")


def on_a_terminal(report: object) -> str:
    out = io.StringIO()
    View(out=out, err=io.StringIO(), width=400).night(report)  # type: ignore[arg-type]
    return out.getvalue()


def test_the_list_and_the_chances_are_told_everywhere() -> None:
    for text in (as_markdown(night()), page(night()), on_a_terminal(night())):
        for line in (STANDS, *CHANCES):
            assert line in text.replace("\\", "")


def test_a_title_cannot_bend_the_list() -> None:
    assert "<script>" not in page(night())
    lines = as_markdown(night()).split("## The list as a whole")[1].split("##")[0].strip().splitlines()
    assert len(lines) == 4, "a sentence, a blank line, two titles"
    assert "\\*\\*bold" in lines[3]


def test_none_of_it_where_nothing_was_measured() -> None:
    for text in (as_markdown(quiet_night()), page(quiet_night()), on_a_terminal(quiet_night())):
        assert "stand out" not in text
        assert "at most:" not in text
    none = night().standing_out
    assert none is not None
    assert "none would stand out" in as_markdown(replace(night(), standing_out=replace(none, titles=())))
