from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.paths import home, person, user_config


def test_the_option_wins_over_the_environment_and_that_over_the_platform(tmp_path):
    environ = {"SKILLOPT_HOME": str(tmp_path / "env"), "SKILLOPT_CONFIG": str(tmp_path / "env.toml")}
    assert home(tmp_path / "option", environ).root == tmp_path / "option"
    assert home(None, environ).root == tmp_path / "env"
    assert home(None, {}).root.name == "skillopt-sleep"
    assert user_config(tmp_path / "option.toml", environ) == tmp_path / "option.toml"
    assert user_config(None, environ) == tmp_path / "env.toml"
    assert user_config(None, {}).name == "sleep.toml"


def test_paths_are_absolute_and_know_the_users_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert home(Path("state"), {}).root == tmp_path / "state"
    assert home(Path("~/state"), {}).root == Path.home() / "state"


def test_everything_of_ours_lies_in_the_home(tmp_path):
    ours = home(tmp_path, {})
    assert {p.parent for p in (ours.store, ours.lock, ours.logs, ours.reports)} == {tmp_path}


@pytest.mark.parametrize("place", [lambda: home(Path("~/x"), {}), lambda: user_config(Path("~/x"), {}), person])
def test_a_user_without_a_home_is_told_what_to_name(place, monkeypatch):
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda _uid: {}["no entry"])
    with pytest.raises(ConfigError, match=r"^HOME: no HOME is set.*--home, --config and --from$"):
        place()
