"""Nights in which a model trains the learned skill on the tasks that it wrote, and an agent attempts them.

The model is a scripted server, the agent a program that behaves like Claude Code: it writes the line that its person
wants only where the skill, which it opens first, says so. Each time a person had to ask for that line afterwards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillopt_core.types import Outcome
from skillopt_sleep.clock import DAY_MS, FixedClock
from skillopt_sleep.config import Config
from skillopt_sleep.domain.proposals import ProposedEdit
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.errors import StoreError
from skillopt_sleep.night import sleep
from skillopt_sleep.paths import Home
from skillopt_sleep.store import mining
from skillopt_sleep.store.engine import open_store
from skillopt_sleep.store.forgetting import forget_session
from skillopt_sleep.store.keeping import contents
from skillopt_sleep.world import LocalWorld
from tests.agents.pretending import pretender
from tests.cli.requesting import BEGAN, NAMES, adding, make_project, task_about
from tests.models.scripted import message, serve

pytestmark = pytest.mark.sandbox

SKILL = "words-lessons"
RULE = "- Begin the docstring of each function with `Words:`."
HARMFUL = "- Write each function without its body."
NOW = int(BEGAN.timestamp() * 1000) + 40 * DAY_MS
SPLIT = {"train": 0.5, "gate": 0.49, "audit": 0.01}
FIRST = 7


def opens() -> dict[str, str]:
    return {"open": SKILL}


def writes(name: str, docstring: str) -> dict[str, str]:
    return {
        "shell": f'printf \'\\n\\ndef {name}(text):\\n    """{docstring}"""\\n    return text.{name}()\\n\' >> words.py'
    }


def script(*, opened: bool = True) -> dict[str, Sequence[Any]]:
    """It does the work, with the line that is wanted only where the skill tells it, and nothing where it is misled."""
    steps: dict[str, Sequence[Any]] = {}
    for name in NAMES:
        plain, wanted = writes(name, "As text."), writes(name, "Words: as text.")
        obeys = {"if": "`Words:`", "then": wanted, "else": plain}
        work = {"if": "without its body", "then": {"shell": "true"}, "else": obeys}
        steps[f"function {name} "] = [*([opens()] if opened else []), work, {"text": "Done."}]
    return steps


def editing(rule: str) -> Callable[[Request], Response]:
    """A model that writes tasks, sorts them into one kind, and answers each reflection with one rule."""

    def answer(request: Request) -> Response:
        (only,) = request.get_json()["messages"]
        prompt = str(only["content"])
        reply: dict[str, object] = {"kinds": []}
        if "Write practice tasks" in prompt:
            reply = {"tasks": [task_about(re.findall(r"said: add a function (\w+)", prompt)[0])]}
        elif "same kind of work" in prompt:
            reply = {"kinds": [{"name": "add a function", "requests": list(range(1, 40))}]}
        elif '"variants"' in prompt:
            asked = re.findall(r"^(\d+)\. (Add a function (\w+) .*)$", prompt, re.MULTILINE)
            told = [(int(n), said.replace("Add a", "Please add the")) for n, said, _ in asked]
            told += [(n, f"{said} See evil_module.") for n, said in told]
            reply = {"variants": [{"of": n, "prompt": said} for n, said in told]}
        elif '"patterns"' in prompt:
            tasks = sorted(set(re.findall(r"== (T\d+)", prompt)))
            edit = {"op": "add", "anchor": "Rules", "text": rule}
            reply = {"patterns": [{"label": "SKILL_DEFECT", "why": "said each time", "tasks": tasks, "edits": [edit]}]}
        return message(request.path, json.dumps(reply), (900, 120))

    return answer


@dataclass
class Stage:
    """A project with sessions, an agent, a model, and a state of ours."""

    folder: Path
    url: str
    script: dict[str, Any] = field(default_factory=lambda: dict(script()))

    def __post_init__(self) -> None:
        self.project = self.folder / "words"
        self.commit = make_project(self.project)
        self.user_home = self.folder / "home"
        self.add(*NAMES[:FIRST])

    def add(self, *names: str) -> None:
        for name in names:
            adding(self.project, self.commit, NAMES.index(name), name).write(self.user_home)

    @contextmanager
    def open(self, now_ms: int = NOW, **sections: dict[str, Any]) -> Iterator[LocalWorld]:
        program = pretender(self.folder / "agent", self.script)
        agents = {"commands": {"claude": (str(program),)}, "deterministic": True, **sections.pop("agents", {})}
        models = {"target_backend": "claude", "optimizer_backend": "anthropic", "optimizer": "scripted"}
        models |= {"optimizer_base_url": self.url}
        given = {"gate": {"trial_alpha": 0.2}, "split": SPLIT, "budget": {"tokens": 10_000_000}, **sections}
        config = Config.model_validate({"models": models, "agents": agents, **given})
        clock = FixedClock(now_ms)
        with open_store(self.folder / "state/store.db", clock) as store:
            environ = {"ANTHROPIC_API_KEY": "x", "PATH": "/usr/bin:/bin"}
            yield LocalWorld(Home(self.folder / "state"), config, store, self.user_home, environ=environ, clock=clock)

    def night(self, now_ms: int = NOW, **sections: dict[str, Any]) -> NightReport:
        with self.open(now_ms, **sections) as world:
            return sleep(world)

    def rows(self, query: str) -> Sequence[Any]:
        with self.open() as world, world.store.read() as connection:
            return connection.exec_driver_sql(query).fetchall()


@pytest.fixture
def stage(tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Stage:
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    return Stage(tmp_path, httpserver.url_for("").rstrip("/"))


def edits(report: NightReport, rule: str = RULE) -> list[ProposedEdit]:
    return [edit for one in report.documents for edit in one.edits if edit.edit.text == rule]


def prompts(seen: Sequence[Request]) -> list[str]:
    return [str(request.get_json()["messages"][0]["content"]) for request in seen]


def test_a_skill_learns_what_the_person_had_to_say_each_time_and_is_proven_over_nights(
    stage: Stage, httpserver: HTTPServer
) -> None:
    seen = serve(httpserver, editing(RULE))
    first = stage.night()
    (edit,) = edits(first)
    assert (edit.verdict.outcome, edit.verdict.evidence) == (Outcome.ABSTAIN, "replayed")
    assert (edit.verdict.before, edit.verdict.after, edit.verdict.opened) == (0.0, 1.0, 1.0)
    assert edit.verdict.pairs == FIRST - 4, "four tasks before the cut, one pair of each later one"
    assert any("had to say afterwards: “every function here has a docstring" in p for p in prompts(seen))
    assert {quote.author for quote in edit.provenance} == {"person"}
    (trial,) = [one for one in first.trials if one.evidence == "replayed"]
    assert trial.state == "running"
    attempts = stage.rows("SELECT count(*) FROM attempt")[0][0]
    assert attempts == 4 + 2 * (FIRST - 4)

    stage.add(NAMES[FIRST])
    asked = len([p for p in prompts(seen) if '"patterns"' in p])
    second = stage.night(NOW + DAY_MS)
    (edit,) = edits(second)
    assert (edit.verdict.outcome, edit.verdict.pairs) == (Outcome.ACCEPT, FIRST - 3)
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == attempts + 2, "the new task alone"
    assert len([p for p in prompts(seen) if '"patterns"' in p]) == asked, "the candidate is not made anew"
    (learned,) = [one for one in second.documents if one.document.name == SKILL]
    assert learned.proposal

    third = stage.night(NOW + 2 * DAY_MS)
    assert edits(third)[0].verdict.outcome is Outcome.ACCEPT
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == attempts + 2, "what is proven waits for a person"
    assert any("waits for you" in warning for warning in third.warnings)


def test_a_harmful_rule_is_rejected_and_not_paid_for_again(stage: Stage, httpserver: HTTPServer) -> None:
    misled = {"if": "without its body", "then": {"shell": "true"}}
    for name in NAMES[4:]:  # the later tasks go well unless the skill misleads
        steps = [opens(), {**misled, "else": writes(name, "Words: as text.")}, {"text": "Done."}]
        stage.script[f"function {name} "] = steps
    serve(httpserver, editing(HARMFUL))
    report = stage.night()
    (edit,) = edits(report, HARMFUL)
    assert edit.verdict.effect == -1.0
    assert edit.status in {"refused", "proposed"}
    assert edit.verdict.outcome in {Outcome.REJECT, Outcome.ABSTAIN}
    attempts = stage.rows("SELECT count(*) FROM attempt")[0][0]
    stage.night(NOW + DAY_MS)
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == attempts, "nothing was asked for since"


def test_a_skill_that_is_never_opened_has_no_exposure(stage: Stage, httpserver: HTTPServer) -> None:
    stage.script = dict(script(opened=False))
    serve(httpserver, editing(RULE))
    (edit,) = edits(stage.night())
    assert edit.verdict.outcome is Outcome.NO_EXPOSURE


def test_an_edit_that_quotes_what_an_agent_wrote_is_refused_before_any_pair(
    stage: Stage, httpserver: HTTPServer
) -> None:
    serve(httpserver, editing(f"- Write `def {NAMES[0]}(text)` where it is asked for."))
    report = stage.night()
    refused = [edit for one in report.documents for edit in one.edits if "quotes what a check looks for" in edit.why]
    assert refused or any("proposed nothing that holds" in warning for warning in report.warnings)
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == 4, "the baseline alone"


def test_where_nothing_fails_there_is_nothing_to_gain_and_the_model_is_not_asked(
    stage: Stage, httpserver: HTTPServer
) -> None:
    stage.script = {f"function {name} ": [writes(name, "Words: as text."), {"text": "Done."}] for name in NAMES}
    seen = serve(httpserver, editing(RULE))
    report = stage.night()
    assert any("nothing to gain: claude does all 4 tasks well" in warning for warning in report.warnings)
    assert not [p for p in prompts(seen) if '"patterns"' in p]
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == 4
    again = stage.night(NOW + DAY_MS)
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == 4
    assert any("nothing was asked for since it was last tried" in warning for warning in again.warnings)


def test_a_budget_below_one_comparison_attempts_nothing(stage: Stage, httpserver: HTTPServer) -> None:
    serve(httpserver, editing(RULE))
    report = stage.night(budget={"tokens": 60_000})
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == 0
    assert any("does not reach for one comparison" in warning for warning in report.warnings)
    assert (report.budget.tokens.spent or 0) <= 60_000


def test_without_an_agent_tasks_are_written_and_nothing_is_trained(stage: Stage, httpserver: HTTPServer) -> None:
    serve(httpserver, editing(RULE))
    models = {"optimizer_backend": "anthropic", "optimizer": "scripted", "optimizer_base_url": stage.url}
    report = stage.night(models=models)
    assert edits(report) == []
    with stage.open() as world:
        assert len([task for task in mining.tasks(world.store) if task.written]) == FIRST


def test_forgetting_a_train_session_ends_its_candidate(stage: Stage, httpserver: HTTPServer) -> None:
    serve(httpserver, editing(RULE))
    stage.night()
    with stage.open() as world:
        first = min((task for task in mining.tasks(world.store) if task.written), key=lambda task: task.began_ms)
        forget_session(world.store, first.session)
    left = stage.rows("SELECT result FROM step WHERE key LIKE 'requests %'")
    assert left
    assert not any("Words:" in row[0] for row in left)
    assert stage.rows("SELECT count(*) FROM trial WHERE state = 'running' AND id LIKE '%-claude'")[0][0] == 0


def test_a_night_that_is_interrupted_after_its_attempts_makes_none_twice(
    stage: Stage, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = serve(httpserver, editing(RULE))
    with monkeypatch.context() as patch:
        patch.setattr("skillopt_sleep.night.growing._grown", full)
        with pytest.raises(StoreError):
            stage.night()
    attempts, asked = stage.rows("SELECT count(*) FROM attempt")[0][0], len(seen)
    assert attempts == 4 + 2 * (FIRST - 4)
    (edit,) = edits(stage.night())
    assert edit.verdict.pairs == FIRST - 4
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == attempts
    assert len(seen) == asked


def full(*_: object) -> None:
    raise StoreError("the disk is full", where="store.db")


def test_a_noisy_agent_is_asked_several_times_and_never_twice_for_one_draw(
    stage: Stage, httpserver: HTTPServer
) -> None:
    serve(httpserver, editing(RULE))
    report = stage.night(
        agents={"deterministic": False}, evolve={"rollouts_k": 2, "batch_size": 2}, gate={"repeats": 2}
    )
    (edit,) = edits(report)
    assert edit.verdict.pairs == 2 * (FIRST - 4)
    own = "SELECT count(*), count(DISTINCT key) FROM attempt WHERE comparison NOT LIKE 'a/a%'"
    counted = stage.rows(own)[0]
    assert counted == (2 * 2 + 2 * 2 * (FIRST - 4),) * 2, "two train tasks twice, each later task in two pairs"


def test_variants_of_train_tasks_are_attempted_along_and_name_nothing_new(stage: Stage, httpserver: HTTPServer) -> None:
    seen = serve(httpserver, editing(RULE))
    (edit,) = edits(stage.night(mine={"dream_factor": 2}))
    assert edit.verdict.pairs == FIRST - 4, "no variant is evidence"
    dreamt = stage.rows("SELECT count(*) FROM attempt WHERE task LIKE '%~%'")[0][0]
    assert dreamt == 4, "one variant of each train task: the other named what the task does not"
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == 4 + dreamt + 2 * (FIRST - 4)
    assert any("Please add the function" in p for p in prompts(seen) if '"patterns"' in p)
    with stage.open() as world:
        first = min((task for task in mining.tasks(world.store) if task.written), key=lambda task: task.began_ms)
        forget_session(world.store, first.session)
        left = [content for _, content in contents(world.store)]
    assert not any(f"function {NAMES[0]} ".encode() in content for content in left), "nor is one remembered"


def test_a_backtest_trains_on_what_was_written_before_and_keeps_nothing(stage: Stage, httpserver: HTTPServer) -> None:
    serve(httpserver, editing(RULE))
    stage.night(models={"optimizer_backend": "anthropic", "optimizer": "scripted", "optimizer_base_url": stage.url})
    with stage.open() as world:
        world.as_of_ms = int(BEGAN.timestamp() * 1000) + 3 * DAY_MS - 9 * 3_600_000
        report = sleep(world)
    (edit,) = edits(report)
    assert (edit.verdict.pairs, edit.verdict.effect) == (FIRST - 3, 1.0), "three days before the cut, the rest after it"
    assert stage.rows("SELECT count(*) FROM trial WHERE id LIKE '%-claude'")[0][0] == 0
    assert stage.rows("SELECT count(*) FROM proposal WHERE night_id LIKE '%-2'")[0][0] == 0
