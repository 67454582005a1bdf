"""Where agents look: the fewest files such that every chosen agent sees one copy."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.proposals import Document, Target
from skillopt_sleep.errors import AdoptionError, NotFound, UsageError
from skillopt_sleep.review import blocks
from skillopt_sleep.review.adopt import adopt
from skillopt_sleep.review.ledgers import MemoryLedger
from skillopt_sleep.review.targets import find_targets, live_text, merged, pins, project, roots, user

LEARNED = Document("acme", "learned", "p1")
MEMORY = Document("acme", "memory", "p1")
OWN = Document("release-notes", "hand-written", "p1")


def found(targets: tuple[Target, ...], base: Path) -> dict[str, tuple[str, ...]]:
    return {str(Path(target.path).relative_to(base)): target.agents for target in targets}


@pytest.mark.parametrize(
    ("agents", "places"),
    [
        (["claude-code"], {".claude/skills/acme/SKILL.md": ("claude-code",)}),
        (["codex"], {".codex/skills/acme/SKILL.md": ("codex",)}),
        (["copilot-cli"], {".github/skills/acme/SKILL.md": ("copilot-cli",)}),
        (["codex", "copilot-cli"], {".agents/skills/acme/SKILL.md": ("codex", "copilot-cli")}),
        (["claude-code", "copilot-cli"], {".claude/skills/acme/SKILL.md": ("claude-code", "copilot-cli")}),
        (
            ["claude-code", "codex", "copilot-cli"],
            {".claude/skills/acme/SKILL.md": ("claude-code", "copilot-cli"), ".codex/skills/acme/SKILL.md": ("codex",)},
        ),
    ],
)
def test_every_chosen_agent_sees_one_copy_of_a_new_skill(
    root: Path, agents: list[str], places: dict[str, tuple[str, ...]]
) -> None:
    targets = find_targets(LEARNED, agents, project(root))
    assert found(targets, root) == places
    assert {target.root for target in targets} == {str(root)}


def test_a_copy_that_is_there_already_is_written_too(root: Path) -> None:
    old = root / ".agents/skills/acme/SKILL.md"
    old.parent.mkdir(parents=True)
    old.write_text("x")
    assert ".agents/skills/acme/SKILL.md" in found(find_targets(LEARNED, ["claude-code", "codex"], project(root)), root)


@pytest.mark.parametrize(
    ("agents", "places"),
    [
        (["claude-code"], {"CLAUDE.md"}),
        (["codex", "copilot-cli"], {"AGENTS.md"}),
        (["copilot-cli"], {".github/copilot-instructions.md"}),
        (["claude-code", "codex"], {"CLAUDE.md", "AGENTS.md"}),
    ],
)
def test_a_block_goes_to_the_memory_files_that_the_agents_read(root: Path, agents: list[str], places: set[str]) -> None:
    targets = find_targets(MEMORY, agents, project(root))
    assert set(found(targets, root)) == places
    assert {target.block for target in targets} == {"acme"}


def test_a_claude_md_that_is_a_link_to_agents_md_is_that_file(root: Path) -> None:
    (root / "AGENTS.md").write_text("# Mine\n")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    targets = find_targets(MEMORY, ["claude-code", "codex"], project(root))
    assert found(targets, root) == {"AGENTS.md": ("claude-code", "codex")}


@pytest.mark.parametrize("line", ["@AGENTS.md", "- @./AGENTS.md  "])
def test_a_claude_md_that_imports_agents_md_needs_no_block_of_its_own(root: Path, line: str) -> None:
    (root / "CLAUDE.md").write_text(f"# Mine\n{line}\n")
    assert set(found(find_targets(MEMORY, ["claude-code", "codex"], project(root)), root)) == {"AGENTS.md"}


def test_a_folder_of_skills_that_is_a_link_to_another_is_that_folder(root: Path) -> None:
    (root / ".agents/skills").mkdir(parents=True)
    (root / ".claude").mkdir()
    (root / ".claude/skills").symlink_to("../.agents/skills")
    targets = find_targets(LEARNED, ["claude-code", "codex"], project(root))
    assert found(targets, root) == {".agents/skills/acme/SKILL.md": ("claude-code", "codex")}


def test_a_link_to_anything_else_is_not_followed(made: ModuleType, root: Path, clock: FixedClock) -> None:
    (root / "src").mkdir()
    (root / "src/main.md").write_text("code\n")
    (root / "CLAUDE.md").symlink_to("src/main.md")
    targets = find_targets(MEMORY, ["claude-code"], project(root))
    assert set(found(targets, root)) == {"CLAUDE.md"}
    with pytest.raises(AdoptionError, match="symbolic link"):
        live_text(targets)
    with pytest.raises(AdoptionError, match="symbolic link"):
        adopt(made.proposal(document=MEMORY), [], targets, MemoryLedger([str(root)]), clock)
    assert (root / "src/main.md").read_text() == "code\n"


def test_a_hand_written_skill_is_written_where_it_lies(root: Path) -> None:
    own = root / ".claude/skills/release-notes/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("x")
    targets = find_targets(OWN, ["claude-code", "codex"], project(root))
    assert found(targets, root) == {".claude/skills/release-notes/SKILL.md": ("claude-code",)}


def test_a_hand_written_skill_that_is_not_there_is_not_found(root: Path) -> None:
    with pytest.raises(NotFound, match="release-notes: no such skill"):
        find_targets(OWN, ["claude-code"], project(root))


def test_a_user_has_folders_of_their_agents_and_each_is_a_root_of_its_own(tmp_path: Path) -> None:
    for folder in (".claude", ".codex", ".copilot"):
        (tmp_path / folder).mkdir()
    where = user(tmp_path, {})
    targets = find_targets(LEARNED, ["claude-code", "codex", "copilot-cli"], where)
    assert {(target.root, target.path) for target in targets} == {
        (str(tmp_path / folder), str(tmp_path / folder / "skills/acme/SKILL.md"))
        for folder in (".claude", ".codex", ".copilot")
    }
    assert set(roots(["claude-code"], where)) == {str(tmp_path / ".claude")}
    assert set(found(find_targets(MEMORY, ["codex"], where), tmp_path)) == {".codex/AGENTS.md"}


def test_a_shared_folder_serves_two_agents_of_a_user_once_it_is_there(tmp_path: Path) -> None:
    for folder in (".agents", ".codex", ".copilot"):
        (tmp_path / folder).mkdir()
    targets = find_targets(LEARNED, ["codex", "copilot-cli"], user(tmp_path, {}))
    assert found(targets, tmp_path) == {".agents/skills/acme/SKILL.md": ("codex", "copilot-cli")}


def test_variables_that_move_an_agents_folder_are_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    where = user(tmp_path / "home", {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")})
    (target,) = find_targets(LEARNED, ["claude-code"], where)
    assert (target.root, target.path) == (
        str(tmp_path / "elsewhere"),
        str(tmp_path / "elsewhere/skills/acme/SKILL.md"),
    )


def test_an_agent_that_was_never_started_here_is_named(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    with pytest.raises(AdoptionError, match="codex: it has no folder here"):
        find_targets(LEARNED, ["claude-code", "codex"], user(tmp_path, {}))


def test_an_unknown_agent_is_wrong_use(root: Path) -> None:
    with pytest.raises(UsageError, match="unknown agent 'vim'"):
        find_targets(LEARNED, ["vim"], project(root))


def test_the_live_text_is_the_body_of_the_block_or_the_file(root: Path) -> None:
    memory = find_targets(MEMORY, ["claude-code"], project(root))
    assert live_text(memory) is None
    (root / "CLAUDE.md").write_bytes(blocks.put(b"# Mine\r\n", "acme", "## Rules\n"))
    assert live_text(memory) == "## Rules\n"
    skill = find_targets(LEARNED, ["claude-code"], project(root))
    Path(skill[0].path).parent.mkdir(parents=True)
    Path(skill[0].path).write_bytes("\ufeffa\r\n→".encode())
    assert live_text(skill) == "\ufeffa\r\n→"


def test_copies_that_differ_are_refused_with_both_names(root: Path) -> None:
    targets = find_targets(LEARNED, ["claude-code", "codex"], project(root))
    for n, target in enumerate(targets):
        Path(target.path).parent.mkdir(parents=True)
        Path(target.path).write_text(str(n))
    with pytest.raises(AdoptionError, match="differs from") as refused:
        live_text(targets)
    assert refused.value.where == targets[1].path


def test_a_skill_that_is_no_utf8_is_refused(root: Path) -> None:
    (target,) = find_targets(LEARNED, ["claude-code"], project(root))
    Path(target.path).parent.mkdir(parents=True)
    Path(target.path).write_bytes(b"caf\xe9")
    with pytest.raises(AdoptionError, match="byte 3 is no UTF-8"):
        live_text([target])


def test_a_pin_knows_what_stands_there_and_what_does_not(root: Path) -> None:
    targets = find_targets(MEMORY, ["claude-code", "codex"], project(root))
    (root / "CLAUDE.md").write_bytes(blocks.put(b"# Mine\n", "acme", "## Rules\n"))
    first = {pin.target.path: pin.digest for pin in pins(targets)}
    assert first[str(root / "AGENTS.md")] is None
    (root / "CLAUDE.md").write_bytes(blocks.put(b"# Theirs\n", "acme", "## Rules\n"))
    assert {pin.target.path: pin.digest for pin in pins(targets)} == first


def test_targets_with_one_file_become_one(root: Path) -> None:
    (root / "AGENTS.md").write_text("x")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    one, other = (
        Target("codex", str(root), str(root / "AGENTS.md"), "acme"),
        Target("claude-code", str(root), str(root / "CLAUDE.md"), "acme"),
    )
    assert merged([one, other, one]) == (Target("codex", str(root), one.path, "acme", ("claude-code",)),)
