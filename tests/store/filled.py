"""Things of the domain made up for tests of the store."""

from __future__ import annotations

from dataclasses import replace

from skillopt_core.types import Edit, Label, Outcome, UnitScore, Verdict
from skillopt_sleep.domain.frictions import Friction, FrictionKind, Pattern, Quote, Stake
from skillopt_sleep.domain.journal import Night
from skillopt_sleep.domain.proposals import (
    Adoption,
    Document,
    Pin,
    Proposal,
    ProposedEdit,
    Target,
    Written,
)
from skillopt_sleep.domain.sentences import Use
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.nights import begin_night

DOCUMENT = Document("shop-habits", "learned", "/home/kim/shop")


def night(store: Store, date: str = "2026-11-29", trigger: str = "manual") -> Night:
    return begin_night(store, trigger, "c0", date=date, zone="Europe/Berlin", pid=4711, boot="b1")  # type: ignore[arg-type]


def verdict(**more: object) -> Verdict:
    units = (
        UnitScore("u1", 0.0, 1.0, 1.0, 3, 1_700_000_000_000, ("t1", "t2"), "mended"),
        UnitScore("u2", 1.0, 1.0, 0.0, 3),
    )
    made = Verdict(
        Outcome.SUPPORTED,
        "comes back and breaks nothing",
        before=0.5,
        after=1.0,
        effect=0.5,
        interval=(0.1, 0.9),
        e=23.5,
        e_reverse=0.2,
        alpha=0.05,
        pairs=6,
        coverage=1.0,
        evidence="recorded",
        deterministic=True,
        units=units,
        counts={"prevented": 6, "broken": 0},
        needs="3 more sessions",
        repeats=1,
        bets=(0.2, 0.4),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def quote(text: str, event: int = 0) -> Quote:
    return Quote(event, "s-1", 1_700_000_000_000, "person", text)


def edit(n: int, text: str) -> ProposedEdit:
    return ProposedEdit(
        n,
        Edit("add", "## Habits", text, frozenset({"t1", "t2"}), Label.EXECUTION_LAPSE, "it recurs", "pattern-1"),
        "accepted",
        verdict(why=f"verdict {n}"),
        rule=f"rule-{n}",
        title=f"Title {n}",
        predicate="a command whose words are `npm install`",
        stake=Stake(12, 0.03, 1.5),
        provenance=(quote(f"no, {text}"), quote("and again")),
        why="",
    )


def proposal(night_id: str, *, name: str = "p-1", root: str = "/home/kim") -> Proposal:
    target = Target("claude-code", root, f"{root}/.claude/skills/shop-habits/SKILL.md", "", ("codex",))
    return Proposal(
        name,
        night_id,
        DOCUMENT,
        base="# Habits\r\n",
        base_digest="b" * 64,
        candidate="# Habits\r\n- Use `pnpm`.\n",
        edits=(edit(2, "Use `pnpm`, not `npm`."), edit(1, "Do not run `rm -rf`.")),
        verdict=verdict(),
        created_ms=1_795_000_000_000,
        pins=(Pin(target, None), Pin(replace(target, block="habits", also=()), "d" * 64)),
    )


def adoption(root: str = "/home/kim", name: str = "a-1") -> Adoption:
    first = Target("claude-code", root, f"{root}/.claude/skills/shop-habits/SKILL.md")
    second = Target("codex", root, f"{root}/AGENTS.md", "habits", ("copilot-cli",))
    targets = (
        Written(
            first,
            "intent",
            None,
            b"# Habits\n- Use `pnpm`.\n",
            None,
            "",
            (".claude/skills", ".claude/skills/shop-habits"),
        ),
        Written(second, "intent", b"older\r\n\xff", b"older\r\n\xffnew\r\n", 0o640),
    )
    return Adoption(name, "p-1", "person", (1, 2), targets, "intent", 1_795_000_001_000)


def pattern(events: tuple[int, ...], sessions: tuple[str, ...], episodes: tuple[str, ...]) -> Pattern:
    members = tuple(
        Friction("npm install", FrictionKind.REFUSAL, episode, session, 1_700_000_000_000 + n, event, None, 1, 40)
        for n, (event, session, episode) in enumerate(zip(events, sessions, episodes, strict=True))
    )
    return Pattern(
        key="shop|friction|npm install",
        project="/home/kim/shop",
        kind="friction",
        friction=FrictionKind.REFUSAL,
        title="`npm install` is refused",
        signature="npm install",
        members=members,
        episodes=episodes,
        sessions=sessions,
        first_ms=1_700_000_000_000,
        last_ms=1_700_000_100_000,
        stake=Stake(2, 0.01, 0.5),
        sentence=Use("pnpm", "npm"),
        document="memory",
        person="kim",
        reasons=("use pnpm here",),
    )
