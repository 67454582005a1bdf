"""What lies in deploy/ is what the code renders."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.service.install.shipped import shipped

DEPLOY = Path(__file__).parent.parent.parent / "deploy"


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_shipped_file_is_what_the_code_renders(name: str) -> None:
    assert (DEPLOY / name).read_text(encoding="utf-8") == shipped()[name]


def test_nothing_else_lies_in_deploy() -> None:
    found = {str(path.relative_to(DEPLOY)) for path in DEPLOY.rglob("*") if path.is_file()}
    assert found == set(shipped())
