"""`run --demo`: a whole night on the shipped sample, then an adoption and its rollback, in a throw-away home."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_sleep.cli.common import Call
from skillopt_sleep.cli.night import Shown
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.config import Config
from skillopt_sleep.domain.proposals import Adoption
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.night import sleep
from skillopt_sleep.paths import Home
from skillopt_sleep.review import adopt as adopting
from skillopt_sleep.review import targets
from skillopt_sleep.store.adoptions import Adoptions, record_roots
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.proposals import find_proposal
from skillopt_sleep.world import LocalWorld

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = "/home/sam/shop"
"""Where the sample's sessions took place, in every record of them."""


def demo(call: Call, folder: Path) -> NightReport:
    """The night and what a person would do next. Nothing outside `folder` is read or written."""
    user_home, project = lay_out(folder)
    with open_store(folder / "state" / "store.db", SystemClock()) as store:
        record_roots(store, dict.fromkeys(targets.roots(targets.AGENTS, targets.project(project)), ""), str(project))
        with call.view.progress("night") as step:
            world = LocalWorld(
                Home(folder / "state"), Config(), store, user_home, environ={}, progress=Shown(step, call.view.note)
            )
            report = replace(sleep(world), path=None)  # its pages go with the folder
        call.view.night(report)
        if not call.as_json:
            _decide(call, world, store, report)
    return report


def lay_out(folder: Path) -> tuple[Path, Path]:
    """A HOME with the sample's transcripts and an empty project that they belong to."""
    user_home, project = folder / "home", folder / "shop"
    project.mkdir(parents=True)
    with as_file(files("skillopt_sleep.sample") / "home") as shipped:
        for path in _transcripts(shipped):
            place = user_home / path.relative_to(shipped)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes().replace(PROJECT.encode(), str(project).encode()))
    return user_home, project


def _transcripts(shipped: Path) -> Iterator[Path]:
    return (path for path in sorted(shipped.rglob("*.jsonl")) if path.is_file())


def _decide(call: Call, world: LocalWorld, store: Store, report: NightReport) -> None:
    """Adopt what is supported, show the file, take it back."""
    name = next((d.proposal for d in report.documents if d.proposal and d.document.kind == "learned"), None)
    if name is None:
        return
    proposal, ledger, view = find_proposal(store, name), Adoptions(store), call.view
    adoption = adopting.adopt(proposal, (), world.targets(proposal.document), ledger, world.clock)
    view.text("\n$ skillopt-sleep adopt " + name)
    view.adoption(adoption)
    written = Path(adoption.targets[0].target.path)
    view.text(f"\n$ cat {written.name}\n{written.read_text(encoding='utf-8').rstrip()}")
    view.text("\n$ skillopt-sleep rollback " + adoption.id)
    view.adoption(adopting.rollback(adoption, ledger))
    view.text("\n" + _after(adoption))


def _after(adoption: Adoption) -> str:
    gone = not any(Path(written.target.path).exists() for written in adoption.targets)
    left = (
        "Everything is as it was before; nothing of the demo stays on this machine.\n"
        "On your own sessions: `skillopt-sleep init` in a project, then `skillopt-sleep run`."
    )
    return left if gone else "The rollback left a file behind: please report this."
