"""The tiers of tests/conftest.py, seen from outside: a small suite of its own, run by a pytest of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import TIERS

SUITE = """
import pytest

@pytest.mark.parametrize("n", range(3))
@pytest.mark.shared
def test_reads(n, shared):
    assert shared.is_dir()

@pytest.mark.sandbox
def test_skips_by_itself():
    pytest.skip("no namespaces here")

@pytest.mark.slow
def test_is_slow():
    pass

def test_is_plain():
    pass
"""


@pytest.fixture
def suite(tmp_path: Path, checkout: Path):
    """A function that runs the small suite and gives its exit code and output."""
    shutil.copy(checkout / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_small.py").write_text(SUITE)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bwrap").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "bwrap").chmod(0o755)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n" + "".join(f"    {tier}\n" for tier in TIERS))

    def run(*options: str, **environ: str) -> tuple[int, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SKILLOPT_")}
        kept |= {"PATH": str(tmp_path / "bin"), "SKILLOPT_SHARED": str(tmp_path / "nowhere")} | environ
        kept |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        argv = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider", *options, "."]
        done = subprocess.run(argv, cwd=tmp_path, env=kept, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def test_a_skipped_tier_prints_one_line_and_passes(suite):
    code, said = suite()
    assert code == 0
    assert said.count("tier shared: skipped, because") == 1
    assert "(3 tests)" in said
    assert "1 passed" in said


def test_a_required_tier_may_not_be_skipped_by_the_machine_or_by_the_test_itself(suite):
    code, said = suite(SKILLOPT_REQUIRE="shared, sandbox")
    assert code == 1
    assert "shared: required by SKILLOPT_REQUIRE, yet tier shared: skipped" in said
    assert "sandbox: required by SKILLOPT_REQUIRE, yet no namespaces here" in said
    assert "1 failed, 1 passed, 1 skipped, 3 errors" in said


def test_a_tier_that_is_there_runs(suite, tmp_path):
    (tmp_path / "there" / "transcripts").mkdir(parents=True)
    code, said = suite(SKILLOPT_REQUIRE="shared", SKILLOPT_SHARED=str(tmp_path / "there"))
    assert code == 0
    assert "4 passed" in said


@pytest.mark.parametrize("how", [{"SKILLOPT_REQUIRE": "slow"}, {}])
def test_slow_tests_run_when_asked_for(suite, how):
    options = () if how else ("-m", "slow")
    code, said = suite(*options, **how)
    assert code == 0
    assert "tier slow" not in said


def test_an_unknown_tier_is_wrong_use(suite):
    code, said = suite(SKILLOPT_REQUIRE="shard")
    assert code == 4
    assert "no tier ['shard']" in said


def test_every_tier_is_a_declared_marker(checkout):
    declared = tomllib.loads((checkout / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["markers"]
    assert [line.partition(":")[0] for line in declared] == list(TIERS)
