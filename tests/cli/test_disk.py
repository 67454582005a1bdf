"""What may not be read, what may not be written, a disk that is full: one line, nothing lost, the next run works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from skillopt_sleep.cli.demonstration import lay_out
from tests.cli.child import COMMAND, Child, least

pytestmark = pytest.mark.root
NOBODY = 65534


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter; pytest's own are for root alone."""
    folder = Path(mkdtemp(prefix="skillopt-sleep-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def nobody(open_folder: Path, unprivileged: list[str]) -> Child:
    """An unprivileged user with the sample's transcripts, who cannot read what is closed to them."""
    user_home, project = lay_out(open_folder)
    for path in (open_folder, *open_folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    closed = open_folder / "closed"
    closed.write_text("secret")
    closed.chmod(0)
    read = subprocess.run([*unprivileged, "-c", f"open({str(closed)!r})"], capture_output=True, check=False)
    assert b"PermissionError" in read.stderr, "a plain read has to fail, else these tests prove nothing"
    return Child(project, least(open_folder, user_home), [*unprivileged, *COMMAND[1:]])


def transcripts(folder: Path) -> list[Path]:
    return sorted((folder / "home/.claude").rglob("*.jsonl"))


def test_one_unreadable_file_is_a_warning(nobody: Child, open_folder: Path) -> None:
    broken = transcripts(open_folder)[0]
    broken.chmod(0)
    document = nobody("harvest", "--json").document
    assert document["unreadable"] == [{"path": str(broken), "reason": "permission denied"}]
    assert document["sessions"]["new"] == 51
    found = nobody("harvest")
    assert found.code == 0
    assert f"warning: {broken}: permission denied" in found.err
    broken.chmod(0o600)
    assert nobody("harvest", "--json").document["sessions"]["new"] == 1


def test_the_one_file_that_was_named_is_worth_a_person(nobody: Child, open_folder: Path) -> None:
    broken = transcripts(open_folder)[0]
    broken.chmod(0)
    found = nobody("run", "--from", str(broken))
    assert found.code == 3
    assert found.line.startswith(f"error: {broken}: gave nothing: permission denied. ")


def test_an_agents_folder_that_may_not_be_entered_is_worth_a_person(nobody: Child, open_folder: Path) -> None:
    folder = open_folder / "home/.claude/projects"
    folder.chmod(0)
    found = nobody("harvest", "--json")
    folder.chmod(0o755)
    assert found.code == 3
    assert found.document["error"]["where"] == str(folder)
    assert found.document["sessions"]["new"] == 34, "the other agents' are read all the same"


def test_a_configuration_that_may_not_be_read_is_named(nobody: Child, open_folder: Path) -> None:
    found = nobody("run", "--config", str(open_folder / "closed"))
    assert (found.code, found.line) == (2, f"error: {open_folder}/closed: cannot be read: Permission denied")


def test_a_home_that_may_not_be_written_is_named_and_can_still_be_looked_at(nobody: Child, open_folder: Path) -> None:
    assert nobody("run", "-q").code == 0
    state = open_folder / "state"
    before = {path: path.read_bytes() for path in state.rglob("*.html")}
    for path in (*state.rglob("*"), state):
        path.chmod(0o500 if path.is_dir() else 0o400)
    for call in ("run", "harvest"):
        found = nobody(call)
        assert found.code == 1
        assert str(state) in found.line
        assert not found.line.endswith("denied")
    assert nobody("history", "--json").code == 0
    doctor = nobody("doctor", "--json")
    assert doctor.code == 1
    states = {line["check"]: line["state"] for line in map(json.loads, doctor.out.splitlines()) if "check" in line}
    assert states["home"] == "fail"
    for path in (state, *state.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert {path: path.read_bytes() for path in before} == before
    assert nobody("run", "-q").code == 0


def test_reports_that_may_not_be_written_leave_a_night_that_can_be_resumed(nobody: Child, open_folder: Path) -> None:
    reports = open_folder / "state/reports"
    reports.mkdir(parents=True)
    reports.chmod(0o500)
    for path in (reports.parent, reports):
        os.chown(path, NOBODY, NOBODY)
    found = nobody("run")
    assert found.code == 1
    assert found.line.startswith(f"error: {reports}: the report cannot be written: permission denied. ")
    assert nobody("status", "--json").document["last_night"]["state"] == "interrupted"
    reports.chmod(0o700)
    assert nobody("run", "--resume").code == 0
    assert len(nobody("history", "--json").out.splitlines()) == 1


class Disk:
    """A small disk of our own."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def holds(self, kilobytes: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(self.place)], check=True)

    @property
    def used(self) -> int:
        """Kilobytes."""
        found = os.statvfs(self.place)
        return (found.f_blocks - found.f_bfree) * found.f_frsize // 1024


ROOMY = 50_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOMY}k", "tmpfs", str(place)], check=False)
    if done.returncode:
        pytest.skip("tier root: skipped, because nothing can be mounted here")
    yield Disk(place)
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def machine(tmp_path: Path) -> Child:
    """The transcripts are elsewhere; the state, and in some tests the project, are on the small disk."""
    user_home, project = lay_out(tmp_path)
    return Child(project, {**least(tmp_path, user_home), "SKILLOPT_HOME": str(tmp_path / "disk/state")})


@pytest.mark.parametrize("kilobytes", [600, 1500])
def test_a_disk_that_fills_up_during_a_night(kilobytes: int, disk: Disk, machine: Child) -> None:
    disk.holds(kilobytes)
    found = machine("run")
    assert found.code == 1, found.err
    assert "the disk is full" in found.line or "the disk failed" in found.line
    assert str(disk.place) in found.line
    disk.holds(ROOMY)
    assert machine("status", "--json").code == 0
    assert machine("run", "-q").code == 0
    document = machine("status", "--json").document
    assert (document["last_night"]["state"], document["pending"]["proposals"]) == ("done", 2)
    assert document["pending"]["sessions"] == 0
    assert machine("doctor", "--json").code == 0


@pytest.mark.parametrize("room", [0, 16, 40])
def test_a_disk_that_fills_up_during_an_adoption(room: int, disk: Disk, machine: Child) -> None:
    shop = disk.place / "shop"
    shutil.copytree(machine.folder, shop)
    for path in Path(machine.environ["HOME"]).rglob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(bytes(machine.folder), bytes(shop)))
    machine.folder = shop
    config = disk.place.parent / "sleep.toml"
    assert machine("init", "--config", str(config)).code == 0
    assert machine("run", "-q").code == 0
    lines = [json.loads(line) for line in machine("review", "--json").out.splitlines()]
    name = next(line["proposal"] for line in lines if line["verdict"] == "supported")
    disk.holds(disk.used + room)
    found = machine("adopt", name)
    disk.holds(ROOMY)
    written = [path for path in shop.rglob("*") if path.is_file()]
    if found.code == 0:
        assert len(written) == 2
        return
    assert found.code == 1
    assert found.line
    assert not written, "all or nothing"
    assert machine("adopt", name).code == 0
    assert len([path for path in shop.rglob("*") if path.is_file()]) == 2


def test_the_smallest_of_these_disks_is_too_small(disk: Disk, tmp_path: Path) -> None:
    """The cases above are about a disk that fills up, not about one that never does."""
    disk.holds(600)
    code = f"open({str(disk.place / 'x')!r}, 'wb').write(bytes(700_000))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert b"No space left on device" in done.stderr
