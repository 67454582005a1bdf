"""What `init`, `doctor` and `config show` do."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from skillopt_harvesters import discover, harvesters, left_out
from skillopt_harvesters.discovery import built_in
from skillopt_sleep.agents.native import LINES
from skillopt_sleep.agents.others import further_agents
from skillopt_sleep.checks.others import further_kinds
from skillopt_sleep.checks.scorers import scorers
from skillopt_sleep.cli.common import Call
from skillopt_sleep.cli.making import the_store, user_home
from skillopt_sleep.cli.scheduling import KINDS, environment_of, scheduler
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.config import Config, example
from skillopt_sleep.config.model import Agent
from skillopt_sleep.errors import SleepError, StoreError
from skillopt_sleep.ingest.further import further_roots
from skillopt_sleep.models.choice import destination, part_of
from skillopt_sleep.models.keys import without_keys
from skillopt_sleep.models.others import further_models
from skillopt_sleep.paths import Home, user_config
from skillopt_sleep.plugins import Plugins
from skillopt_sleep.redact import finding as engine_finding
from skillopt_sleep.review import targets
from skillopt_sleep.sandbox import look
from skillopt_sleep.service import doctor as checks
from skillopt_sleep.service.doctor import AgentFiles, Finding, OddFile
from skillopt_sleep.service.retention import kept
from skillopt_sleep.store.adoptions import record_roots
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.files import must_be_whole
from skillopt_sleep.store.oddities import odd_sources
from skillopt_sleep.store.sources import understood_by_agent


def init(call: Call) -> None:
    """Write sleep.toml where there is none, record the project at hand, say what is read and what would be sent."""
    path = user_config(call.config_file)
    wrote = _write_example(path)
    read = call.loaded.config.harvest.agents
    found = {agent.agent: agent for agent in agent_files(None, read, call.loaded.config.harvest.roots) if agent.wanted}
    project = _project(Path.cwd())
    folders: tuple[str, ...] = ()
    with the_store(call) as store:
        if project:
            folders = targets.roots(targets.AGENTS, targets.project(project))
            record_roots(store, dict.fromkeys(folders, ""), str(project))
    keys = [key for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY") if os.environ.get(key)]
    document = {
        "format": 1,
        "config": str(path),
        "written": wrote,
        "home": str(call.home.root),
        "project": str(project) if project else None,
        "roots": list(folders),
        "agents": [{"agent": a.agent, "files": a.files, "looked": [str(p) for p in a.looked]} for a in found.values()],
        "keys": keys,
        "sends": sends(call.loaded.config, call.home),
    }
    if call.as_json:
        call.view.document(document)
        return
    view = call.view
    view.text(f"{'wrote' if wrote else 'kept'} {path}")
    for agent in found.values():
        where = ", ".join(str(p) for p in agent.looked if p.exists()) or "not found"
        view.text(f"{agent.agent}: {agent.files} transcripts ({where})")
    view.text(
        f"may be written to: {', '.join(folders)}" if folders else "no project here: run this inside one to adopt"
    )
    view.text("What is read stays here, redacted, in " + str(call.home.root))
    held = f" ({', '.join(keys)} is set and is not used unless you name a model)" if keys else ""
    sent = sends(call.loaded.config, call.home)
    view.text(f"Nothing is sent to anybody{held}." if sent == "nothing" else f"Sent each night: {sent}.")
    only = f"  (works on {project.name}; --all-projects on every project that is found)" if folders and project else ""
    view.text("Next: skillopt-sleep run" + only)


def sends(config: Config, home: Home) -> str:
    """What a night with this configuration sends, and to whom."""
    part = part_of(config.models, "optimizer", home.models, os.environ)
    target = part_of(config.models, "target", home.models, os.environ)
    sent = []
    if where := destination(part):
        said = "what you said to your agents and what they had done, redacted"
        sent.append(f"{said}, to {part.model or 'a model'} at {where}")
    if target.backend in LINES:
        sent.append(f"what you had asked, and what the agent reads in a copy of your project, to {destination(target)}")
    return "; ".join(sent) or "nothing"


def doctor(call: Call, *, as_scheduled: bool, fix: bool) -> None:
    """Every check, one a line; exit 1 where one fails."""
    findings = []
    for finding in _findings(call, as_scheduled=as_scheduled, fix=fix):
        findings.append(finding)
        if call.as_json:
            call.view.line(finding.as_json())
    if not call.as_json:
        rows = [(f.state, f.check, f.finding + (f"\n→ {f.remedy}" if f.remedy else "")) for f in findings]
        call.view.table(("", "check", "finding"), rows)
    if checks.worst(findings) == "fail":
        failed = next(f for f in findings if f.state == "fail")
        raise SleepError(failed.finding, where=failed.check, remedy=failed.remedy)


def show_configuration(call: Call) -> None:
    """Each value with its origin, as a table or one document."""
    rows = call.loaded.rows()
    if call.as_json:
        values = [{"key": key, "value": value, "origin": origin} for key, value, origin in rows]
        call.view.document({"format": 1, "values": values, "warnings": list(call.loaded.warnings)})
        return
    call.view.table(("key", "value", "origin"), [(key, _plain(value), origin) for key, value, origin in rows])


def agent_files(
    store: Store | None, wanted: Collection[str], named: Mapping[Agent, Sequence[str]]
) -> Iterator[AgentFiles]:
    """What is on disk of each agent that can be read, with what the store knows of it. `wanted` are read."""
    home, environ = user_home(), os.environ
    known, further = understood_by_agent(store) if store else {}, further_roots(named, home)
    odd = odd_sources(store, 1 - checks.LEAST_UNDERSTOOD) if store else []
    for harvester in harvesters():
        agent = harvester.agent
        found, trouble = discover(home, environ, {agent}, further)
        version, share = known.get(agent, ("", None))
        yield AgentFiles(
            agent,
            (*harvester.roots(home, environ), *further.get(agent, ())),
            len(found),
            min((source.mtime_ns // 1_000_000 for source in found), default=None),
            version,
            share,
            kept=kept(agent, home, environ),
            wanted=agent in wanted,
            trouble=tuple((one.path, one.reason) for one in trouble),
            odd=tuple(OddFile(one.path, one.unknown, one.version) for one in odd if one.agent == agent),
        )


def _findings(call: Call, *, as_scheduled: bool, fix: bool) -> Iterator[Finding]:
    if fix:
        yield from checks.mend(call.home)
    yield checks.python()
    yield checks.names()
    yield _plugins()
    yield from _configuration(call)
    yield checks.home_folder(call.home)
    yield checks.disk(call.home)
    yield checks.store(call.home, lambda: _odd(call))
    yield checks.lock(call.home)
    engine = engine_finding()
    yield checks.redaction(available=engine.available, said=engine.finding, remedy=engine.remedy)
    yield checks.sandbox(look())
    yield from _agents(call)
    yield from _scheduling()
    if as_scheduled:
        yield checks.as_scheduled({**os.environ, **environment_of(call)})


def _plugins() -> Finding:
    groups: dict[str, Plugins[object]] = {
        "check": further_kinds(),
        "scorer": scorers(),
        "agent": further_agents(),
        "model": further_models(),
    }
    found = [f"{what} {name}" for what, group in groups.items() for name in group.found]
    bad = [str(one) for group in groups.values() for one in group.bad]
    own = {harvester.agent for harvester in built_in()}
    found += [f"harvester {harvester.agent}" for harvester in harvesters() if harvester.agent not in own]
    return checks.plugins(found, [*bad, *(f"the {one.path} was left out: {one.reason}" for one in left_out())])


def _configuration(call: Call) -> Iterator[Finding]:
    found = checks.configuration(lambda: call.loaded.warnings)
    yield found
    if found.state != "fail":
        part = part_of(call.loaded.config.models, "optimizer", call.home.models, os.environ)
        yield checks.models(os.environ, part.backend, bool(destination(part)))


def _odd(call: Call) -> Iterable[str]:
    with open_store(call.home.store, SystemClock(), read_only=True) as store:
        must_be_whole(store.path, store.driver)
        return store.warnings


def _agents(call: Call) -> Iterator[Finding]:
    try:
        store = open_store(call.home.store, SystemClock(), read_only=True)
    except SleepError:
        store = None
    try:
        wanted, named = _wanted(call)
        for found in agent_files(store, wanted, named):
            yield from checks.agent(found)
    finally:
        if store is not None:
            store.close()


def _wanted(call: Call) -> tuple[Collection[str], Mapping[Agent, Sequence[str]]]:
    """The agents that the configuration has read, and further folders; all and none, where it cannot be read itself."""
    try:
        return call.loaded.config.harvest.agents, call.loaded.config.harvest.roots
    except SleepError:
        return [harvester.agent for harvester in harvesters()], {}


def _scheduling() -> Iterator[Finding]:
    yield checks.schedule([scheduler(kind) for kind in KINDS])
    systemd = scheduler("systemd").show()
    if (found := checks.linger(systemd, _loginctl)) is not None:
        yield found


def _loginctl() -> str | None:
    program = shutil.which("loginctl")
    if program is None:
        return None
    done = subprocess.run([program, "show-user", "--property=Linger", str(os.getuid())],
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          env=without_keys(os.environ))  # fmt: skip
    return done.stdout if done.returncode == 0 else None


def _write_example(path: Path) -> bool:
    """The commented defaults, where there is no file yet."""
    if path.exists():
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as out:
            out.write(example())
    except OSError as error:
        raise StoreError(error.strerror or "cannot be written", where=str(path), remedy="Use --config") from error
    return True


def _project(folder: Path) -> Path | None:
    """The git root of a folder, else the folder itself; None where that would take in a whole HOME.

    A repository that holds the HOME (of dotfiles, for instance) is no project.
    """
    home = user_home()
    roots = [parent for parent in (folder, *folder.parents) if (parent / ".git").exists()]
    root = next((one for one in roots if not home.is_relative_to(one)), folder)
    return None if home.is_relative_to(root) else root


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return "–" if value is None else str(value)
