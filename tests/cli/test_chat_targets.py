"""`eval` and `train` whose attempts a model makes: both SDKs against a scripted server, tools in a real sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillopt_sleep import sandbox
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.errors import SandboxUnavailable
from skillopt_sleep.store.engine import open_store
from skillopt_sleep.store.ledgers import spent
from tests.cli.conftest import Command, Result
from tests.models.scripted import calls, fails, message, says, serve

BACKENDS = ("anthropic", "openai")
RULE = "End with a line `Source: handbook`."
WORDS = [{"kind": "contains", "argument": "Source:"}]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillopt_sleep.models.base.LONGEST_PAUSE_S", 0.0)


@pytest.fixture
def bench(surroundings: Path, tmp_path: Path) -> Path:
    """Two skills and twelve tasks that are answered in words."""
    folder = tmp_path / "bench"
    folder.mkdir()
    write(folder, [{"id": f"t{n}", "prompt": f"Who decides on matter {n}?", "checks": WORDS} for n in range(12)])
    (folder / "old.md").write_text("# Memo\n\nBe brief.\n")
    (folder / "new.md").write_text(f"# Memo\n\nBe brief.\n{RULE}\n")
    return folder


def write(folder: Path, rows: list[dict[str, Any]]) -> None:
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def scored(command: Command, bench: Path, backend: str, *more: str, skill: str = "new.md") -> Result:
    return command(
        "eval", "--tasks", str(bench / "tasks.jsonl"), "--skill", str(bench / skill), "--target-backend", backend,
        *([] if "--target-model" in more else ["--target-model", "small"]), "--json", *more,
    )  # fmt: skip


def body(request: Request) -> Any:
    return request.get_json()


def system_of(request: Request) -> str:
    asked = body(request)
    if "system" in asked:
        return str(asked["system"])
    return "".join(str(one["content"]) for one in asked["messages"] if one["role"] == "system")


def obeying(request: Request) -> Response:
    """A model that does what the skill says; one of its names never does."""
    obeys = RULE in system_of(request) and body(request)["model"] != "stubborn"
    return message(request.path, "The board.\nSource: handbook" if obeys else "The board.", (30, 6))


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_texts_are_compared_by_fresh_calls_and_what_was_spent_is_shown(
    backend: str, command: Command, server: HTTPServer, bench: Path, surroundings: Path
) -> None:
    seen = serve(server, obeying)
    done = scored(command, bench, backend, "--against", str(bench / "old.md"), "--repeats", "2")
    assert done.code == 0, done.err
    (row,) = done.document["rows"]
    assert (row["target"], row["n"], row["before"], row["after"]) == ("small", 12, 0, 1)
    assert row["interval"][0] > 0
    assert len(seen) == 48, "each draw of each text is a call of its own"
    assert {body(request)["messages"][-1]["content"] for request in seen} == {
        f"Who decides on matter {n}?" for n in range(12)
    }
    assert {"temperature", "tools", "seed"}.isdisjoint(body(seen[0]))
    assert done.document["budget"]["tokens"] == {"limit": 200_000, "spent": 48 * 36, "exact": True}
    assert done.document["budget"]["calls"]["spent"] == 48
    with open_store(surroundings / "state" / "store.db", SystemClock()) as store:
        assert spent(store)[:2] == (48 * 36, 48), "it counts in the month's limits"


@pytest.mark.parametrize("backend", BACKENDS)
def test_transfer_is_one_row_and_one_interval_a_model(
    backend: str, command: Command, server: HTTPServer, bench: Path
) -> None:
    serve(server, obeying)
    models = ("--target-model", "willing", "--target-model", "stubborn")
    done = scored(command, bench, backend, *models, "--against", str(bench / "old.md"), "--repeats", "1")
    assert done.code == 0, done.err
    willing, stubborn = done.document["rows"]
    assert (willing["target"], willing["effect"]) == ("willing", 1)
    assert (stubborn["target"], stubborn["effect"]) == ("stubborn", 0)
    assert willing["interval"][0] > 0 >= stubborn["interval"][0]
    told = command(
        "eval", "--tasks", str(bench / "tasks.jsonl"), "--skill", str(bench / "new.md"), "--against",
        str(bench / "old.md"), "--target-backend", backend, *models, "--repeats", "1",
    )  # fmt: skip
    assert "willing" in told.out
    assert "stubborn" in told.out
    assert "1,728 tokens in 48 calls" in told.err


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("status", "code"), [(401, "not_signed_in"), (404, "model"), (400, "model")])
def test_a_refused_first_request_stops_before_anything_is_spent(
    backend: str, status: int, code: str, command: Command, server: HTTPServer, bench: Path
) -> None:
    seen = serve(server, fails(status))
    done = scored(command, bench, backend)
    assert done.code == 1
    assert done.document["error"]["code"] == code
    assert len(seen) == 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("answer", [fails(500), says(""), says("Source: hand", cut=True)], ids=["500", "empty", "cut"])
def test_what_gave_nothing_is_missing_and_no_score(
    backend: str, answer: Callable[[Request], Response], command: Command, server: HTTPServer, bench: Path
) -> None:
    serve(server, answer)
    done = scored(command, bench, backend, "--repeats", "1")
    assert done.code == 3
    (row,) = done.document["rows"]
    assert (row["n"], row["before"]) == (0, None)


def test_a_budget_ends_it_and_the_rows_that_were_finished_are_shown(
    command: Command, server: HTTPServer, bench: Path
) -> None:
    seen = serve(server, obeying)
    models = ("--target-model", "one", "--target-model", "two")
    done = scored(command, bench, "openai", *models, "--repeats", "1", "--budget-calls", "15")
    assert done.code == 5
    assert done.document["error"]["code"] == "budget"
    assert [row["target"] for row in done.document["rows"]] == ["one"]
    assert len(seen) == 15
    assert done.document["budget"]["calls"] == {"limit": 15, "spent": 15}


def test_money_without_a_price_is_refused_before_anything_is_asked(
    command: Command, server: HTTPServer, bench: Path
) -> None:
    seen = serve(server, obeying)
    done = scored(command, bench, "openai", "--budget-usd", "1")
    assert done.code == 2
    assert "no price" in done.document["error"]["message"]
    assert not seen


def test_nobody_attempts_where_nobody_is_named(command: Command, bench: Path) -> None:
    done = command("eval", "--tasks", str(bench / "tasks.jsonl"), "--skill", str(bench / "new.md"), "--json")
    assert done.code == 2
    assert "recorded" in done.document["error"]["message"]
    assert "openai" in done.document["error"]["remedy"]
    assert scored(command, bench, "handoff").code == 2


def test_an_address_effort_and_temperature_of_the_target_alone(
    command: Command, httpserver: HTTPServer, bench: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_KEY", "of-the-target")
    monkeypatch.setenv("NO_PROXY", "*")
    config = tmp_path / "mine.toml"
    config.write_text("[models]\ntarget_temperature = 0.5\n")
    seen = serve(httpserver, obeying)
    done = scored(
        command, bench, "vllm", "--target-base-url", httpserver.url_for("/v1"), "--target-key", "MY_KEY",
        "--target-effort", "none", "--repeats", "1", "--config", str(config),
    )  # fmt: skip
    assert done.code == 0, done.err
    asked = body(seen[0])
    assert asked["temperature"] == 0.5
    assert asked["chat_template_kwargs"] == {"enable_thinking": False}
    assert seen[0].headers["Authorization"] == "Bearer of-the-target"


def trained(command: Command, bench: Path, backend: str, *more: str) -> Result:
    return command(
        "train", "--tasks", str(bench / "tasks.jsonl"), "--skill", str(bench / "old.md"), "--backend", backend,
        "--target-model", "small", "--optimizer-model", "editor", "--set", "split=3:5:4", "--set", "meta_skill=false",
        "--json", *more,
    )  # fmt: skip


def both(request: Request) -> Response:
    """One server, two models: one edits, the other attempts."""
    if body(request)["model"] == "small":
        return obeying(request)
    pattern = {"label": "SKILL_DEFECT", "why": "no source", "tasks": ["T1"],
               "edits": [{"op": "add", "anchor": "", "text": f"- {RULE}"}]}  # fmt: skip
    return message(request.path, json.dumps({"patterns": [pattern]}), (900, 50))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_skill_is_trained_on_what_a_model_makes_of_it_and_paid_draws_are_not_repeated(
    backend: str, command: Command, server: HTTPServer, bench: Path
) -> None:
    seen = serve(server, both)
    short = trained(command, bench, backend, "--budget-calls", "20")
    assert short.code in {0, 5}
    assert len(seen) == 20
    done = trained(command, bench, backend)
    assert done.code == 0, done.err
    assert done.document["run"] == short.document["run"]
    assert done.document["steps"][0]["verdict"] == "accept"
    assert (done.document["audit"]["before"], done.document["audit"]["after"]) == (0, 1)
    whole = len(seen)
    assert done.document["budget"]["calls"]["spent"] == whole
    drawn = [(system_of(r), body(r)["messages"][-1]["content"]) for r in seen if body(r)["model"] == "small"]
    again = trained(command, bench, backend)
    assert len(seen) == whole, "what was drawn is not drawn again"
    assert again.document["steps"] == done.document["steps"]
    assert max(map(drawn.count, drawn)) <= 4, "three pairs, and the step's own rollout"


FILES = [{"kind": "file_state", "argument": {"path": "out.txt", "contains": "HELLO"}}]


@pytest.fixture
def walls() -> sandbox.Sandbox:
    try:
        return sandbox.find()
    except SandboxUnavailable:
        pytest.skip("no sandbox works here")


def upper(request: Request) -> Response:
    """A model that does the work with tools, and says so."""
    results = body(request)["messages"][1:]
    if any(one["role"] != "system" for one in results if one["role"] != "user" or isinstance(one["content"], list)):
        done = json.dumps(results)
        return message(request.path, "Done. Source: out.txt" if "exit status 0" in done else "It failed.", (200, 9))
    return calls(request.path, ("shell", {"command": "tr a-z A-Z < in.txt > out.txt"}), thought="I see.")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_task_that_asks_for_files_is_worked_on_with_tools_in_the_sandbox(
    backend: str, command: Command, server: HTTPServer, bench: Path, walls: sandbox.Sandbox
) -> None:
    called = [{"kind": "tool_called", "argument": "shell"}]
    row = {"files": {"in.txt": "hello\n"}, "checks": FILES + called}
    write(bench, [{"id": f"t{n}", "prompt": f"Put line {n} in capitals.", **row} for n in range(3)])
    seen = serve(server, upper)
    config = bench / "sleep.toml"
    config.write_text("[models]\nparallel = 1\n")
    done = scored(command, bench, backend, "--repeats", "1", "--config", str(config))
    assert done.code == 0, done.err
    (found,) = done.document["rows"]
    assert (found["n"], found["before"]) == (3, 1)
    first, second = body(seen[0]), body(seen[1])
    assert len(seen) == 6
    assert done.document["budget"]["calls"]["spent"] == 6
    if backend == "anthropic":
        assert [tool["name"] for tool in first["tools"]] == ["shell", "read", "write"]
        said, came = second["messages"][1:]
        assert [part["type"] for part in said["content"]] == ["thinking", "tool_use"], "its thoughts go back to it"
        assert came["content"][0] == {
            "type": "tool_result", "tool_use_id": "call_0", "content": "[exit status 0]", "is_error": False,
        }  # fmt: skip
    else:
        assert [tool["function"]["name"] for tool in first["tools"]] == ["shell", "read", "write"]
        said, came = second["messages"][2:]
        assert said["reasoning_content"] == "I see.", "its thoughts go back to it"
        assert came == {"role": "tool", "tool_call_id": "call_0", "content": "[exit status 0]"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loop_that_meets_the_cap_ends_and_its_attempt_counts_for_nothing(
    backend: str, command: Command, server: HTTPServer, bench: Path, walls: sandbox.Sandbox
) -> None:
    write(bench, [{"id": "t0", "prompt": "Go on.", "checks": FILES}])
    seen = serve(server, lambda request: calls(request.path, ("shell", {"command": "true"})))
    done = scored(command, bench, backend, "--repeats", "1", "--budget-calls", "3")
    assert done.code == 5
    assert len(seen) == 3
    assert done.document["rows"] == []
    assert done.document["budget"]["calls"] == {"limit": 3, "spent": 3}


def test_where_no_sandbox_works_tasks_that_need_one_are_refused_at_load_with_a_remedy(
    command: Command, server: HTTPServer, bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillopt_sleep.talking.the_walls", lambda: None)
    seen = serve(server, obeying)
    assert scored(command, bench, "openai", "--repeats", "1").code == 0, "words need no sandbox"
    write(bench, [{"id": "t0", "prompt": "Go on.", "checks": FILES}])
    asked = len(seen)
    done = scored(command, bench, "openai")
    assert done.code == 2
    assert "bubblewrap" in done.document["error"]["remedy"]
    assert len(seen) == asked


@pytest.mark.parametrize("limit", [("--budget-calls", "23"), ("--budget-tokens", "600")])
def test_below_the_price_of_one_comparison_nothing_is_asked(
    limit: tuple[str, str], command: Command, server: HTTPServer, bench: Path
) -> None:
    seen = serve(server, obeying)
    done = scored(command, bench, "openai", "--against", str(bench / "old.md"), *limit)
    assert done.code == 5
    assert "does not reach for one comparison, which takes 24 attempts" in done.document["error"]["message"]
    assert done.document["plan"]["least"]["calls"] == 24
    assert seen == []


def test_the_plan_is_said_before_and_stands_in_the_document(command: Command, server: HTTPServer, bench: Path) -> None:
    serve(server, obeying)
    done = scored(command, bench, "openai", "--against", str(bench / "old.md"), "--repeats", "2")
    assert "plan: 1 comparison of 48 attempts: at most 48 attempts" in done.err
    assert "200,000 tokens buy 48 of 48" in done.err
    plan = done.document["plan"]
    assert (plan["comparison"], plan["attempts"], plan["baseline"], plan["audit"]) == (48, 48, 0, 0)
    assert plan["set_aside"] > 2048


def test_pairs_that_were_finished_when_the_budget_ended_are_shown_as_what_they_are(
    command: Command, server: HTTPServer, bench: Path
) -> None:
    seen = serve(server, obeying)
    done = scored(command, bench, "openai", "--against", str(bench / "old.md"), "--budget-calls", "60")
    assert done.code == 0, done.err
    assert len(seen) == 60
    (row,) = done.document["rows"]
    assert (row["cut"], row["repeats"], row["n"], row["effect"]) == (True, 2, 12, 1)
    assert "the budget ended the comparison: 16 of 36 pairs" in done.err


def test_a_recipe_says_whether_tools_are_offered(
    command: Command, server: HTTPServer, bench: Path, walls: sandbox.Sandbox
) -> None:
    seen = serve(server, obeying)
    assert scored(command, bench, "openai", "--repeats", "1", "--set", "tools=always").code == 0
    assert all(len(body(request)["tools"]) == 3 for request in seen)
    write(bench, [{"id": "t0", "prompt": "Go on.", "checks": FILES}])
    asked = len(seen)
    assert scored(command, bench, "openai", "--set", "tools=never").code == 2
    assert len(seen) == asked


def test_a_tool_that_a_check_names_is_offered_by_its_name_alone(
    command: Command, server: HTTPServer, bench: Path, walls: sandbox.Sandbox
) -> None:
    def searching(request: Request) -> Response:
        if any(one["role"] == "tool" for one in body(request)["messages"]):
            return message(request.path, "The board.", (60, 5))
        return calls(request.path, ("search", {"input": "board"}))

    write(bench, [{"id": "t0", "prompt": "Who?", "checks": [{"kind": "tool_called", "argument": "search"}]}])
    seen = serve(server, searching)
    done = scored(command, bench, "openai", "--repeats", "1")
    assert done.code == 0, done.err
    assert done.document["rows"][0]["before"] == 1
    assert [tool["function"]["name"] for tool in body(seen[0])["tools"]] == ["search"]
