"""Tiers: tests that need something a fresh clone may lack (other people's transcripts, root, a browser).

A test names its tier by a marker: `@pytest.mark.shared`. Where the machine has not what the tier needs, the test is
skipped and the summary says one line a tier. `SKILLOPT_REQUIRE=shared,root` makes such a skip a failure: that is how CI
makes sure that what it set up was used.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from functools import cache
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
AGENTS = ("claude", "codex", "copilot")
SKIPPED = "tier {tier}: skipped, because {why}"


def shared_folder(environ: Mapping[str, str]) -> Path:
    """Where the transcripts of others are: SKILLOPT_SHARED, else the folder `shared` beside the checkout."""
    named = environ.get("SKILLOPT_SHARED")
    return Path(named).expanduser() if named else CHECKOUT.parent / "shared"


def lacks_shared() -> str | None:
    folder = shared_folder(os.environ)
    return None if (folder / "transcripts").is_dir() else "SKILLOPT_SHARED names no folder with transcripts"


def lacks_root() -> str | None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "it takes root"
    return lacks_command("setpriv")


def lacks_command(*names: str) -> str | None:
    return None if any(map(shutil.which, names)) else f"{names[0]} is not installed"


def lacks_model() -> str | None:
    named = os.environ.get("SKILLOPT_MODEL", "")
    return None if named and Path(named).is_file() else "SKILLOPT_MODEL names no model file"


def agents_folder(environ: Mapping[str, str]) -> Path:
    """Where the agents under test are: SKILLOPT_AGENTS, else where tests/agents_e2e/install puts them. Never those on
    the PATH: they are of the versions that their owner likes."""
    named = environ.get("SKILLOPT_AGENTS")
    cache = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(named).expanduser() if named else cache / "skillopt-sleep" / "agents" / "node_modules" / ".bin"


def lacks_agents() -> str | None:
    folder = agents_folder(os.environ)
    missing = [name for name in AGENTS if not shutil.which(name, path=str(folder))]
    return f"tests/agents_e2e/install was not run: {', '.join(missing)} not installed" if missing else lacks_box()


@cache
def lacks_box() -> str | None:
    """What namespaces without a network need; that they can be made is seen by making one."""
    for name in ("unshare", "nsenter", "ip", "tmux"):
        if why := lacks_command(name):
            return why
    spaces = ("unshare", "--map-root-user", "--net", "--pid", "--fork", "--mount-proc")
    tried = subprocess.run([*spaces, "ip", "link", "set", "lo", "up"], capture_output=True, text=True, check=False)
    return f"no namespaces can be made here: {tried.stderr.strip()}" if tried.returncode else None


TIERS: Mapping[str, Callable[[], str | None]] = {
    "shared": lacks_shared,
    "root": lacks_root,
    "sandbox": lambda: lacks_command("bwrap"),
    "systemd": lambda: lacks_command("systemd-analyze"),
    "cron": lambda: lacks_command("crontab"),
    "tmux": lambda: lacks_command("tmux"),
    "chromium": lambda: lacks_command(*BROWSERS),
    "faketime": lambda: lacks_command("faketime"),
    "agents": lacks_agents,
    "model": lacks_model,
    "slow": lambda: "it was not asked for (-m slow, or SKILLOPT_REQUIRE=slow)",
}
"""What each tier lacks on this machine, or None."""


def required_tiers(environ: Mapping[str, str]) -> frozenset[str]:
    return frozenset(filter(None, (word.strip() for word in environ.get("SKILLOPT_REQUIRE", "").split(","))))


def tiers_of(item: pytest.Item) -> list[str]:
    return [tier for tier in TIERS if item.get_closest_marker(tier) is not None]


def asked_for(tier: str, config: pytest.Config) -> bool:
    """`-m agents` asks for what is slow of them too."""
    marked = str(config.getoption("markexpr"))
    return tier == "slow" and ("slow" in required_tiers(os.environ) or "slow" in marked or "agents" in marked)


def pytest_configure() -> None:
    if unknown := required_tiers(os.environ) - set(TIERS):
        raise pytest.UsageError(f"SKILLOPT_REQUIRE: no tier {sorted(unknown)}; there are {', '.join(TIERS)}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for tier in tiers_of(item):
        if not asked_for(tier, item.config) and (why := TIERS[tier]()):
            pytest.skip(SKIPPED.format(tier=tier, why=why))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A required tier may not be skipped, whoever skips it: the hook above or the test itself."""
    report = yield
    must = required_tiers(os.environ).intersection(tiers_of(item))
    if report.skipped and not hasattr(report, "wasxfail") and must:
        report.outcome = "failed"
        report.longrepr = f"{', '.join(sorted(must))}: required by SKILLOPT_REQUIRE, yet {skip_reason(report)}"
    return report


def skip_reason(report: pytest.TestReport) -> str:
    words = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return words.removeprefix("Skipped: ")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line a reason, not one a test."""
    reasons = Counter(map(skip_reason, terminalreporter.stats.get("skipped", [])))
    for reason, tests in sorted(reasons.items()):
        terminalreporter.write_line(f"{reason} ({tests} {'test' if tests == 1 else 'tests'})")


@pytest.fixture
def shared() -> Path:
    """The folder of other people's transcripts; a test that takes it bears `@pytest.mark.shared`."""
    if why := lacks_shared():
        pytest.skip(SKIPPED.format(tier="shared", why=why))
    return shared_folder(os.environ).resolve()


@pytest.fixture(scope="session")
def agents_under_test() -> Path:
    """The folder that holds `claude`, `codex` and `copilot`; a test that takes it bears `@pytest.mark.agents`."""
    if why := lacks_agents():
        pytest.skip(SKIPPED.format(tier="agents", why=why))
    return agents_folder(os.environ)


@pytest.fixture
def checkout() -> Path:
    """The root of the repository."""
    return CHECKOUT


@pytest.fixture
def unprivileged() -> list[str]:
    """The start of an argv that runs our Python as nobody; a test that takes it bears `@pytest.mark.root`.

    Such a test first sees a plain read fail there: root reads everything, and so would prove nothing.
    """
    argv = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", sys.executable]
    if subprocess.run([*argv, "-c", "import pydantic"], capture_output=True, check=False).returncode != 0:
        pytest.skip(SKIPPED.format(tier="root", why="this Python lies where only root can read it"))
    return argv


@pytest.fixture(scope="session")
def skillopt_sleep_argv() -> list[str]:
    """How a test starts the command as a person would, in a process of its own."""
    return [sys.executable, "-m", "skillopt_sleep.cli"]
