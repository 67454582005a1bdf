"""The script `dev` on machines that lack this and that: its commands are stand-ins in a PATH of our own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOOLS = ("sh", "cat", "cksum", "dirname", "rm", "mkdir", "ln", "chmod", "printf", "uname", "id")
GIT = "#!/bin/sh\n"
UV = """#!/bin/sh
echo "uv $*" >>"$LOG"
if [ "$1" = venv ]; then
    mkdir -p .venv/bin && ln -s "$REAL_PYTHON" .venv/bin/python
    for tool in ruff mypy lint-imports pytest skillopt-sleep; do
        printf '#!/bin/sh\\necho "$0 $*" >>"$LOG"\\n' >.venv/bin/$tool && chmod +x .venv/bin/$tool
    done
elif [ -f broken ]; then
    exit 7
fi
"""
OLD_PYTHON = "#!/bin/sh\nexit 1\n"
NO_VENV = '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1 ;; esac\n'

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def clone(tmp_path: Path, checkout: Path) -> Path:
    """A checkout whose path has a space, with the three files that `dev` reads."""
    folder = tmp_path / "a clone"
    folder.mkdir()
    for name in ("dev", "requirements.lock", "pyproject.toml"):
        shutil.copy(checkout / name, folder)
    return folder


@pytest.fixture
def run(clone: Path, tmp_path: Path) -> Run:
    """`dev ARG …` where nothing is installed but a few tools and the stand-ins given by name."""

    def run(*arguments: str, model: str = "", **commands: str) -> subprocess.CompletedProcess[str]:
        shutil.rmtree(tmp_path / "bin", ignore_errors=True)
        (tmp_path / "bin").mkdir()
        for tool in TOOLS:
            if found := shutil.which(tool):
                (tmp_path / "bin" / tool).symlink_to(found)
        for name, script in commands.items():
            (tmp_path / "bin" / name).write_text(script)
            (tmp_path / "bin" / name).chmod(0o755)
        real = Path(sys.executable).resolve()
        environ = {"PATH": str(tmp_path / "bin"), "LOG": str(tmp_path / "log"), "REAL_PYTHON": str(real)}
        environ |= {"SKILLOPT_MODEL": model} if model else {}
        shell = shutil.which("dash") or shutil.which("sh") or ""
        argv = [shell, str(clone / "dev"), *arguments]
        return subprocess.run(argv, cwd="/", env=environ, capture_output=True, text=True, check=False)

    return run


def log(tmp_path: Path) -> list[str]:
    """What the stand-ins were called with since the last look."""
    path = tmp_path / "log"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [re.sub(r"\S*a clone/\.venv/bin/", "", line) for line in lines]


def test_help_names_every_command(run, checkout):
    said = run("help").stdout
    commands = re.findall(r"(?m)^    ([a-z-]+)\)", (checkout / "dev").read_text())
    assert commands
    assert all(f"./dev {command}" in said for command in commands)
    assert run().stdout == said


def test_an_unknown_command_is_wrong(run):
    done = run("tset")
    assert done.returncode == 1
    assert "dev: no command 'tset'" in done.stderr


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({}, "git is missing"),
        ({"git": GIT}, "no Python >= 3.11 was found"),
        ({"git": GIT, "python3": OLD_PYTHON}, "no Python >= 3.11 was found"),
        ({"git": GIT, "python3": NO_VENV}, "python3 cannot make environments: install python3-venv"),
    ],
)
def test_what_is_missing_is_said_in_one_line(run, there, said):
    done = run("test", **there)
    assert done.returncode == 1
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"dev: {said}")


def test_a_second_run_reuses_the_environment_at_once(run, tmp_path):
    assert run("lint", git=GIT, uv=UV).returncode == 0
    assert [line.split(" -")[0] for line in log(tmp_path)[:3]] == ["uv venv", "uv pip install", "uv pip install"]
    assert run("lint", git=GIT, uv=UV).returncode == 0
    assert [line.split()[0] for line in log(tmp_path)] == ["ruff", "ruff", "mypy", "lint-imports"]


@pytest.mark.parametrize("changed", ["requirements.lock", "pyproject.toml"])
def test_a_change_of_what_it_depends_on_renews_it(run, clone, tmp_path, changed):
    run("lint", git=GIT, uv=UV)
    log(tmp_path)
    with (clone / changed).open("a") as file:
        file.write("# more\n")
    run("lint", git=GIT, uv=UV)
    assert [line.split(" -")[0] for line in log(tmp_path) if line.startswith("uv")] == ["uv pip install"] * 2


def test_a_half_made_environment_is_not_taken_for_a_whole_one(run, clone, tmp_path):
    (clone / "broken").touch()
    assert run("lint", git=GIT, uv=UV).returncode == 7
    assert not any(line.startswith("ruff") for line in log(tmp_path))
    (clone / "broken").unlink()
    assert run("lint", git=GIT, uv=UV).returncode == 0
    assert "uv pip install" in "\n".join(log(tmp_path))


def test_packages_come_from_the_lock_with_hashes_and_the_project_without_dependencies(run, tmp_path):
    run("lint", git=GIT, uv=UV)
    _, packages, project = (line for line in log(tmp_path) if line.startswith("uv"))
    assert packages.endswith("--require-hashes -r requirements.lock")
    assert project.endswith("--no-deps --no-build-isolation --editable .")


def test_what_runs_the_model_is_installed_where_a_model_is_named_and_nowhere_else(run, checkout, tmp_path):
    groups = tomllib.loads((checkout / "pyproject.toml").read_text())["dependency-groups"]
    run("test", git=GIT, uv=UV)
    assert not any(line.endswith(groups["model"][0]) for line in log(tmp_path))
    assert run("test", git=GIT, uv=UV, model="/a model.gguf").returncode == 0
    asked = [line for line in log(tmp_path) if line.startswith("uv")]
    assert len(asked) == 1
    assert asked[0].endswith(f" {groups['model'][0]}")


def test_everything_is_checked_and_the_first_failure_does_not_hide_the_next(run, clone, tmp_path):
    run("lint", git=GIT, uv=UV)
    for tool in ("ruff", "pytest"):
        (clone / ".venv" / "bin" / tool).write_text('#!/bin/sh\necho "$0 $*" >>"$LOG"\nexit 3\n')
    log(tmp_path)
    done = run("test", "-k", "one two", git=GIT, uv=UV)
    assert done.returncode == 3
    assert "dev: failed: ruff-check ruff-format" in done.stderr
    assert [line.split()[0] for line in log(tmp_path)] == ["ruff", "ruff", "mypy", "lint-imports", "pytest"]


def test_lint_alone_fails_the_tests_command(run, clone):
    run("lint", git=GIT, uv=UV)
    (clone / ".venv" / "bin" / "mypy").write_text("#!/bin/sh\nexit 2\n")
    assert run("test", git=GIT, uv=UV).returncode == 1


def test_the_native_demo_takes_the_agents_under_test(run, clone, tmp_path):
    (clone / "tests/agents_e2e").mkdir(parents=True)
    install = clone / "tests/agents_e2e/install"
    install.write_text("#!/bin/sh\necho /where/they/are\n")
    install.chmod(0o755)
    (clone / "tests/__init__.py").touch()
    (clone / "tests/agents_e2e/__init__.py").touch()
    (clone / "tests/agents_e2e/demo.py").write_text("import sys\nprint('shown', *sys.argv[1:])\n")
    shown = run("demo", "--native", git=GIT, uv=UV)
    assert (shown.returncode, shown.stdout.splitlines()[-1:]) == (0, ["shown /where/they/are"]), shown.stderr


def test_the_demo_hands_its_arguments_on(run, tmp_path):
    assert run("demo", "--json", git=GIT, uv=UV).returncode == 0
    assert log(tmp_path)[-1] == "skillopt-sleep run --demo --json"


def pins(checkout: Path) -> dict[str, set[str]]:
    lock = (checkout / "requirements.lock").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"(?m)^([\w.-]+)==([^ ;\\]+)", lock):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


def test_the_lock_pins_what_the_project_asks_for(checkout):
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    asked += project["build-system"]["requires"]
    pinned = pins(checkout)
    for requirement in map(Requirement, asked):
        versions = pinned.get(canonicalize_name(requirement.name), set())
        assert versions, f"{requirement.name} is not in requirements.lock: run ./dev lock"
        assert all(requirement.specifier.contains(version) for version in versions), f"{requirement}: run ./dev lock"


def test_every_pin_has_hashes_and_no_address_stands_in_the_lock(checkout):
    lock = (checkout / "requirements.lock").read_text(encoding="utf-8")
    blocks = re.findall(r"(?m)^[\w.-]+==.*(?:\n    .*)*", lock)
    assert len(blocks) == sum(map(len, pins(checkout).values()))
    assert all("--hash=sha256:" in block for block in blocks)
    assert not re.search(r"://|--index|--extra|--find-links|@ ", lock)
