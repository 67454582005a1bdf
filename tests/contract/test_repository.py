"""House rules that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

PRODUCT = ("skillopt_core", "skillopt_sleep", "harvesters/skillopt_harvesters")
LONGEST_MODULE = 400
LONGEST_FUNCTION = 60
ADDRESS = re.compile(r"https?://[^ \"]*/simple\b|--(?:extra-)?index-url[ =]\S|\"resolved\": \"http|/root/\.")


def modules(checkout: Path) -> Iterator[Path]:
    for root in PRODUCT:
        yield from (checkout / root).rglob("*.py")


def tracked(checkout: Path) -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("this is no git checkout")
    return [checkout / name for name in done.stdout.split("\0") if name and (checkout / name).is_file()]


def test_a_module_fits_on_a_few_screens(checkout):
    long = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules(checkout)}
    assert {str(path): lines for path, lines in long.items() if lines > LONGEST_MODULE} == {}


def test_a_function_fits_on_one_screen(checkout):
    long = []
    for path in modules(checkout):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                long += [f"{path}:{node.lineno} {node.name} {lines}"] if lines > LONGEST_FUNCTION else []
    assert long == []


def test_every_folder_of_modules_is_a_package(checkout):
    """Else import-linter does not see it, and its contracts are silent. Migrations are loaded by their path."""
    folders = {path.parent for path in modules(checkout) if "migrations" not in path.parts}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_every_package_says_that_it_is_typed(checkout):
    assert all((checkout / root / "py.typed").is_file() for root in PRODUCT)


def test_no_address_of_an_index_and_no_home_of_ours_is_tracked(checkout):
    own = Path(__file__).resolve()
    found = []
    for path in tracked(checkout):
        text = path.read_bytes().decode("utf-8", "replace")
        if path.resolve() != own and (seen := ADDRESS.search(text)):
            found.append(f"{path}: {seen[0]}")
    assert found == []
