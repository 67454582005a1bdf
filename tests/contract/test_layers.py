"""The import contracts of `.importlinter`: each refuses a forbidden edge that is planted for it."""

from __future__ import annotations

import ast
import configparser
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOTS = ("skillopt_core", "skillopt_sleep", "harvesters/skillopt_harvesters")

PLANTED = {
    "layers": [
        ("skillopt_sleep.domain", "skillopt_sleep.store"),
        ("skillopt_sleep.ingest", "skillopt_sleep.mine"),
        ("skillopt_sleep.models", "skillopt_sleep.cli"),
    ],
    "foundations": [
        ("skillopt_core", "skillopt_sleep.errors"),
        ("skillopt_harvesters", "skillopt_core.types"),
        ("skillopt_core", "skillopt_harvesters.model"),
    ],
    "core-is-pure": [("skillopt_core", "os"), ("skillopt_core", "pydantic"), ("skillopt_core", "random")],
    "agents-are-given-data": [
        ("skillopt_sleep.agents.recorded", "skillopt_sleep.store"),
        ("skillopt_sleep.agents.recorded", "skillopt_sleep.checks"),
        ("skillopt_sleep.agents.simulated", "skillopt_sleep.store"),
        ("skillopt_sleep.agents.simulated", "skillopt_sleep.checks"),
    ],
    "door-anthropic": [("skillopt_sleep.models", "anthropic"), ("skillopt_sleep.cli", "anthropic")],
    "door-openai": [("skillopt_sleep.models", "openai"), ("skillopt_sleep.mine", "openai")],
    "door-local": [("skillopt_sleep.models", "xllamacpp"), ("skillopt_sleep.agents", "xllamacpp")],
    "door-database": [("skillopt_sleep.review", "sqlalchemy"), ("skillopt_sleep.cli", "alembic")],
    "door-terminal": [("skillopt_sleep.review", "typer")],
    "door-patterns": [("skillopt_sleep.mine", "re2"), ("skillopt_sleep.cli", "jsonschema_rs")],
    "door-scheduler": [("skillopt_sleep.cli", "apscheduler"), ("skillopt_sleep.ingest", "watchdog")],
}
"""Contract: edges that it must refuse, each a package and what a new module in it imports."""


def contracts(checkout: Path) -> dict[str, configparser.SectionProxy]:
    read = configparser.ConfigParser()
    read.read(checkout / ".importlinter", encoding="utf-8")
    prefix = "importlinter:contract:"
    return {name.removeprefix(prefix): read[name] for name in read.sections() if name.startswith(prefix)}


def lint(folder: Path) -> str:
    """What lint-imports says of the packages in a folder."""
    command = Path(sys.executable).parent / "lint-imports"
    argv = [str(command), "--no-cache", "--no-logo"]
    done = subprocess.run(argv, cwd=folder, env={"COLUMNS": "400"}, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages and contracts."""
    folder, checkout = tmp_path_factory.mktemp("tree"), Path(__file__).parents[2]
    shutil.copy(checkout / ".importlinter", folder)
    for root in ROOTS:
        shutil.copytree(checkout / root, folder / Path(root).name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def said_of_planted(tree: Path) -> str:
    """One run of lint-imports over a tree in which every forbidden edge was planted."""
    for edges in PLANTED.values():
        for package, imported in edges:
            path = tree / (planted(package, imported).replace(".", "/") + ".py")
            path.write_text(f"import {imported}\n", encoding="utf-8")
    innocent = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import skillopt_sleep.store\n"
    (tree / "skillopt_sleep" / "domain" / "annotated.py").write_text(innocent, encoding="utf-8")
    return lint(tree)


def planted(package: str, imported: str) -> str:
    """The module that a forbidden edge is planted in."""
    return f"{package}.planted_{imported.replace('.', '_')}"


def test_every_contract_has_a_planted_edge(checkout):
    assert set(contracts(checkout)) == set(PLANTED)


@pytest.mark.parametrize("name", PLANTED)
def test_a_contract_refuses_its_forbidden_edges(name, checkout, said_of_planted):
    title = contracts(checkout)[name]["name"]
    assert f"{title} BROKEN" in said_of_planted
    section = said_of_planted.split("Broken contracts")[1].split(f"{title}\n{'-' * len(title)}")[1]
    section = re.split(r"\n-{5,}\n", section)[0]
    for package, imported in PLANTED[name]:
        edge = rf"{re.escape(planted(package, imported))} (->|is not allowed to import) {re.escape(imported)}"
        assert re.search(edge, section), edge


def test_an_import_for_annotations_alone_is_free(said_of_planted):
    assert "annotated" not in said_of_planted


def test_a_module_without_a_layer_is_refused(tree):
    (tree / "skillopt_sleep" / "nowhere.py").write_text("")
    assert "skillopt_sleep.nowhere" in lint(tree)


def test_the_core_imports_the_standard_library_and_itself(checkout):
    allowed = set(sys.stdlib_module_names) - set(contracts(checkout)["core-is-pure"]["forbidden_modules"].split())
    for path in (checkout / "skillopt_core").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [] if node.level else [node.module or ""]
            assert {name.partition(".")[0] for name in names} <= allowed | {"skillopt_core"}, path


def test_the_core_is_forbidden_every_package_that_the_product_depends_on(checkout):
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.match(r"[\w.-]+", line)[0].lower() for line in project["dependencies"]}
    modules = {
        module
        for module, owners in packages_distributions().items()
        if not module.startswith("_") and wanted.intersection(owner.lower() for owner in owners)
    }
    assert modules <= set(contracts(checkout)["core-is-pure"]["forbidden_modules"].split())
