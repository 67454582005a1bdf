"""The page of a run: whatever came of it is said truly, and nothing of anyone's text becomes markup."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from skillopt_core.types import (
    Edit,
    Evolution,
    Outcome,
    Patch,
    Refused,
    Skill,
    Step,
    Task,
    TaskSet,
    UnitScore,
    Verdict,
)
from skillopt_sleep.domain.reports import Evidence
from skillopt_sleep.train import Training
from skillopt_sleep.train.curve import curve, points
from skillopt_sleep.train.plan import planned
from skillopt_sleep.train.recipe import Recipe
from skillopt_sleep.train.report import Head, headline, report_page
from tests.conftest import BROWSERS
from tests.review.test_report import SWITCHES

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \"' `<b>code</b>` \u202e\x1b[31m"
BASE, BETTER = Skill("# S\n\nOne.\n", "s"), Skill("# S\n\nOne.\n\n- Two.\n", "s")


def verdict(outcome: Outcome, before: float, after: float, name: str = "t") -> Verdict:
    units = tuple(UnitScore(f"{name}{n}", before, after, after - before, 3, tasks=(f"{name}{n}",)) for n in range(6))
    return Verdict(outcome, "because", before=before, after=after, effect=after - before, interval=(-0.5, 0.5), p=0.01,
                   pairs=18, units=units, evidence="simulated")  # fmt: skip


def step(number: int, said: Verdict | None, text: str = "- Two.", *, kept: bool = False) -> Step:
    patch = Patch((Edit("add", "", text),) if said else (), (Refused(Edit("add", "", text), "why " + text, "missed"),))
    return Step(0, number, 4, 2, patch, BETTER if said else None, said, 0.2, kept, events={"critic: " + text: 1})


def training(*steps: Step, reached: Skill = BASE, audit: Verdict | None = None, **more: object) -> Training:
    """A run as it might have come to be."""
    tasks = TaskSet((Task("a", "p"),), tuple(Task(f"g{n}", f"q{n}") for n in range(9)), (Task("z", "r"),))
    plan = planned(Recipe(), tasks, "simulated", deterministic=False)
    evolution = Evolution(BASE, reached, steps, **more)  # type: ignore[arg-type]
    budget = {name: {"limit": None, "spent": 0} for name in ("tokens", "calls", "usd", "seconds")}
    return Training(evolution, plan, tasks, audit, (), budget)


def page(done: Training, name: str = "s", evidence: Evidence = "simulated") -> str:
    stages = {stage: {"seconds": 1.5, "tokens": 10} for stage in ("rollout", "optimizer", "gate")}
    head = Head("t-1", name, name, name, name, evidence == "simulated", {"seed": name})
    return report_page(done, head, [{"kind": "step", "stages": stages}] * len(done.evolution.steps))


KEPT = step(0, verdict(Outcome.ACCEPT, 0.2, 0.9), kept=True)
REFUSED = step(1, verdict(Outcome.REJECT, 0.9, 0.4))


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (training(KEPT, reached=BETTER, audit=verdict(Outcome.ACCEPT, 0.25, 0.75)), "From 0.25 to 0.75 on 6 audit"),
        (training(KEPT, reached=BETTER, audit=verdict(Outcome.REJECT, 0.5, 0.25)), "Not better on 6 audit tasks"),
        (training(KEPT, reached=BETTER), "no audit task says how good it is"),
        (training(REFUSED), "No edit was proven better"),
        (training(step(0, None)), "No edit came up"),
        (training(step(0, verdict(Outcome.INFRA_ERROR, 0, 0))), "Too many calls failed"),
        (training(KEPT, stopped="budget"), "The budget ended the run"),
        (training(step(0, None), stopped="no_headroom"), "Every train task passed"),
        (training(stopped="nothing_to_do"), "There was nothing to do"),
    ],
)  # fmt: skip
def test_the_headline_is_true_of_what_came_of_it(done: Training, said: str) -> None:
    assert said in headline(done)
    assert said in page(done)


def test_simulated_figures_are_called_so_and_others_are_not() -> None:
    done = training(KEPT, reached=BETTER)
    assert 'class="simulated"' in page(done)
    assert "imulated" not in page(done, evidence="replayed").partition("<body>")[2]


class Markup(HTMLParser):
    """What a browser would take for markup."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def poisoned() -> Training:
    """A run in which every text of others is hostile."""
    bad = verdict(Outcome.ACCEPT, 0.2, 0.9, HOSTILE)
    reached = replace(BETTER, text=f"# S\n\n{HOSTILE}\n")
    steps = (
        replace(step(0, replace(bad, why=HOSTILE, needs=HOSTILE), HOSTILE, kept=True), stage="slow_update"),
        step(1, replace(bad, outcome=Outcome.REJECT), HOSTILE),
    )
    return training(*steps, reached=reached, audit=bad)


def test_nobodys_text_becomes_markup() -> None:
    written = page(poisoned(), HOSTILE)
    seen = Markup()
    seen.feed(written)
    assert not seen.tags & {"script", "img", "iframe", "object", "link", "form", "b", "base"}
    assert not any(name.startswith("on") or name in {"src", "href", "action"} for name in seen.attributes)
    assert "\x1b" not in written
    assert "\u202e" not in written
    assert "alert(1)" in written, "it is shown, as text"


def test_the_page_allows_nothing_but_its_own_style_sheet() -> None:
    written = page(poisoned())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', written)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; style-src 'sha256-")
    assert not re.search(r"https?://|url\(|@import", written)


def test_the_curve_holds_the_score_of_the_text_that_training_stood_at() -> None:
    found = points((KEPT, step(1, None), REFUSED))
    assert [point.held for point in found] == [0.9, 0.9, 0.9]
    assert [point.refused for point in found] == [None, None, 0.4]


def test_a_run_without_a_score_has_no_curve() -> None:
    assert curve(()) == ""
    assert curve((replace(step(0, None), train=None),)) == ""


@pytest.mark.chromium
@pytest.mark.parametrize("width", [360, 1100])
def test_a_browser_lays_the_page_out_without_a_complaint(tmp_path: Path, width: int) -> None:
    """Nothing is refused by the policy, and nothing sticks out at the side."""
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    (tmp_path / "report.html").write_text(page(poisoned(), HOSTILE), encoding="utf-8")
    probe = tmp_path / "probe.html"
    probe.write_text(
        f"<title>?</title><iframe src='report.html' width={width} height=600></iframe><script>onload = () => "
        "{ const page = document.querySelector('iframe').contentDocument.documentElement; "
        "const fits = page.scrollWidth <= page.clientWidth; "
        "document.title = `${fits} ${page.querySelectorAll('article').length}` }</script>"
    )
    argv = [str(browser), *SWITCHES.split(), f"--user-data-dir={tmp_path / 'profile'}", probe.as_uri()]
    home = {**os.environ, "HOME": str(tmp_path)}
    seen = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True, env=home)
    assert "<title>true 2</title>" in seen.stdout
    assert "Content Security Policy" not in seen.stderr
