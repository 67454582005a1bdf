"""The only module that prints. Results go to stdout, talk to stderr; with `--json` stdout holds JSON and nothing else.

Whatever comes from a transcript is stripped of controls here at the latest.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.control import Control
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from skillopt_sleep.cli import screen
from skillopt_sleep.clock import Clock
from skillopt_sleep.domain.proposals import Adoption, Decision, Proposal, ProposedEdit
from skillopt_sleep.domain.reports import DocumentResult, NightReport, Recurring, RefusedAction
from skillopt_sleep.errors import SleepError
from skillopt_sleep.redact import printable
from skillopt_sleep.review import words
from skillopt_sleep.review.documents import adoption_document, night_document, proposal_document, rejection_document
from skillopt_sleep.review.lines import in_order, read_line, spent_line
from skillopt_sleep.review.morning import morning
from skillopt_sleep.review.plain import one_line
from skillopt_sleep.review.plan import AdoptionRefused
from skillopt_sleep.review.session import Desk, sit
from skillopt_sleep.review.stage import by_number, in_reading_order

_TAG = screen.TAG
_MOST_LISTED = 5
_SHORT = 100
Step = Callable[[str, int, int], None]
"""How long work tells where it is: what it does, how much is done, how much there is (0: unknown)."""


class View:
    """One command's voice. `out` and `err` are the program's own streams unless a test says otherwise."""

    def __init__(
        self,
        *,
        as_json: bool = False,
        quiet: bool = False,
        verbose: bool = False,
        out: TextIO | None = None,
        err: TextIO | None = None,
        width: int | None = None,
    ) -> None:
        self.as_json, self.quiet, self.verbose = as_json, quiet, verbose
        self.out = Console(file=out or sys.stdout, width=width, highlight=False, markup=False, emoji=False)
        self.err = Console(file=err or sys.stderr, width=width, highlight=False, markup=False, emoji=False)

    # Talk.

    def note(self, text: str) -> None:
        """What a person may want to know; not with `-q`."""
        if not self.quiet:
            self._talk(Text(printable(text)))

    def detail(self, text: str) -> None:
        """What only `-v` shows."""
        if self.verbose:
            self._talk(Text(printable(text), "dim"))

    def warn(self, text: str) -> None:
        """What is wrong without stopping the work; shown with `-q` too."""
        self._talk(Text("warning: ", "yellow").append(printable(text)))

    def error(self, error: SleepError) -> None:
        """One line on stderr, or the error document on stdout; a refused adoption says why for each target."""
        if self.as_json:
            document = error.as_json()
            if isinstance(error, AdoptionRefused):
                document = adoption_document(error.adoption, _inner(document))
            self.document(document)
            return
        self._talk(Text("error: ", "bold red").append(one_line(str(error))))
        if isinstance(error, AdoptionRefused):
            for written in error.adoption.targets:
                if not written.why or written.target.path == error.where:
                    continue
                self._talk(Text(f"  {one_line(written.target.path)}: {one_line(written.why)}"))

    @contextmanager
    def progress(self, title: str) -> Iterator[Step]:
        """A bar on a terminal, plain lines elsewhere, silence with `-q`."""
        if self.quiet:
            yield lambda _what, _done, _of: None
        elif not self.err.is_terminal:
            yield self._plain_steps()
        else:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
            with Progress(*columns, console=self.err, transient=True) as bar:
                task = bar.add_task(title, total=None)

                def step(what: str, done: int, of: int) -> None:
                    bar.update(task, description=one_line(what, 40), completed=done, total=of or None)

                yield step

    # Results.

    def document(self, document: Mapping[str, object]) -> None:
        """One JSON document; every one carries the number of its format."""
        self._json({"format": 1, **document}, indent=2 if self.out.is_terminal else None)

    def line(self, document: Mapping[str, object]) -> None:
        """One JSON line."""
        self._json({"format": 1, **document}, indent=None)

    def text(self, text: str) -> None:
        """Lines of a result as they are, without controls."""
        self._result(Text(printable(text)))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[int] = ()) -> None:
        """A plain table; `right` numbers the columns (from 0) that hold figures."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for n, name in enumerate(columns):
            table.add_column(name, justify="right" if n in right else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text("–" if cell is None else one_line(str(cell))) for cell in row))
        self._result(table)

    def night(self, report: NightReport) -> None:
        """The end of `run`: the document, or what a person wants to know first."""
        if self.as_json:
            self.document(night_document(report))
            return
        head = morning(report)
        self._result(
            Text(one_line(head.what), "bold").append(f"  {one_line(head.more)}" if head.more else "", "not bold")
        )
        for text in (head.why, head.saved):
            if text:
                self._result(Text(one_line(text)))
        for document in report.documents:
            self._night_document(document)
        self._found(report)
        listed = [words.list_words(report.standing_out)] if report.standing_out else []
        for line in (*listed, *words.chance_words(report), read_line(report), spent_line(report)):
            self._result(Text(one_line(line), "dim"))
        for warning in report.warnings:
            self.warn(warning)
        if report.path:
            self._result(Text(f"Report: {one_line(report.path)}", "dim"))
        if head.command:
            self._result(Text(f"\n{head.then} ").append(head.command, "bold"))

    def proposals(self, proposals: Iterable[Proposal]) -> None:
        """`review` where there is no terminal: each in full, proven ones first."""
        for n, proposal in enumerate(in_reading_order(proposals)):
            if self.as_json:
                self.line(proposal_document(proposal))
                continue
            if n:
                self._result(Text(""))
            self._proposal(proposal)

    def review(
        self,
        proposals: Iterable[Proposal],
        keys: Iterable[str],
        decide: Callable[[Decision], str],
        clock: Clock,
    ) -> tuple[Decision, ...]:
        """`review` on a terminal: one screen, single keys. What was decided is said again at the end."""

        def show(desk: Desk) -> int:
            drawn = screen.frame(desk, self.out, self.out.width, self.out.height)
            self.out.control(Control.home())
            for line in drawn.lines:
                line.pad_right(max(self.out.width - line.cell_len, 0))
            self.out.print(Text("\n").join(drawn.lines), end="", no_wrap=True, overflow="crop")
            return drawn.limit

        ordered = in_reading_order(proposals)
        said: list[str] = []

        def carried_out(decision: Decision) -> str:
            said.append(decide(decision))
            return said[-1]

        with self.out.screen(hide_cursor=True):
            decided = sit(ordered, keys, show, carried_out, clock)
        if not self.out.is_terminal or self.out.is_dumb_terminal:
            self._result(Text(""))  # there was no screen of its own to leave
        for sentence in said:
            self._result(Text(one_line(sentence)))
        if left := len(ordered) - len(decided):
            self.note(f"{words.count(left, 'proposal')} left for later: `skillopt-sleep review` shows them again.")
        return decided

    def adoption(self, adoption: Adoption) -> None:
        """What `adopt` or `rollback` did, one line a file."""
        if self.as_json:
            self.document(adoption_document(adoption))
            return
        done = "rolled back" if adoption.state == "rolled_back" else "adopted"
        edits = f"{words.count(len(adoption.edits), 'edit')} of {adoption.proposal}"
        self._result(Text(f"{done}: {edits}", "bold").append(f"  ({adoption.id})", "not bold"))
        for written in adoption.targets:
            self._result(Text(f"  {', '.join(written.target.agents)}: {one_line(written.target.path)}"))
        if adoption.state == "written":
            self._result(Text("Undo it: ").append(f"skillopt-sleep rollback {adoption.id}", "bold"))

    def rejection(self, decision: Decision) -> None:
        if self.as_json:
            self.document(rejection_document(decision))
        else:
            self._result(Text(f"rejected: {decision.proposal}: {one_line(decision.why)}"))

    # How.

    def _night_document(self, document: DocumentResult) -> None:
        edits = by_number(document.edits)
        title = Text(f"\n{one_line(words.title_of(document.document))}", "bold")
        self._result(title.append(f"  {document.proposal or ''}".rstrip(), "dim"))
        if document.error:
            self._result(Text(f"  failed: {one_line(document.error)}", "red"))
        for edit in edits:
            self._edit_line(edit)

    def _edit_line(self, edit: ProposedEdit) -> None:
        verdict = screen.tag(edit)
        verdict.pad_right(max(_TAG - verdict.cell_len, 0))
        head = Text(f" {edit.n:>2}  ").append_text(verdict).append("  ")
        self._hung(head, screen.rule(words.rule_text(edit)))
        wanted, seen = words.needs(edit.verdict), words.seen(edit)
        stake = f"; wasted so far {words.stake_words(edit.stake)}" if edit.stake and not wanted else ""
        more = f"; needs {wanted}" if wanted and wanted != seen else ""
        self._indented(Text(one_line(seen + stake + more), "dim"), _TAG + 7)

    def _found(self, report: NightReport) -> None:
        """What was refused, what comes back, what is too rare: the five dearest of each."""
        self._list("What was refused, and why", [(r.times, "time", r.action, _reason(r)) for r in report.refusals])
        recurring = in_order(report.recurring)
        self._list("What comes back", [(r.times, "time", r.title, _share(r)) for r in recurring])
        self._list("Seen, too rare to test", [(r.sessions, "session", r.title, r.why) for r in report.rare])
        self._list("Adopted, and watched", [(w.sessions, "session", w.title, w.finding) for w in report.watch])
        self._result(Text(""))

    def _list(self, title: str, rows: Sequence[tuple[int, str, str, str]]) -> None:
        if rows:
            self._result(Text(f"\n{title}", "bold"))
        for n, unit, what, more in rows[:_MOST_LISTED]:
            head, line = Text(f" {words.count(n, unit):>11}  "), screen.rule(what)
            short = len(what) + len(more) < _SHORT
            self._hung(head, line.append(f"  {one_line(more)}", "dim") if short else line)
            if more and not short:
                self._indented(Text(one_line(more, 200), "dim"), 14)
        if len(rows) > _MOST_LISTED:
            self._indented(Text(f"and {len(rows) - _MOST_LISTED} more in the report", "dim"), 14)

    def _proposal(self, proposal: Proposal) -> None:
        title = Text(one_line(words.title_of(proposal.document)), "bold")
        self._result(title.append(f"  {proposal.id}  {proposal.state}", "not bold dim"))
        self._result(Text(one_line(words.summary(proposal))))
        if gone := words.forgotten(proposal):
            self._result(Text(gone, "yellow"))
        for edit in by_number(proposal.edits):
            line = Text(f"\n {edit.n:>2} ").append_text(screen.rule(words.rule_text(edit), "bold"))
            self._result(line.append("  ").append_text(screen.tag(edit)))
            for why in screen.why_lines(edit):
                self._result(Text("    ").append_text(why))
        self._result(Text(""))
        for change in screen.change_lines(proposal.base, proposal.candidate):
            self._result(change)
        for caveat in words.caveats(proposal.edits):
            self._result(Text(caveat, "dim"))
        if command := words.next_command(proposal.id, proposal.edits):
            self._result(Text("\nNext: ").append(command, "bold"))

    def _plain_steps(self) -> Step:
        seen: list[str] = []

        def step(what: str, _done: int, _of: int) -> None:
            if what not in seen:
                seen.append(what)
                self._talk(Text(one_line(what)))

        return step

    def _json(self, document: Mapping[str, object], indent: int | None) -> None:
        # Straight to the stream: a console would fold long lines.
        ascii_only = not self.out.encoding.lower().startswith("utf")
        self.out.file.write(json.dumps(document, ensure_ascii=ascii_only, indent=indent, allow_nan=False) + "\n")
        self.out.file.flush()

    def _result(self, what: Text | Table) -> None:
        self.out.print(what, soft_wrap=isinstance(what, Text) and not self.out.is_terminal)

    def _indented(self, text: Text, by: int) -> None:
        """Text that keeps its margin where the terminal folds it; elsewhere one line."""
        if self.out.is_terminal:
            self.out.print(Padding(text, (0, 0, 0, by)))
        else:
            self._result(Text(" " * by).append_text(text))

    def _hung(self, head: Text, text: Text) -> None:
        """Text whose folded lines stand under its first, behind its head; elsewhere one line."""
        if not self.out.is_terminal or head.cell_len > self.out.width // 2:
            self._result(head.append_text(text))
            return
        grid = Table.grid()
        grid.add_column(width=head.cell_len, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(head, text)
        self.out.print(grid)

    def _talk(self, text: Text) -> None:
        self.err.print(text, soft_wrap=True)


def _reason(refused: RefusedAction) -> str:
    return f"“{refused.reasons[0].text}”" if refused.reasons else "no reason was given"


def _share(seen: Recurring) -> str:
    return f"{words.share(seen.stake.output_share)} of all output" if seen.stake else ""


def _inner(document: dict[str, object]) -> dict[str, object]:
    error = document["error"]
    return error if isinstance(error, dict) else {}
