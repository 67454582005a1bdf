"""Codes that failing checks report again and again, with the edited content that they followed.

The avoid-pattern is what the agent wrote before the check in the lines that it names. A check that fails and is mended
by an edit did its work: no rule is ever made against running it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from skillopt_sleep.domain.episodes import ActionKind
from skillopt_sleep.domain.frictions import Friction, FrictionKind
from skillopt_sleep.domain.sentences import AlwaysWrite, DoNotWrite, Sentence
from skillopt_sleep.mine.findings import Finding
from skillopt_sleep.mine.fragments import Bad, Fragment, common, common_start, line_pairs, replaced, telling
from skillopt_sleep.mine.history import History
from skillopt_sleep.mine.phrased import Phrased, by_sessions, most_common, widest
from skillopt_sleep.mine.trace import CHANGES, Step, Trace, friction, quote, same_file
from skillopt_sleep.mine.wording import code, ending

_MOST_LINES: Final = 24
"""Bad lines that are kept of one check and code."""
_NAMED: Final = re.compile(r"[`'\"]([^`'\"\s]{3,60})[`'\"]")


def find(trace: Trace) -> Iterator[Friction]:
    changes = [_Change(step) for step in trace.steps if step.action.kind in CHANGES and step.ok and step.action.paths]
    for step in trace.steps:
        if not step.findings:
            continue
        codes = dict.fromkeys(f.code for f in step.findings)
        span, mending = _mended(trace, step)
        wasted = 1 + (len(span) // len(codes))
        tokens = (step.action.tokens + sum(s.action.tokens for s in span)) // len(codes)
        for found in codes:
            findings = [f for f in step.findings if f.code == found]
            yield friction(
                step,
                FrictionKind.DIAGNOSTIC,
                found,
                resolving=mending,
                wasted=wasted,
                tokens=tokens,
                quotes=[quote(step, "agent"), quote(step, "tool")],
                features=_features(step, findings, changes),
                self_healing=found.startswith("~") and mending is not None,
            )


def _mended(trace: Trace, step: Step) -> tuple[list[Step], Step | None]:
    """The steps up to the next run of the same check (at most eight), and the first edit among them of a named file."""
    span: list[Step] = []
    for later in trace.near(step):
        if later.action.kind is ActionKind.COMMAND and set(later.heads) & set(step.heads):
            break
        span.append(later)
    names = {f.path for f in step.findings}
    mends = (s for s in span if s.ok and s.action.kind in CHANGES and _changes_one_of(s, names))
    return span, next(mends, None)


def _changes_one_of(step: Step, names: set[str]) -> bool:
    return any(same_file(path, name) for path in step.action.paths for name in names)


class _Change:
    """A write, with what each of its lost lines became and where its lines stand, worked out when first asked for."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.at = step.at
        self.paths = step.action.paths

    @cached_property
    def lines(self) -> list[str]:
        return [line.strip() for line in self.step.action.new.split("\n", 1000)[:1000]]

    @cached_property
    def lost(self) -> dict[str, str]:
        pairs = line_pairs(self.step.action.old, self.step.action.new)
        return dict(reversed(pairs))


def _features(step: Step, findings: Sequence[Finding], changes: Sequence[_Change]) -> list[tuple[str, str]]:
    checks = [("check" if len(step.heads) > 1 else "alone", " ".join(head)) for head in step.heads]
    kinds = [("ending", kind) for kind in dict.fromkeys(ending(f.path) for f in findings)]
    rows: dict[tuple[str, str], None] = {}
    for finding in findings[:_MOST_LINES]:
        of_file = [c for c in changes if any(same_file(p, finding.path) for p in c.paths)]
        before = [c for c in of_file if c.at < step.at]
        after = [c for c in of_file if step.at < c.at <= step.at + 2 * len(findings) + 8]
        rows.update(dict.fromkeys(_bad_rows(finding, before, after)))
    return [*checks, *kinds, *list(rows)[:_MOST_LINES]]


def _bad_rows(finding: Finding, before: Sequence[_Change], after: Sequence[_Change]) -> Iterator[tuple[str, str]]:
    """Features `bad`: the write's id, the line and what it became, parted by NULs."""
    for change in reversed(before[-40:]):
        if line := _named_line(finding, change.lines):
            mended = next((c.lost[line] for c in after if line in c.lost), "")
            yield "bad", "\0".join((str(change.step.action.id), ending(finding.path), line, mended))
            return


def _named_line(finding: Finding, lines: Sequence[str]) -> str:
    """The line of a write that a finding speaks of: the one it prints, else the one with the name it quotes."""
    if finding.source:
        return finding.source if finding.source in lines else ""
    names = [name for name in _NAMED.findall(finding.message) if telling(name)]
    holding = [line for line in lines if any(name in line for name in names)]
    return holding[0] if len(holding) == 1 else ""


def bad_lines(members: Sequence[Friction]) -> list[tuple[str, Bad]]:
    """The lines that went wrong, each once a write, with the ending of their file."""
    rows: dict[tuple[str, str], tuple[str, Bad]] = {}
    for member in members:
        for value in member.values("bad"):
            action, kind, line, mended = value.split("\0", 3)
            known = rows.get((action, line))
            if known is None or (mended and not known[1].mended):
                rows[action, line] = (kind, Bad(member.session, int(action), line, mended))
    return list(rows.values())


def phrase(members: Sequence[Friction], history: History, project: str, until_ms: int) -> Phrased:
    found = members[0].signature
    check = widest(members, "alone") or widest(members, "check")
    shown = code(found.removeprefix("~"))
    title = f"{code(check)} reports {shown}" if check else f"A check reports {shown}"
    kinds = by_sessions(members, "ending")
    kind = min(kinds, key=lambda k: (-kinds[k], k), default="")
    bad = [row for its, row in bad_lines(members) if its == kind]
    checks = {value for m in members for value in (*m.values("alone"), *m.values("check"))}

    def writes_with(text: str) -> list[int]:
        rows = history.holding(project, kind, text, until_ms)
        return [row.action for row in rows if history.checked(row, checks)]

    sentence, example = _avoid(found, kind, bad, writes_with)
    if example:
        title = f"{title} after edits like {code(example)}"
    elif kind:
        title = f"{title} in {code(kind)} files"
    return Phrased(title, sentence)


def _avoid(
    found: str, kind: str, bad: Sequence[Bad], writes_with: Callable[[str], Iterable[int]]
) -> tuple[Sentence | None, str]:
    """The rule against what the bad lines share, and the line that shows it best."""
    fragment = common(bad, writes_with)
    if fragment is None:
        return None, most_common(row.line for row in bad)
    of_fragment = [row for row in bad if fragment.text in row.line]
    example = most_common(row.line for row in of_fragment)
    name = "" if found.startswith("~") else found
    return _rule(kind, fragment, of_fragment, name), example


def _rule(kind: str, fragment: Fragment, bad: Sequence[Bad], name: str) -> Sentence:
    """What to write instead where the mended lines agree; where they only add something, that."""
    swaps = [(row, replaced(row.line, row.mended)) for row in bad if row.mended]
    added = {(b, row.session) for row, (a, b) in swaps if not a and b and telling(b) and fragment.text in row.mended}
    agreed = most_common(b for b, _ in added)
    if agreed and len({s for b, s in added if b == agreed}) >= 2:
        return AlwaysWrite(kind, fragment.text, agreed)
    return DoNotWrite(kind, fragment.text, _instead(fragment.text, bad), name)


def _instead(text: str, bad: Sequence[Bad]) -> str:
    """What stands where the fragment stood: the start on which at least two sessions agree, else ""."""
    puts: dict[str, str] = {}
    for row in bad:
        old, new = replaced(row.line, row.mended) if row.mended else ("", "")
        if old and new and (put := _put(text, old, new)) and put in row.mended:
            puts.setdefault(row.session, put)
    agreed = common_start(sorted(puts.values())) if len(puts) >= 2 else ""
    return agreed if telling(agreed) and text not in agreed else ""


def _put(text: str, old: str, new: str) -> str:
    """The fragment with what was replaced in its line, also where the replaced stretch reaches beyond it."""
    if old in text:
        return text.replace(old, new, 1)
    return new if text in old else ""
