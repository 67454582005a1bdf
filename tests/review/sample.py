"""A night as it could have been: three agents, one project, rules that help, hurt, and wait. With hostile quotes."""

from __future__ import annotations

from dataclasses import replace

from skillopt_core.types import Edit, Outcome, UnitScore, Verdict
from skillopt_sleep.domain.frictions import FrictionKind, Quote, Stake
from skillopt_sleep.domain.proposals import Document, Pin, Proposal, Target
from skillopt_sleep.domain.reports import (
    BudgetReport,
    DocumentResult,
    HarvestCounts,
    NightReport,
    ReadWarning,
    Recurring,
    RefusedAction,
    Spent,
    StandingOut,
    TaskCounts,
    TooRare,
    TrialLine,
    Unreadable,
    Watched,
)
from skillopt_sleep.review.stage import EditResult, Staged, stage

DAY = 86_400_000
NOW = 1_772_607_900_000  # 2026-03-04 07:05 UTC
SKILL = Document("harbor-api", "learned", "p-harbor")
BLOCK = Document("harbor-api", "memory", "p-harbor")
PROVEN = Document("release-notes", "hand-written", "p-harbor")
HOSTILE = "<script>alert('x')</script> \x1b[31mred\x1b]0;title\x07 **bold** [link](http://x.invalid) \u202egnp"


def quote(text: str, days_ago: int, author: str = "person", session: str = "4f2a91") -> Quote:
    return Quote(days_ago, session, NOW - days_ago * DAY - 7_000_000, author, text)  # type: ignore[arg-type]


def recorded(outcome: str, ds: list[int], e: float, why: str, needs: str = "", unknown: int = 0) -> Verdict:
    units = tuple(
        UnitScore(
            f"2026-02-{3 + n:02}/mara",
            before=0.0 if d > 0 else 1.0,
            after=1.0 if d >= 0 else 0.0,
            d=float(d),
            pairs=1 + n % 3,
            began=NOW - (29 - n) * DAY,
            tasks=(f"t-{n:03}",),
            note=f"prevented {max(d, 0) * (1 + n % 2)}, broken {max(-d, 0)}, unknown {n % 4 == 3:d}",
        )
        for n, d in enumerate(ds)
    )
    wins, losses = sum(d > 0 for d in ds), sum(d < 0 for d in ds)
    counts = {
        "prevented": wins + wins // 2,
        "broken": losses,
        "unknown": unknown,
        "applicable": len(ds),
        "later_sessions": 31,
        "recurred": len(ds) + 2,
        "sessions": 31,
    }
    mean = sum(ds) / len(ds) if ds else None
    return Verdict(
        Outcome(outcome),
        why,
        metric="recorded",
        before=None if mean is None else 0.0,
        after=mean,
        effect=mean,
        interval=None if mean is None else (mean - 0.2, min(mean + 0.2, 1.0)),
        e=e,
        e_reverse=1 / e if e else None,
        alpha=0.05,
        pairs=len(ds),
        coverage=1.0,
        evidence="recorded",
        deterministic=True,
        units=units,
        counts=counts,
        needs=needs,
        repeats=1,
    )


def skill_results() -> list[EditResult]:
    return [
        EditResult(
            Edit("add", "Rules", "- Use `pnpm`, not `npm`.", origin="f-01"),
            recorded("supported", [1] * 9 + [0, 1], 212.0, "it comes back and breaks nothing on balance", unknown=3),
            "npm is refused; pnpm is what works here",
            predicate="in a shell command, `npm` as a run of whole words is replaced by `pnpm`",
            stake=Stake(31, 0.0142, 2.6),
            quotes=(
                quote("no, this repo is on pnpm. use pnpm, never npm", 24),
                quote("npm install --save-dev vitest", 24, "agent"),
                quote("again: pnpm!", 17, session="91c0de"),
            ),
        ),
        EditResult(
            Edit("add", "Project facts", "- Do not look under `src/legacy`; it does not exist.", origin="f-02"),
            recorded("supported", [1, 1, 1, 1, 1, 1], 23.4, "it comes back and breaks nothing on balance"),
            "src/legacy is looked for again and again",
            predicate="a read, search or listing whose path is `src/legacy` or lies below it",
            stake=Stake(18, 0.0061, 1.4),
            quotes=(quote("ls: cannot access 'src/legacy': No such file or directory", 20, "tool"),),
        ),
        EditResult(
            Edit("add", "Project facts", "- The file is `config/app.toml`, not `config/app.yaml`.", origin="f-03"),
            recorded("supported", [1, 1, 1, 1, 1, 1, 0], 21.7, "it comes back and breaks nothing on balance"),
            "the configuration file has another ending",
            predicate="an action that names path `config/app.yaml` names `config/app.toml` instead",
            stake=Stake(9, 0.0018, 0.9),
            quotes=(quote("File does not exist: config/app.yaml", 19, "tool"),),
        ),
        EditResult(
            Edit(
                "add",
                "Rules",
                "- In `.py` files, do not write `datetime.now()`, write `datetime.now(UTC)` (`DTZ005`).",
                origin="f-04",
            ),
            recorded(
                "abstain",
                [1, 1, 1],
                4.1,
                "not shown yet: E = 4.1 over 3 units",
                "3 more sessions in which it applies, about 2 more weeks at the rate seen",
            ),
            "DTZ005 comes back",
            predicate="new content of an edit or write to a path ending in `.py` that holds `datetime.now()`",
            stake=Stake(14, 0.0088, 1.1),
            quotes=(quote("DTZ005 `datetime.datetime.now()` called without a `tz` argument", 12, "tool"),),
        ),
        EditResult(
            Edit("add", "Before you act", "- Do not run `git push`.", origin="f-05"),
            recorded("reject", [1, 1, -1, -1, 1, -1], 0.3, "it breaks as much as it mends: 3 of 6 units broke"),
            "git push was refused twice",
            predicate="a command one of whose parts starts with the words `git push`",
            stake=Stake(6, 0.0021, 0.6),
            quotes=(quote("don't push yet", 26), quote(HOSTILE, 22)),
        ),
        EditResult(
            Edit("add", "Before you act", "- Before `pytest`, run `make deps`.", origin="f-06"),
            recorded("no_exposure", [], 1.0, "there were later sessions, and it applied in none"),
            "pytest fails without make deps",
            stake=Stake(2, 0.0002, 0.2),
        ),
    ]


def block_results() -> list[EditResult]:
    return [
        EditResult(
            Edit("add", "Rules", "- Ask before you run `git push --force`.", origin="f-11"),
            recorded("supported", [1] * 6, 23.4, "it comes back and breaks nothing on balance"),
            "git push --force is refused",
            predicate="a command one of whose parts starts with the words `git push --force`",
            stake=Stake(7, 0.0093, 0.8),
            quotes=(quote("never force-push without asking me first", 15),),
        ),
        EditResult(
            Edit("add", "Rules", "- Keep commit subjects below 60 characters.", origin="f-12"),
            Verdict(
                Outcome.UNVERIFIED,
                "no predicate checks it",
                evidence="recorded",
                needs="a reading that commands, edits or outcomes can show",
            ),
            "said twice",
            quotes=(quote("keep the subject line short, below 60", 9),),
        ),
    ]


def staged_skill() -> Staged:
    return stage(SKILL, None, skill_results(), night="n-2026-03-04", now_ms=NOW)


def staged_block() -> Staged:
    base = "## Rules\n\n- Never edit files under `vendor/`.\n"
    target = Target("claude-code", "/project", "/project/CLAUDE.md", "harbor-api")
    return stage(BLOCK, base, block_results(), night="n-2026-03-04", now_ms=NOW, pins=(Pin(target, None),))


def staged_proven() -> Staged:
    front = "---\nname: release-notes\ndescription: Writes release notes.\n---\n"
    base = f"{front}\n# Release notes\n\n## Steps\n\n1. Read the log.\n"
    measured = Verdict(
        Outcome.ACCEPT,
        "better on 14 tasks, nothing protected broken",
        metric="hard",
        before=0.48,
        after=0.86,
        effect=0.38,
        interval=(0.19, 0.57),
        p=0.0004,
        e=148.0,
        e_reverse=0.002,
        alpha=0.01,
        pairs=42,
        coverage=0.97,
        opened=0.93,
        evidence="replayed",
        units=tuple(
            UnitScore(f"task {n}", before, after, after - before, 3, began=NOW - (20 - n) * DAY)
            for n, (before, after) in enumerate(
                [(0.0, 1.0), (0.33, 1.0), (1.0, 1.0), (0.67, 0.67), (0.33, 1.0), (1.0, 0.67)]
            )
        ),
        repeats=3,
    )
    edits = [
        EditResult(
            Edit("insert_after", "1. Read the log.", "2. Group the changes by user-visible effect.", origin="f-21"),
            measured,
            "notes listed commits, not effects",
            quotes=(quote("group them by what the user sees", 8),),
        )
    ]
    return stage(PROVEN, base, edits, night="n-2026-03-04", now_ms=NOW)


def proposals() -> tuple[Proposal, ...]:
    found = (staged_skill().proposal, staged_block().proposal, staged_proven().proposal)
    return tuple(proposal for proposal in found if proposal is not None)


def _result(staged: Staged, understood: float | None = None) -> DocumentResult:
    proposal = staged.proposal
    assert proposal is not None
    return DocumentResult(proposal.document, proposal.verdict, staged.edits, proposal.id, understood)


def night(*, proven: bool = True) -> NightReport:
    documents = [_result(staged_skill(), 1.0), _result(staged_block(), 0.5)]
    if proven:
        documents.insert(0, _result(staged_proven()))
    return NightReport(
        night="n-2026-03-04",
        backend="recorded",
        evidence="recorded",
        began_ms=NOW - 47_000,
        ended_ms=NOW,
        harvest=HarvestCounts(
            files=214,
            bytes=187_320_442,
            seconds=18.4,
            new=12,
            updated=3,
            unchanged=96,
            skipped={"sub-agent": 71, "headless": 30, "own replay": 2},
            warnings=(ReadWarning("~/.claude/projects/x/4f2a.jsonl", 812, "a record is cut off"),),
            unreadable=(Unreadable("~/.codex/sessions/2026/02/11/rollout-9.jsonl", "permission denied"),),
        ),
        tasks=TaskCounts(patterns=38, mined=164, train=61, gate=103, audit=None),
        budget=BudgetReport(
            tokens=Spent(200_000, 0, True),
            calls=Spent(None, 0, True),
            usd=Spent(None, 0.0, True),
            seconds=Spent(None, 47.2, True),
        ),
        documents=tuple(documents),
        refusals=(
            RefusedAction(
                "git push --force",
                5,
                4,
                (quote("never force-push without asking me first", 15), quote("no.", 11)),
                "mara",
                Stake(7, 0.0093, 0.8),
            ),
            RefusedAction(
                "npm install",
                4,
                3,
                (quote("no, this repo is on pnpm. use pnpm, never npm", 24),),
                "mara",
                Stake(5, 0.0031, 0.6),
            ),
            RefusedAction("rm -rf node_modules", 2, 2, (quote(HOSTILE, 22),), "mara", Stake(2, 0.0009, 0.3)),
            RefusedAction("git commit", 2, 2, (), "tom", Stake(2, 0.0004, 0.3)),
        ),
        recurring=(
            Recurring("DTZ005 in .py files", FrictionKind.DIAGNOSTIC, 14, 9, NOW - 2 * DAY, Stake(14, 0.0088, 1.1)),
            Recurring("src/legacy does not exist", FrictionKind.FACT, 18, 11, NOW - 3 * DAY, Stake(18, 0.0061, 1.4)),
            Recurring("E501 in .py files", FrictionKind.DIAGNOSTIC, 11, 7, NOW - 5 * DAY, Stake(11, 0.0044, 0.9)),
            Recurring(
                "config/app.yaml is config/app.toml", FrictionKind.FACT, 9, 8, NOW - 4 * DAY, Stake(9, 0.0018, 0.9)
            ),
            Recurring(
                "edit refused: the file was not read",
                FrictionKind.TOOL,
                22,
                15,
                NOW - DAY,
                Stake(22, 0.0012, 2.1),
                (),
                True,
            ),
        ),
        rare=(
            TooRare(
                "ruff has no flag --show-source", FrictionKind.FACT, 1, "seen in 1 session; 2 are needed before the cut"
            ),
            TooRare("make docs needs graphviz", FrictionKind.FACT, 2, "nothing came after its cut yet"),
        ),
        trials=(
            TrialLine("t-07", "harbor-api", "DTZ005 comes back", 4.1, 6, "running", "3 more sessions"),
            TrialLine("t-03", "harbor-api", "run ruff before commit", 0.4, 11, "dropped", ""),
        ),
        watch=(
            Watched("r-19", "harbor-api", "Never edit files under `vendor/`.", 14, 0.31, 0.07, "fewer breaches since"),
        ),
        warnings=("1 file could not be read: permission denied",),
        skipped={"an edit that a night has tried before": 2},
        projects=("harbor-api",),
        first_session_ms=NOW - 58 * DAY,
        last_session_ms=NOW - DAY // 3,
        false_adoptions=0.02,
        false_support=0.15,
        standing_out=StandingOut(5, ("npm is refused; pnpm is what works here", HOSTILE), 0.05),
        path="~/.local/share/skillopt-sleep/reports/n-2026-03-04.html",
    )


def quiet_night() -> NightReport:
    """Nothing was learned: the report still says why, and what to do."""
    return replace(
        night(),
        documents=(),
        refusals=(),
        recurring=(),
        trials=(),
        watch=(),
        warnings=(),
        false_adoptions=None,
        false_support=None,
        standing_out=None,
        rare=(TooRare("ruff has no flag --show-source", FrictionKind.FACT, 1, "seen in 1 session; 2 are needed"),),
    )
