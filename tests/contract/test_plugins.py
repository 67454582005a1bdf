"""What other distributions add: the shipped templates, built and installed as anyone would, keep every contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import invalidate_caches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from shutil import copytree

import pytest

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_harvesters import Event, Kind, Source, discovery, harvester_of, harvesters
from skillopt_sleep import plugins as groups
from skillopt_sleep.agents.answering import AnsweringAgent
from skillopt_sleep.agents.others import AgentPlugin, further_agents
from skillopt_sleep.casting import attempter, judges
from skillopt_sleep.checks import BUILT_IN, Answer, Check, Need, Rule, compiled, further_kinds, scorers
from skillopt_sleep.config import Config
from skillopt_sleep.errors import ConfigError, UsageError
from skillopt_sleep.models.base import CallFailed, Completer
from skillopt_sleep.models.others import ModelPlugin, further_models
from skillopt_sleep.models.others import model_plugin as brought_model
from skillopt_sleep.paths import Home
from skillopt_sleep.plugins import GROUPS
from skillopt_sleep.redact import Redacted
from skillopt_sleep.service import doctor
from skillopt_sleep.train.loading import Judges, load
from skillopt_sleep.train.recipe import Recipe

TEMPLATES = Path(__file__).parents[2] / "templates"
NAMES = sorted(folder.name for folder in TEMPLATES.iterdir() if folder.is_dir())
SKILL = Skill("# Parrot\n\nSay: hello\n")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """All templates, built to wheels and unpacked where Python looks: their metadata are real."""
    site, out = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("wheels")
    for name in NAMES:
        folder = out / name
        copytree(TEMPLATES / name, folder)
        argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
        subprocess.run(argv, cwd=folder, check=True, capture_output=True, timeout=60)
    for wheel in out.glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(site)
    sys.path.insert(0, str(site))
    _look_again()
    yield site
    sys.path.remove(str(site))
    for name in [name for name, module in sys.modules.items() if str(site) in str(getattr(module, "__file__", ""))]:
        del sys.modules[name]
    _look_again()


def _look_again() -> None:
    invalidate_caches()
    harvesters.cache_clear()
    discovery.further.cache_clear()


def test_there_is_a_template_for_each_group_and_it_is_found(installed: Path) -> None:
    offered = {
        group
        for name in NAMES
        for group in tomllib.loads((TEMPLATES / name / "pyproject.toml").read_text())["project"]["entry-points"]
    }
    assert offered == set(GROUPS)
    assert all(len(entry_points(group=group)) == 1 for group in GROUPS)


def test_the_check_is_a_kind_like_ours(installed: Path, tmp_path: Path) -> None:
    kinds = further_kinds()
    assert (list(kinds.found), kinds.bad) == (["words_between"], ())
    checklist = compiled([Check("words_between", [2, 3])], {**BUILT_IN, **kinds.found})
    for text, passes in (("one", False), ("one two", True), ("one two three four", False)):
        got = checklist.score(Answer(text))
        assert isinstance(got, Score)
        assert got.hard == float(passes)
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps({"id": "a", "prompt": "b", "checks": [{"kind": "words_between", "argument": [3, 2]}]}))
    with pytest.raises(UsageError, match=r"checks\[0\]\.argument: it is no pair"):
        load(path, Judges(kinds={**BUILT_IN, **kinds.found}))


def test_the_scorer_judges_a_task(installed: Path, tmp_path: Path) -> None:
    found = scorers()
    assert not found.bad
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps({"id": "a", "prompt": "b", "scorer": "token_f1", "argument": "elm street"}))
    (task,) = load(path, Judges(scorers=found.found))
    assert task.score(Answer("Elm Street")) == Score(1.0, 1.0)
    half = task.score(Answer("elm road"))
    assert isinstance(half, Score)
    assert (half.hard, half.soft) == (0, 0.5)
    assert isinstance(found.found["token_f1"](Answer("x"), None), Missing)


def test_the_agent_attempts_tasks_and_is_given_no_check(installed: Path) -> None:
    found = further_agents()
    assert not found.bad
    agent = found.found["parrot"].made(None, 0)
    assert agent.offers == {Need.FILES}
    judged: list[Answer] = []

    def judge(task: Task, answer: Answer) -> Score:
        judged.append(answer)
        return Score(1, 1)

    environment = AnsweringAgent("parrot", agent, judge, lambda task: {"a": b"1"})
    tasks = [Task("t1", "do it"), Task("t2", " ")]
    first, second = environment.attempt(tasks, SKILL, [0, 1])
    assert isinstance(first, Trajectory)
    assert (first.task, first.skill, first.transcript) == ("t1", SKILL.digest, "hello\ndo it")
    assert second == Missing("there was nothing to repeat")
    assert judged == [Answer("hello\ndo it", files={"a": b"1", "said.txt": b"do it"})]
    assert environment.deterministic


def test_the_model_completes_and_says_what_it_used(installed: Path) -> None:
    found = further_models()
    assert not found.bad
    model: Completer = found.found["canned"].made("m-1")
    reply = model.complete(Redacted("x" * 40), 100)
    assert (model.model, model.where, reply.text, reply.truncated) == ("m-1", "this machine", '{"edits": []}', False)
    assert reply.usage is not None
    assert reply.usage.input == 10
    with pytest.raises(CallFailed):
        model.complete(Redacted(""), 100)


LINES = [
    {"id": "m1", "at": 1_790_000_000_000, "from": "person", "text": "Fix the build"},
    {"id": "m2", "at": 1_790_000_001_000, "from": "agent", "text": "Done: é"},
    {"id": "m3", "at": 1_790_000_002_000, "from": "weather", "text": "Rain"},
]


def test_the_harvester_reads_whole_lines_once_and_writes_nothing(installed: Path, tmp_path: Path) -> None:
    harvester = harvester_of("notebook")
    assert not discovery.left_out()
    (root,) = harvester.roots(tmp_path, {})
    assert root.is_absolute()
    assert list(harvester.find(root, [])) == []
    assert not list(tmp_path.iterdir())
    root.mkdir(parents=True)
    path = root / "one.jsonl"
    content = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in LINES)
    path.write_bytes(content)
    (source,) = harvester.find(root, [])
    (whole,) = harvester.read(source)
    assert [(event.kind, event.text) for event in whole.events] == [
        (Kind.PROMPT, "Fix the build"),
        (Kind.ANSWER, "Done: é"),
    ]
    assert (whole.understood, whole.unknown) == (2, 1)
    assert list(harvester.read(source, whole.cursor)) == []
    for cut in range(len(content)):
        path.write_bytes(content[:cut])
        events: dict[str, Event] = {}
        cursor, facts = None, whole.session
        for piece in (content[:cut], content):
            path.write_bytes(piece)
            for batch in harvester.read(Source(agent="notebook", path=str(path)), cursor):
                events |= {event.key: event for event in batch.events}
                cursor, facts = batch.cursor, batch.session
        assert list(events.values()) == whole.events
        assert facts == whole.session
    assert [h.agent for h in harvesters() if h.recognises(path, content)] == ["notebook"]
    for head in (b"", b"{", b"\0" * 100, b"[1]\n", b'{"a":1}\n', b"\xff\xfe", b"{" * 5000, b"null"):
        assert not harvester.recognises(path, head)


BAD = {
    "absent": "no_such_module:x",
    "nameless": "json:no_such_name",
    "number": "math:pi",
    "regex": "json:loads",
    "twice": "json:dumps",
}


@pytest.mark.parametrize("further", [further_kinds, scorers, further_agents, further_models])
def test_a_bad_plugin_is_named_and_the_others_are_used(further) -> None:
    group = "any"
    entries = [EntryPoint(name, value, group) for name, value in BAD.items()]
    entries.append(EntryPoint("twice", "json:loads", group))
    found = further(entries)
    why = {bad.name: bad.why for bad in found.bad}
    assert why["absent"].startswith("ModuleNotFoundError")
    assert why["nameless"].startswith("AttributeError")
    assert "number" in why
    assert why["twice"] == "its name is taken already"
    assert all(str(bad).isprintable() for bad in found.bad)
    assert set(found.found) | set(why) == set(BAD)
    assert ("regex" in found.found) == (further is not further_kinds)


def test_a_plugin_that_ends_the_program_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaving.py").write_text("raise SystemExit('\\x1b[31mbye')\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = groups.plugins("any", lambda name, loaded: loaded, (), [EntryPoint("leaving", "leaving:x", "any")])
    assert [bad.why for bad in found.bad] == ["SystemExit: ?[31mbye"]


def test_the_end_of_a_budget_goes_through_a_plugin_that_asked_a_judge() -> None:
    from skillopt_core.protocols import Exhausted
    from skillopt_sleep.checks import Kind as CheckKind
    from skillopt_sleep.checks.others import as_kind
    from skillopt_sleep.checks.scorers import as_scorer

    def out(rubric: str) -> float:
        raise Exhausted("the budget is out")

    def asks(answer: Answer, *_: object) -> bool | Missing:
        grade = Missing("nobody judges") if answer.grade is None else answer.grade("It is short.")
        return grade if isinstance(grade, Missing) else grade > 0

    kind = CheckKind("asks", "", "", None, lambda _: Rule(asks, lambda _: "", by_model=True))
    checks = compiled([Check("asks")], {"asks": as_kind("asks", kind)})
    assert checks.score(Answer("x")) == Missing("nobody judges")
    with pytest.raises(Exhausted):
        checks.score(Answer("x", grade=out))
    with pytest.raises(Exhausted):
        as_scorer("asks", asks)(Answer("x", grade=out), None)


def test_what_a_plugin_raises_later_is_missing_and_never_a_score() -> None:
    from skillopt_sleep.checks import Kind as CheckKind
    from skillopt_sleep.checks.others import as_kind
    from skillopt_sleep.checks.scorers import as_scorer

    def broken(*_: object) -> bool:
        raise RuntimeError("no")

    kind = as_kind("broken", CheckKind("broken", "", "", None, lambda _: Rule(broken, broken)))
    got = compiled([Check("broken")], {"broken": kind}).score(Answer("x"))
    assert got == Missing("the check broken failed (RuntimeError)")
    assert as_scorer("broken", broken)(Answer("x"), None) == Missing("the scorer broken failed (RuntimeError)")
    assert as_scorer("odd", lambda answer, argument: 7)(Answer("x"), None) == Missing(
        "the scorer odd gave no score in [0, 1]"
    )

    class Broken:
        version, offers, deterministic = "1", frozenset[Need](), True

        def answer(self, *_: object) -> Answer:
            raise RuntimeError("no")

    agent = AnsweringAgent("broken", Broken(), lambda task, answer: Score(1, 1), lambda task: {})
    assert agent.attempt([Task("t", "p")], SKILL, [0]) == [Missing("the agent broken failed (RuntimeError)")]


def configuration(**models: object) -> Config:
    return Config.model_validate({"models": models})


def test_the_agent_plays_in_a_training_run(installed: Path, tmp_path: Path) -> None:
    player = attempter(configuration(target_backend="plugin:parrot"), Recipe(), home=Home(Path("nowhere")))
    assert (player.name, player.named["version"], player.offers) == ("plugin:parrot", "1", {Need.FILES})
    check = {"kind": "file_state", "argument": {"path": "said.txt", "contains": "do"}}
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps({"id": "a", "prompt": "do it", "checks": [check], "files": {"x": "y"}}))
    (task,) = load(path, judges([player])[0])
    (got,) = player.environment.attempt([task.as_task("u")], SKILL, [0])
    assert isinstance(got, Trajectory)
    assert got.score.hard == 1
    with pytest.raises(UsageError, match="works in no folder"):
        load(path, judges(frozenset())[0])


def test_a_plugin_that_is_not_there_is_named_with_those_that_are(installed: Path) -> None:
    with pytest.raises(ConfigError, match=r"no agent plugin 'carrot': none of this name.*There are parrot"):
        attempter(configuration(backend="plugin:carrot"), Recipe(), home=Home(Path("nowhere")))
    assert brought_model("canned").made("m").model == "m"
    with pytest.raises(ConfigError, match=r"There are canned"):
        brought_model("canning")
    with pytest.raises(ValueError, match="with the name of a plugin"):
        configuration(backend="plugin:")


def test_an_agent_or_model_that_is_none_is_refused_in_one_line() -> None:
    for make in (AgentPlugin("x", lambda model, seed: object()), AgentPlugin("x", lambda model, seed: 1 // 0)):
        with pytest.raises(UsageError) as caught:
            make.made(None, 0)
        assert str(caught.value).isprintable()
    for model in (ModelPlugin("x", lambda name: object()), ModelPlugin("x", lambda name: 1 // 0)):
        with pytest.raises(UsageError):
            model.made("m")


def test_what_a_model_raises_is_a_failed_call_that_may_have_cost_something() -> None:
    class Broken:
        model, where = "m", "here"

        def complete(self, prompt: str, max_output: int) -> object:
            if prompt:
                raise RuntimeError("no\nnetwork")
            return "a text"

    for prompt in ("x", ""):
        with pytest.raises(CallFailed) as caught:
            ModelPlugin("x", lambda name: Broken()).made("m").complete(Redacted(prompt), 9)
        assert caught.value.cost == "all"
        assert str(caught.value).isprintable()


def test_doctor_says_what_is_there_and_what_was_left_out() -> None:
    assert doctor.plugins([], []).state == "ok"
    found = doctor.plugins(["check a"], ["the plugin b was left out: it is none"])
    assert (found.state, found.finding) == ("warn", "the plugin b was left out: it is none (used: check a)")


def test_all_of_them_play_together_on_the_command_line(
    installed: Path, tmp_path: Path, skillopt_sleep_argv: list[str]
) -> None:
    rows = [
        {"id": "a", "prompt": "do it", "checks": [{"kind": "words_between", "argument": [3, 3]}]},
        {"id": "b", "prompt": "do that now", "checks": [{"kind": "words_between", "argument": [3, 3]}]},
        {"id": "c", "prompt": "do this", "scorer": "token_f1", "argument": "hello do this"},
    ]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "SKILL.md").write_text(SKILL.text)
    told = ["--json", "--home", str(tmp_path / "home"), "--tasks", "tasks.jsonl", "--skill", "SKILL.md"]
    argv = [*skillopt_sleep_argv, "eval", *told, "--target-backend", "plugin:parrot"]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(TEMPLATES.parent)])}
    done = subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["target"], row["n"]) == ("plugin:parrot", 3)
    assert {unit["unit"]: unit["before"] for unit in row["tasks"]} == {"a": 1.0, "b": 0.0, "c": 1.0}
    assert "3 tasks" in done.stderr
