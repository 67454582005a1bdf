"""Adoption and rollback: all targets or none, byte for byte, and every refusal."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.proposals import Proposal
from skillopt_sleep.errors import AdoptionError
from skillopt_sleep.review import blocks, skills
from skillopt_sleep.review.adopt import AdoptionRefused, adopt, recover, rollback
from skillopt_sleep.review.ledgers import MemoryLedger
from skillopt_sleep.review.targets import pins

SKILL = ".claude/skills/acme/SKILL.md"
OTHER = ".agents/skills/acme/SKILL.md"
LIVE = "---\nname: acme\ndescription: d\n---\n\n## Rules\n\n- Old rule.\n"


def put(path: Path, raw: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


def tree(root: Path) -> dict[str, bytes | None]:
    """Everything below a folder: files with their bytes, folders with None."""
    return {
        str(path.relative_to(root)): None if path.is_dir() else path.read_bytes() for path in sorted(root.rglob("*"))
    }


def test_a_new_skill_is_written_to_every_target_and_rolled_back_without_a_trace(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    targets = [made.target(root, SKILL), made.target(root, OTHER, "codex")]
    adoption = adopt(made.proposal(), [], targets, ledger, clock)
    assert adoption.state == "written"
    assert [written.state for written in adoption.targets] == ["written", "written"]
    assert (root / SKILL).read_text() == (root / OTHER).read_text() == made.proposal().candidate
    assert ledger.find(adoption.id) == adoption
    rolled = rollback(adoption, ledger)
    assert rolled.state == "rolled_back"
    assert tree(root) == {}
    assert ledger.find(adoption.id) == rolled


def test_a_live_skill_keeps_its_mode_and_gets_its_bytes_back(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    path = put(root / SKILL, LIVE.encode())
    path.chmod(0o640)
    adoption = adopt(made.proposal(base=LIVE), [], [made.target(root, SKILL)], ledger, clock)
    assert path.read_text() == LIVE + "- Use `pnpm`, not `npm`.\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    rollback(adoption, ledger)
    assert path.read_bytes() == LIVE.encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("folder", "file", "below"), [(0o755, 0o644, 0o755), (0o700, 0o600, 0o700), (0o775, 0o644, 0o755)]
)
def test_a_new_file_may_be_read_by_whoever_reads_its_folder_and_written_by_its_owner_alone(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock, folder: int, file: int, below: int
) -> None:
    root.chmod(folder)
    adopt(made.proposal(), [], [made.target(root, SKILL)], ledger, clock)
    assert stat.S_IMODE((root / SKILL).stat().st_mode) == file
    assert stat.S_IMODE((root / ".claude").stat().st_mode) == below


def test_a_block_in_a_memory_file_leaves_the_rest_of_the_file_alone(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    mine = b"\xef\xbb\xbf# Mine\r\n\xff no UTF-8\r\nlast line"
    path = put(root / "CLAUDE.md", mine)
    proposal = made.proposal(document=made.MEMORY)
    adoption = adopt(proposal, [], [made.target(root, "CLAUDE.md", block="acme")], ledger, clock)
    assert path.read_bytes().startswith(mine)
    assert blocks.body(path.read_bytes(), "acme") == proposal.candidate
    rollback(adoption, ledger)
    assert path.read_bytes() == mine


def test_a_memory_file_that_changed_outside_the_block_is_no_drift(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    target = made.target(root, "CLAUDE.md", block="acme")
    path = put(root / "CLAUDE.md", blocks.put(b"# Mine\n", "acme", "## Rules\n"))
    proposal = made.proposal(document=made.MEMORY, base="## Rules\n", pins=pins([target]))
    path.write_bytes(b"# More\n" + path.read_bytes())
    adopt(proposal, [], [target], ledger, clock)
    assert path.read_bytes().startswith(b"# More\n# Mine\n")
    assert "pnpm" in (blocks.body(path.read_bytes(), "acme") or "")


def test_a_subset_is_adopted_alone(made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock) -> None:
    proposal = made.proposal(made.result("- one", share=0.2), made.result("- two", share=0.1))
    adoption = adopt(proposal, [2], [made.target(root, SKILL)], ledger, clock)
    assert adoption.edits == (2,)
    assert "- two" in (root / SKILL).read_text()
    assert "- one" not in (root / SKILL).read_text()


def test_unproven_edits_are_refused_and_nothing_is_recorded(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    proposal = made.proposal(made.result("- x", "abstain"))
    with pytest.raises(AdoptionError, match="--unproven"):
        adopt(proposal, [], [made.target(root, SKILL)], ledger, clock)
    assert (tree(root), ledger.kept) == ({}, {})
    assert adopt(proposal, [], [made.target(root, SKILL)], ledger, clock, unproven=True).state == "written"


def test_one_target_that_is_refused_refuses_all(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    put(root / OTHER, b"something of my own\n")
    before = tree(root)
    with pytest.raises(AdoptionRefused) as refused:
        adopt(made.proposal(), [], [made.target(root, SKILL), made.target(root, OTHER, "codex")], ledger, clock)
    first, second = refused.value.adoption.targets
    assert (first.state, first.why) == ("refused", "")
    assert (second.state, second.why) == (
        "refused",
        "something stands there already. Run a night to stage it anew",
    )
    assert (tree(root), ledger.kept) == (before, {})


def break_nothing(path: Path) -> None:
    """The control: without a fault the adoption is written."""


def drift(path: Path) -> None:
    path.write_text(LIVE + "- Mine.\n")


def remove(path: Path) -> None:
    path.unlink()


def link_file(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere.md")
    path.symlink_to(path.parent.parent / "elsewhere.md")


def link_folder(path: Path) -> None:
    path.parent.rename(path.parent.parent / "real")
    path.parent.symlink_to(path.parent.parent / "real", target_is_directory=True)


def hard_link(path: Path) -> None:
    os.link(path, path.parent / "twin.md")


def read_only(path: Path) -> None:
    path.chmod(0o444)


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def case_twin(path: Path) -> None:
    (path.parent / "skill.MD").write_text("x")


def folder_twin(path: Path) -> None:
    (path.parent.parent / "ACME").mkdir()


def file_for_folder(path: Path) -> None:
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("x")


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (drift, "the live text changed since it was staged: 1 line added, 0 lines removed, first at line 9"),
        (remove, "the live text is gone"),
        (link_file, "it is a symbolic link"),
        (link_folder, "acme is a symbolic link"),
        (hard_link, "the file has 2 hard links"),
        (read_only, "the file is read-only"),
        (fifo, "it is not an ordinary file"),
        (folder, "it is not an ordinary file"),
        (case_twin, "'skill.MD' beside it is the same name elsewhere"),
        (folder_twin, "'ACME' beside it is the same name elsewhere"),
        (file_for_folder, "acme is not a folder"),
    ],
)
def test_a_target_that_is_not_as_it_was_is_refused(
    made: ModuleType,
    root: Path,
    ledger: MemoryLedger,
    clock: FixedClock,
    fault: Callable[[Path], None],
    why: str,
) -> None:
    path = put(root / SKILL, LIVE.encode())
    fault(path)
    names = {p: p.lstat().st_ino for p in root.rglob("*")}
    with pytest.raises(AdoptionRefused) as refused:
        adopt(made.proposal(base=LIVE), [], [made.target(root, SKILL)], ledger, clock)
    assert refused.value.adoption.targets[0].why.startswith(why)
    assert {p: p.lstat().st_ino for p in root.rglob("*")} == names
    assert ledger.kept == {}


def test_a_name_that_differs_by_unicode_form_alone_is_a_twin(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    folder = root / unicodedata.normalize("NFC", "café")
    (root / unicodedata.normalize("NFD", "café")).mkdir()
    target = made.target(root, f"{folder.name}/CLAUDE.md", block="acme")
    with pytest.raises(AdoptionRefused, match="the same name elsewhere"):
        adopt(made.proposal(document=made.MEMORY), [], [target], ledger, clock)


@pytest.mark.parametrize("place", ["../CLAUDE.md", ".claude/../../CLAUDE.md"])
def test_a_path_that_climbs_out_is_refused(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock, place: str
) -> None:
    with pytest.raises(AdoptionRefused, match="it lies outside its folder"):
        adopt(made.proposal(document=made.MEMORY), [], [made.target(root, place, block="acme")], ledger, clock)
    assert not (root.parent / "CLAUDE.md").exists()


def test_a_root_that_was_not_recorded_is_refused(made: ModuleType, root: Path, clock: FixedClock) -> None:
    for recorded in ([], [str(root / "below")], [str(root) + "2"]):
        with pytest.raises(AdoptionRefused, match="it lies in no recorded folder"):
            adopt(made.proposal(), [], [made.target(root, SKILL)], MemoryLedger(recorded), clock)


def test_a_root_that_is_a_link_out_of_the_recorded_ones_is_refused(
    made: ModuleType, root: Path, tmp_path: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    (tmp_path / "away").mkdir()
    (root / "sub").symlink_to(tmp_path / "away")
    with pytest.raises(AdoptionRefused, match="it lies in no recorded folder"):
        adopt(made.proposal(), [], [made.target(root / "sub", SKILL)], ledger, clock)


def test_a_recorded_root_may_itself_be_reached_by_a_link(
    made: ModuleType, root: Path, tmp_path: Path, clock: FixedClock
) -> None:
    (tmp_path / "link").symlink_to(root)
    ledger = MemoryLedger([str(tmp_path / "link")])
    adopt(made.proposal(), [], [made.target(tmp_path / "link", SKILL)], ledger, clock)
    assert (root / SKILL).exists()


@pytest.mark.parametrize(
    ("place", "block"),
    [("notes.md", ""), (".claude/skills/other/SKILL.md", ""), ("CLAUDE.md", "other"), ("x.md", "acme")],
)
def test_a_tampered_path_inside_the_root_is_refused(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock, place: str, block: str
) -> None:
    document = made.MEMORY if block else made.LEARNED
    with pytest.raises(AdoptionRefused, match="no agent looks there"):
        adopt(made.proposal(document=document), [], [made.target(root, place, block=block)], ledger, clock)


def test_a_candidate_that_is_no_valid_skill_is_refused(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    proposal: Proposal = made.proposal()
    broken = replace(proposal, candidate=proposal.candidate.replace("name: acme", "name: Acme"))
    with pytest.raises(AdoptionError, match="not a valid skill: name:"):
        adopt(broken, [], [made.target(root, SKILL)], ledger, clock)
    assert tree(root) == {}


def test_damaged_markers_are_refused(made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock) -> None:
    put(root / "CLAUDE.md", b"<!-- skillopt-sleep:acme start -->\nx\n")
    target = made.target(root, "CLAUDE.md", block="acme")
    with pytest.raises(AdoptionRefused, match="damaged or doubled"):
        adopt(made.proposal(document=made.MEMORY), [], [target], ledger, clock)


def test_two_agents_with_one_file_are_one_target(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    targets = [made.target(root, OTHER, "codex"), made.target(root, OTHER, "copilot-cli")]
    adoption = adopt(made.proposal(), [], targets, ledger, clock)
    assert [written.target.agents for written in adoption.targets] == [("codex", "copilot-cli")]


def test_adopting_what_is_there_already_is_refused(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    proposal = made.proposal()
    put(root / SKILL, proposal.candidate.encode())
    pinned = replace(proposal, pins=pins([made.target(root, SKILL)]))
    with pytest.raises(AdoptionRefused, match="it says so already"):
        adopt(pinned, [], [made.target(root, SKILL)], ledger, clock)


def test_a_disk_that_refuses_the_second_target_takes_the_first_back(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    put(root / SKILL, LIVE.encode())
    before, calls = tree(root), []

    def full(call: str) -> None:
        calls.append(call)
        if calls.count("write") == 2 and call == "write":
            raise OSError(28, "No space left on device")

    targets = [made.target(root, SKILL), made.target(root, OTHER, "codex")]
    proposal = made.proposal(base=LIVE, pins=pins(targets))
    with pytest.raises(AdoptionRefused, match="no space left on device") as refused:
        adopt(proposal, [], targets, ledger, clock, watch=full)
    assert tree(root) == before
    assert [bool(written.why) for written in refused.value.adoption.targets] == [False, True]
    assert [adoption.state for adoption in ledger.kept.values()] == ["rolled_back"]


def test_a_file_that_changes_while_it_is_replaced_is_kept(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    path = put(root / SKILL, LIVE.encode())

    def meanwhile(call: str) -> None:
        if call == "fsync":
            path.write_text("mine\n")

    with pytest.raises(AdoptionRefused, match="changed while it was being replaced"):
        adopt(made.proposal(base=LIVE), [], [made.target(root, SKILL)], ledger, clock, watch=meanwhile)
    assert tree(path.parent) == {"SKILL.md": b"mine\n"}


def test_a_link_planted_where_the_temporary_file_goes_is_not_followed(
    made: ModuleType, root: Path, tmp_path: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    path, victim = put(root / SKILL, LIVE.encode()), put(tmp_path / "victim", b"precious")
    names: list[str] = []

    def plant(call: str) -> None:
        if call == "open":
            (adoption,) = ledger.kept
            names.append(f".skillopt-sleep-{adoption}-SKILL.md.tmp")
            (path.parent / names[0]).symlink_to(victim)

    with pytest.raises(AdoptionRefused, match="file exists"):
        adopt(made.proposal(base=LIVE), [], [made.target(root, SKILL)], ledger, clock, watch=plant)
    assert victim.read_bytes() == b"precious"
    assert path.read_bytes() == LIVE.encode()


def test_targets_are_changed_by_one_at_a_time(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    adoption = adopt(made.proposal(), [], [made.target(root, SKILL)], ledger, clock)
    before = tree(root)
    with ledger.exclusive():
        for work in (
            lambda: adopt(made.proposal(), [], [made.target(root, OTHER)], ledger, clock),
            lambda: rollback(adoption, ledger),
            lambda: recover(ledger),
        ):
            with pytest.raises(RuntimeError, match="held already"):
                work()
    assert tree(root) == before


def test_a_rollback_is_refused_when_a_file_has_changed_and_says_what(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    adoption = adopt(made.proposal(), [], [made.target(root, SKILL), made.target(root, OTHER)], ledger, clock)
    (root / OTHER).write_text((root / OTHER).read_text() + "- Mine.\n")
    before = tree(root)
    with pytest.raises(
        AdoptionRefused, match=r"changed since it was adopted: 1 line added, 0 lines removed"
    ) as refused:
        rollback(adoption, ledger)
    assert [bool(written.why) for written in refused.value.adoption.targets] == [False, True]
    assert tree(root) == before
    assert ledger.find(adoption.id) == adoption


def test_a_rollback_of_a_file_that_is_gone_is_refused(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    adoption = adopt(made.proposal(), [], [made.target(root, SKILL)], ledger, clock)
    (root / SKILL).unlink()
    with pytest.raises(AdoptionRefused, match="the file is gone"):
        rollback(adoption, ledger)


def test_a_rollback_leaves_folders_that_hold_something_else(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    (root / ".claude").mkdir()
    adoption = adopt(made.proposal(), [], [made.target(root, SKILL)], ledger, clock)
    put(root / ".claude/skills/mine/SKILL.md", b"x")
    rollback(adoption, ledger)
    assert tree(root) == {
        ".claude": None,
        ".claude/skills": None,
        ".claude/skills/mine": None,
        ".claude/skills/mine/SKILL.md": b"x",
    }


def test_a_folder_that_stood_empty_before_stays(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    (root / ".claude/skills").mkdir(parents=True)
    rollback(adopt(made.proposal(), [], [made.target(root, SKILL)], ledger, clock), ledger)
    assert tree(root) == {".claude": None, ".claude/skills": None}


def test_a_second_rollback_is_refused(made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock) -> None:
    rolled = rollback(adopt(made.proposal(), [], [made.target(root, SKILL)], ledger, clock), ledger)
    with pytest.raises(AdoptionError, match="it is rolled_back, not written"):
        rollback(rolled, ledger)


def test_an_adoption_after_a_rollback_has_an_id_of_its_own(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock
) -> None:
    first = rollback(adopt(made.proposal(), [], [made.target(root, SKILL)], ledger, clock), ledger)
    second = adopt(made.proposal(), [], [made.target(root, SKILL)], ledger, clock)
    assert first.id != second.id


def test_bytes_are_on_the_disk_before_the_name_is_and_the_name_before_the_ledger_says_so(
    made: ModuleType, root: Path, ledger: MemoryLedger, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    flush = os.fsync

    def recorded(descriptor: int) -> None:
        seen.append("folder on disk" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file on disk")
        flush(descriptor)

    def watch(call: str) -> None:
        if call == "rename":
            seen.append(call)

    monkeypatch.setattr(os, "fsync", recorded)
    monkeypatch.setattr(ledger, "settle", lambda _: seen.append("settled"))
    put(root / SKILL, LIVE.encode())
    adopt(made.proposal(base=LIVE), [], [made.target(root, SKILL)], ledger, clock, watch=watch)
    assert seen == ["file on disk", "rename", "folder on disk", "settled"]


def test_the_staged_candidate_of_a_block_is_not_taken_for_a_skill(made: ModuleType) -> None:
    assert skills.problems(made.proposal(document=made.MEMORY).candidate, "acme") != ()
