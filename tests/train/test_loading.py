"""Tasks of one's own: what a line may say, and how a line that says something else is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillopt_core.types import Missing, Score
from skillopt_sleep.checks import Check, Need
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.errors import NotFound, UsageError
from skillopt_sleep.train.loading import Judges, load, warnings_of
from skillopt_sleep.train.rows import BadTasks

ONE: dict[str, Any] = {"id": "t-1", "prompt": "Say hello.", "checks": [{"kind": "contains", "argument": "hello"}]}


def written(folder: Path, *rows: object, name: str = "tasks.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def refused(path: Path, judges: Judges | None = None) -> BadTasks:
    with pytest.raises(BadTasks) as caught:
        load(path, judges)
    return caught.value


def test_a_line_is_a_task_that_can_be_judged(tmp_path):
    more = {"split": "val", "group": "greetings", "files": {"a/b.txt": "text"}, "meta": {"anything": [1]}}
    path = written(
        tmp_path,
        b"\xef\xbb\xbf" + json.dumps({**ONE, **more}).encode(),
        b"",
        {**ONE, "id": "t-2", "split": "train", "prompt": "x"},
    )
    first, second = load(path)
    assert (first.id, first.prompt, first.split, first.group) == ("t-1", "Say hello.", "gate", "greetings")
    assert first.files == {"a/b.txt": b"text"}
    assert first.checks == (Check("contains", "hello"),)
    assert first.secrets == ("hello",)
    assert (first.where, second.where) == (f"{path}:1", f"{path}:3")
    assert first.score(Answer("oh hello")) == Score(1.0, 1.0)


BAD: list[tuple[object, str, str]] = [
    (b"{", "", "no JSON at column"),
    (b"[1]", "", "the line is a list"),
    (b"\xff", "", "byte 1 is no UTF-8"),
    (b'{"id": "a", "id": "b"}', "id", "twice"),
    (b'{"id": NaN}', "", "NaN"),
    (b"[" * 100_000, "", "nested too deeply"),
    (b'{"id": ' + b"1" * 5000 + b"}", "", "too many digits"),
    ({**ONE, "chekcs": []}, "chekcs", "no such key"),
    ({**ONE, "id": "a b"}, "id", "white space"),
    ({**ONE, "id": 7}, "id", "a number (7)"),
    ({**ONE, "prompt": " "}, "prompt", "it is a text"),
    ({"id": "a", "prompt": "b"}, "checks, scorer", "neither"),
    ({**ONE, "scorer": "x"}, "checks, scorer", "both"),
    ({**ONE, "argument": 1}, "argument", "belongs to a scorer"),
    ({**ONE, "checks": []}, "checks", "empty list"),
    ({**ONE, "checks": ["x"]}, "checks[0]", "a text"),
    ({**ONE, "checks": [{"kind": "contain", "argument": "x"}]}, "checks[0].kind", "no kind 'contain'"),
    ({**ONE, "checks": [ONE["checks"][0], {"kind": "regex", "argument": "("}]}, "checks[1].argument", "missing )"),
    ({**ONE, "checks": [{"kind": "contains", "argument": "x", "weight": 0}]}, "checks[0].weight", "above zero"),
    ({**ONE, "checks": [{"kind": "contains", "argument": "x", "wieght": 2}]}, "checks[0].wieght", "no such key"),
    (
        {**ONE, "checks": [{"kind": "section_contains", "argument": {"section": "a"}}]},
        "checks[0].argument.text",
        "missing",
    ),
    ({**ONE, "checks": [{"kind": "rubric", "argument": "good"}]}, "checks[0].kind", "no model"),
    ({**ONE, "checks": [{"kind": "command", "argument": {"run": ["true"]}}]}, "checks[0].kind", "sandbox"),
    ({**ONE, "split": "tests"}, "split", "tests"),
    ({**ONE, "group": 3}, "group", "a number (3)"),
    ({**ONE, "files": {"../x": "y"}}, "files.../x", "outside"),
    ({**ONE, "files": ["../x"]}, "files[0]", "outside"),
    ({**ONE, "files": ["gone.txt"]}, "files[0]", "no such file"),
    ({**ONE, "files": {"x": 1}}, "files.x", "a number (1)"),
    ({"id": "a", "prompt": "b", "scorer": "absent"}, "scorer", "no scorer absent"),
    ({"task_id": "a", "task": "b"}, "judge", "missing"),
    ({"task_id": "a", "task": "b", "judge": {"kind": "rules"}}, "judge.kind", "'rules'"),
    (
        {"task_id": "a", "task": "b", "judge": {"kind": "rule", "checks": [{"op": "x"}]}},
        "judge.checks[0].op",
        "no kind 'x'",
    ),
    ({"task_id": "a", "task": "b", "judge": {"kind": "llm"}}, "judge.rubric", "missing"),
]


@pytest.mark.parametrize(("row", "key", "wrong"), BAD)
def test_a_bad_line_is_named_with_its_key_what_is_wrong_and_what_would_be_right(row, key, wrong, tmp_path):
    path = written(tmp_path, ONE, row)
    error = refused(path)
    assert error.where == f"{path}:2"
    assert error.message.startswith(f"{key}: " if key else "")
    assert wrong in error.message
    assert error.remedy
    assert "\n" not in str(error)
    assert error.exit_code == 2


def test_all_bad_lines_are_named_and_nothing_is_loaded(tmp_path):
    error = refused(written(tmp_path, b"{", ONE, ONE, {**ONE, "id": "t-3", "split": "gate"}))
    assert [line.where.rpartition(":")[2] for line in error.lines] == ["1", "3", "4"]
    assert "(2 more bad lines)" in str(error)
    assert len(error.as_json()["bad_lines"]) == 3
    assert "t-1 is the name of" in error.lines[1].message
    assert "some lines of the file name one" in error.lines[2].message


def test_what_a_file_says_reaches_no_terminal_raw(tmp_path):
    error = refused(written(tmp_path, {**ONE, "\x1b[31mred": 1}))
    assert str(error).isprintable()


def test_a_line_that_is_longer_than_is_read_is_refused_and_the_next_one_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr("skillopt_sleep.train.loading.LONGEST_LINE", 200)
    error = refused(written(tmp_path, {**ONE, "prompt": "x" * 1000}, {**ONE, "id": "t-2"}, b"{"))
    assert [line.where.rpartition(":")[2] for line in error.lines] == ["1", "3"]


def test_a_folder_is_its_files_and_their_names_are_splits(tmp_path):
    written(tmp_path, {**ONE, "id": "a"}, name="train.jsonl")
    written(tmp_path, {**ONE, "id": "b"}, name="validation/some.jsonl")
    written(tmp_path, {**ONE, "id": "c"}, name="held-out.jsonl")
    written(tmp_path, {**ONE, "id": "d"}, name="more.jsonl")
    (tmp_path / "SKILL.md").write_text("not a task")
    assert {task.id: task.split for task in load(tmp_path)} == {"a": "train", "b": "gate", "c": "audit", "d": None}


def test_a_line_may_not_contradict_its_folder(tmp_path):
    assert "stands for train" in str(refused(written(tmp_path, {**ONE, "split": "gate"}, name="train.jsonl").parent))


def test_places_without_tasks_say_so(tmp_path):
    with pytest.raises(NotFound, match="no such file"):
        load(tmp_path / "absent")
    with pytest.raises(UsageError, match="holds no file"):
        load(tmp_path)
    with pytest.raises(UsageError, match="holds no task"):
        load(written(tmp_path, b"", b"  "))


def test_starting_files_lie_beside_the_task_file_and_no_link_leads_out(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "app.py").write_bytes(b"x\r\n")
    (tmp_path / "secret").write_text("s")
    (tmp_path / "inner" / "link").symlink_to(tmp_path / "secret")
    path = written(tmp_path / "inner", {**ONE, "files": ["app.py"]})
    assert load(path)[0].files == {"app.py": b"x\r\n"}
    assert "is no file of this folder" in str(refused(written(tmp_path / "inner", {**ONE, "files": ["link"]})))


def test_a_scorer_judges_in_the_place_of_checks(tmp_path):
    def half(answer: Answer, argument: object) -> Score | Missing:
        return Score(0.0, 0.5, (f"{argument} is not in it",))

    row = {"id": "t", "prompt": "p", "scorer": "half", "argument": {"gold": [1]}}
    (task,) = load(written(tmp_path, row), Judges(scorers={"half": half}))
    assert (task.scorer, task.argument) == ("half", {"gold": [1]})
    assert task.score(Answer("x")) == Score(0.0, 0.5, ("{'gold': [1]} is not in it",))


def test_a_task_that_needs_more_than_the_agent_offers_is_refused(tmp_path):
    path = written(tmp_path, {**ONE, "checks": [{"kind": "tool_called", "argument": "search"}]})
    assert load(path, Judges(offered=frozenset({Need.TOOLS})))
    assert "no tools" in str(refused(path, Judges(offered=frozenset())))


def test_checks_that_a_hollow_skill_would_pass_are_flagged(tmp_path):
    shape = {**ONE, "id": "s", "checks": [{"kind": "max_chars", "argument": 9}]}
    idle = {**ONE, "id": "i", "checks": [{"kind": "not_contains", "argument": "x"}]}
    tasks = load(written(tmp_path, ONE, shape, idle))
    assert [task.flags for task in tasks] == [(), ("shape",), ("idle",)]
    first, second = warnings_of(tasks)
    assert first.startswith("1 of 3 tasks can be passed without content")
    assert second.startswith("1 of 3 tasks are passed by an empty answer")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["kind", "argument", "op", "x"]), inner)
    ),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(row=st.dictionaries(st.sampled_from([*ONE, "split", "files", "scorer", "judge", "task_id", "task", "x"]), JSON))
def test_any_line_is_a_task_or_a_named_line(row, tmp_path):
    path = written(tmp_path, row)
    try:
        said = [(task.where, "") for task in load(path)]
    except BadTasks as error:
        said = [(error.where, str(error))]
    ((where, words),) = said
    assert where == f"{path}:1"
    assert words.isprintable()


def here(repository: Path | None, commit: str) -> bool:
    """Which commits there are, by the name of the folder; of the project at hand one."""
    return commit == {"shop": "a" * 40, "": "b" * 40}.get(repository.name if repository else "")


def test_a_task_may_start_from_a_commit_of_a_repository_or_of_the_project_at_hand(tmp_path: Path) -> None:
    start = {"repository": "shop", "commit": "a" * 40, "files": {"a.txt": "x"}}
    path = written(tmp_path, {**ONE, **start}, {**ONE, "id": "t-2", "commit": "b" * 40})
    first, second = load(path, Judges(has_commit=here))
    assert (first.repository, first.commit, first.files) == (tmp_path / "shop", "a" * 40, {"a.txt": b"x"})
    assert (second.repository, second.commit) == (None, "b" * 40)


@pytest.mark.parametrize(
    ("start", "key", "said"),
    [
        ({"repository": "shop"}, "commit", "missing"),
        ({"repository": "shop", "commit": "main"}, "commit", "the repository has no such commit"),
        ({"commit": "c" * 40}, "commit", "the project at hand has no such commit"),
        ({"repository": 5, "commit": "a" * 40}, "repository", "it is a number"),
        ({"repository": "shop", "commit": ["a"]}, "commit", "it is a list"),
    ],
)
def test_a_start_that_cannot_be_had_is_named(start: dict[str, Any], key: str, said: str, tmp_path: Path) -> None:
    error = refused(written(tmp_path, {**ONE, **start}), Judges(has_commit=here)).lines[0]
    assert error.message.startswith(f"{key}: ")
    assert said in error.message
