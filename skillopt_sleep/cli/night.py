"""What `run` and `harvest` do once their options are read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_core.types import Outcome
from skillopt_harvesters import harvesters
from skillopt_sleep.cli.common import Call
from skillopt_sleep.cli.making import configured, make_world, the_store
from skillopt_sleep.clock import SystemClock, iso
from skillopt_sleep.domain.reports import HarvestCounts, NightReport
from skillopt_sleep.errors import BudgetTooSmall, NeedsPerson, NightLocked, NotFound, SleepError, UsageError
from skillopt_sleep.ingest.silence import SILENT
from skillopt_sleep.log import open_log
from skillopt_sleep.night import sleep
from skillopt_sleep.night.dry import Plan, plan_of
from skillopt_sleep.review import targets
from skillopt_sleep.review.documents import harvest_document, night_document
from skillopt_sleep.review.words import count
from skillopt_sleep.store.adoptions import record_roots, recorded_projects
from skillopt_sleep.store.nights import note_skip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillopt_sleep.cli.view import Step
    from skillopt_sleep.config import Config
    from skillopt_sleep.store.engine import Store
    from skillopt_sleep.world import LocalWorld

Options = Mapping[str, tuple[object, str]]


@dataclass(frozen=True, slots=True)
class How:
    """How a night is run, beside the configuration."""

    loose: tuple[Path, ...] = ()
    as_of_ms: int | None = None
    dry_run: bool = False
    resume: bool = False
    all_projects: bool = False
    names_projects: bool = False


class Shown:
    """A night's progress on the view's bar or plain lines."""

    def __init__(self, step: Step, say: Callable[[str], None]) -> None:
        self._step = step
        self._say = say
        self._what, self._total = "", 0

    def stage(self, name: str, total: int | None = None) -> None:
        self._what, self._total = name, total or 0
        self._step(name, 0, self._total)

    def advance(self, done: int) -> None:
        self._step(self._what, done, self._total)

    def say(self, text: str) -> None:
        self._say(text)


def run(call: Call, options: Options, how: How) -> None:
    """One night from start to exit code. Raises `NightLocked`, `NeedsPerson`, `BudgetTooSmall`, …"""
    config = _config(call, options, how)
    must_exist(how.loose)
    with the_store(call) as store, open_log(call.home, scrub=None):
        if how.names_projects:
            _record(store, config.harvest.projects)
        elif not how.all_projects and not how.loose and not config.harvest.projects:
            config = with_projects(config, recorded_projects(store))
        with call.view.progress("night") as step:
            world = make_world(
                call, config, store, Shown(step, call.view.note), loose=how.loose, as_of_ms=how.as_of_ms,
                dry_run=how.dry_run, resume=how.resume, lookback_ms=_lookback(config),
            )  # fmt: skip
            world.ready()
            for line in idle(options, world.backend, natively=world.evidence == "replayed"):
                call.view.warn(line)
            if how.dry_run:
                planned = plan_of(world)
            else:
                report = _slept(world)
        if how.dry_run:
            show_plan(call, planned)
            return
        if (problem := what_it_wants(report)) is not None and call.as_json:
            raise problem.beside(night_document(report))
        call.view.night(report)
        say_warnings(call, report.harvest)
    if problem is not None:
        raise problem


def harvest_alone(
    call: Call, loose: Sequence[Path], agents: Sequence[str], since: str | None, max_sessions: int | None
) -> None:
    """`harvest`: read what is new, say what was read."""
    from skillopt_sleep.cli.nights import since_ms

    config = call.loaded.config
    must_exist(loose)
    must_be_read(agents)
    back = since_ms(since, SystemClock().now_ms())
    with the_store(call) as store, call.view.progress("harvest") as step:
        world = make_world(
            call, config, store, Shown(step, call.view.note), loose=tuple(loose), agents=tuple(agents),
            lookback_ms=back if since else _lookback(config), max_sessions=max_sessions,
        )  # fmt: skip
        counts = world.harvest()
    if (problem := silent_sources(counts)) is not None and call.as_json:
        raise problem.beside(harvest_document(counts))
    show_harvest(call, counts)
    if problem is not None:
        raise problem


def demo(call: Call) -> None:
    """A night on the shipped sample, in a throw-away home; adopted and rolled back before your eyes."""
    from skillopt_sleep.cli import demonstration

    with tempfile.TemporaryDirectory(prefix="skillopt-sleep-demo-") as folder:
        demonstration.demo(call, Path(folder).resolve())


def must_exist(paths: Sequence[Path]) -> None:
    """A path of the command line that is not there is a mistake, not an empty night."""
    for path in paths:
        if not path.exists():
            raise NotFound("there is no such file or folder", where=str(path), remedy="Check the path after --from")


def must_be_read(agents: Sequence[str]) -> None:
    """`--agent` takes the names of those whose transcripts are read."""
    known = [harvester.agent for harvester in harvesters()]
    for agent in agents:
        if agent not in known:
            raise UsageError(f"unknown agent {agent!r}", where="--agent", remedy=f"Choose from {', '.join(known)}")


def what_it_wants(report: NightReport) -> SleepError | None:
    """What of a finished night wants a person (cli.md, exit codes 5 and 3); None where nothing does."""
    compared = any(edit.verdict.pairs for document in report.documents for edit in document.edits)
    if report.state == "budget" and not compared:
        return BudgetTooSmall(report.error or "the budget was out", remedy="Give it more tokens, or no limit")
    for use in report.models:
        if use.prompts and not use.answered:
            why = ", ".join(f"{reason} ({n})" for reason, n in use.failed.items())
            what = "attempts" if use.role == "target" else "calls"
            return NeedsPerson(f"all {what} of {use.model} failed: {why}", where=use.host, remedy="Try again later")
    broken = [d for d in report.documents if d.verdict is not None and d.verdict.outcome is Outcome.INFRA_ERROR]
    if broken:
        return NeedsPerson("too many calls failed", where=broken[0].document.name, remedy="Run `skillopt-sleep doctor`")
    return silent_sources(report.harvest)


IDLE: Mapping[str, str] = {
    "models.target_backend": "recorded sessions are replayed, no model attempts",
    "models.target": "recorded sessions are replayed, no model attempts",
    "models.judge_backend": "a night's tasks are judged by rules; `train` and `eval` ask a judge",
    "models.judge": "a night's tasks are judged by rules; `train` and `eval` ask a judge",
    **{
        f"models.{role}_{what}": why
        for role, why in (
            ("target", "recorded sessions are replayed, no model attempts"),
            ("judge", "a night's tasks are judged by rules; `train` and `eval` ask a judge"),
        )
        for what in ("base_url", "key", "effort")
    },
    "evolve.rollouts_k": "a recorded session is the same each time",
    "evolve.edit_budget": "each rule is one edit",
    "gate.mode": "recorded evidence has a gate of its own",
    "mine.recall_k": "all past sessions are looked at",
    "mine.dream_factor": "recorded sessions have no variants",
    "adopt.auto_rollback": "nothing is taken back by itself yet, see `skillopt-sleep status`",
}
"""Options that change nothing, and why: the evidence of this version is recorded, whichever model phrases rules."""
NATIVELY = frozenset({"models.target_backend", "models.target", "gate.mode"})
"""Those of them that say who attempts, where a real agent does, and when it is believed."""
WITH_A_MODEL = frozenset({"mine.recall_k"})
"""Those of them that change what a model is shown, where one phrases rules."""
WITH_BOTH = frozenset({"evolve.rollouts_k", "evolve.edit_budget", "mine.dream_factor"})
"""Those of them that say how a skill is trained, where a model edits and a real agent attempts."""


def idle(options: Options, backend: str, *, natively: bool = False) -> Iterator[str]:
    """A warning for each option that was given and has no effect. `natively`: a real agent attempts."""
    given = {key: flag for key, (value, flag) in options.items() if value is not None and value != ()}
    for key, why in IDLE.items():
        modelled = backend != "recorded"
        used = (key in WITH_A_MODEL and modelled) or (key in NATIVELY and natively)
        if key in given and not used and not (key in WITH_BOTH and modelled and natively):
            yield f"{given[key]} has no effect with backend {backend}: {why}"
    if "models.optimizer" in given and backend == "recorded":
        yield f"{given['models.optimizer']} has no effect with backend recorded: name --backend anthropic or openai"


def silent_sources(counts: HarvestCounts) -> NeedsPerson | None:
    """A source that gave nothing although it is not empty wants a person; single unreadable files are warnings."""
    silent = [warning for warning in counts.warnings if warning.reason.startswith(SILENT)]
    if not silent:
        return None
    more = f" (and {len(silent) - 1} more)" if len(silent) > 1 else ""
    remedy = "`skillopt-sleep init` lists the agents that are read; if it is one of theirs, its format has changed"
    return NeedsPerson(silent[0].reason + more, where=silent[0].path, remedy=remedy)


def show_harvest(call: Call, counts: HarvestCounts) -> None:
    if call.as_json:
        call.view.document(harvest_document(counts))
        return
    view = call.view
    view.text(
        f"{count(counts.files, 'file')}, {counts.bytes / 1e6:.1f} MB read in {counts.seconds:.1f} s: "
        f"{counts.new} new sessions, {counts.updated} updated, {counts.unchanged} unchanged"
    )
    if counts.pending:
        view.text(f"{counts.pending} wait for the next harvest")
    left_out = sorted(counts.skipped.items(), key=lambda pair: (-pair[1], pair[0]))
    for reason, n in left_out[: None if call.verbose else 3]:
        view.note(f"left out: {n} × {reason}")
    if len(left_out) > 3 and not call.verbose:
        view.note(f"and records for {len(left_out) - 3} more reasons (-v names them)")
    say_warnings(call, counts)


def say_warnings(call: Call, counts: HarvestCounts) -> None:
    """What could not be read, and what was not understood: the first of each, all of them with `-v`."""
    said = [f"{w.path}:{w.line}: {w.reason}" if w.line else f"{w.path}: {w.reason}" for w in counts.warnings
            if not w.reason.startswith(SILENT)]  # fmt: skip
    for lines in (said, [f"{broken.path}: {broken.reason}" for broken in counts.unreadable]):
        for line in lines[: None if call.verbose else 5]:
            call.view.warn(line)
        if len(lines) > 5 and not call.verbose:
            call.view.warn(f"and {len(lines) - 5} more (-v shows them)")


def show_plan(call: Call, planned: Plan) -> None:
    """`--dry-run`: what a night would practise, and what the budget buys."""
    if call.as_json:
        call.view.document(planned.as_json())
        return
    view = call.view
    view.text(planned.headline)
    rows = [(line.title, line.document, line.train, line.later, iso(line.cut_ms) or "") for line in planned.lines]
    if rows:
        view.table(("rule", "document", "made from", "measured on", "cut"), rows, right=(2, 3))
    view.text(planned.buys)
    for line in (line for one in planned.attempts for line in one.said):
        view.text(line)


def _slept(world: LocalWorld) -> NightReport:
    try:
        return sleep(world)
    except NightLocked as locked:
        date = (iso(world.clock.now_ms()) or "")[:10]
        note_skip(world.store, date, locked.message, zone=world.zone, trigger=world.trigger)
        raise


def _config(call: Call, options: Options, how: How) -> Config:
    """The configuration of this night: words of `--preferences` come on top of those of sleep.toml."""
    said, flag = options["preferences.rules"]
    kept = call.loaded.config.preferences.rules
    merged = tuple(dict.fromkeys((*kept, *(said if isinstance(said, tuple) else ()))))
    config = configured(call, {**options, "preferences.rules": (merged, flag)})
    return with_projects(config, ()) if how.all_projects else config


def with_projects(config: Config, projects: Sequence[str]) -> Config:
    """The configuration with other projects to work on; none stands for all that are found."""
    return config.model_copy(update={"harvest": config.harvest.model_copy(update={"projects": tuple(projects)})})


def _record(store: Store, projects: Sequence[str]) -> None:
    """Naming a project on the command line is the person's word that adoptions may write below it."""
    for project in projects:
        if Path(project).is_dir():
            folders = targets.roots(targets.AGENTS, targets.project(Path(project)))
            record_roots(store, dict.fromkeys(folders, ""), project)


def _lookback(config: Config) -> int | None:
    from skillopt_sleep.config.model import lookback_ms

    return lookback_ms(config.harvest.lookback)
