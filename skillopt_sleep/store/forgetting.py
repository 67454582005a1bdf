"""Forgetting a session or a text: its bodies become tombstones, and what was derived from it is retired.

The rows stay, so that no later harvest brings it back and the chain of evidence holds (it names digests, not bodies).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Column, Connection, delete, func, select, update

from skillopt_sleep.errors import NotFound, UsageError
from skillopt_sleep.redact import RULES_VERSION
from skillopt_sleep.store import bodies, evidence_log
from skillopt_sleep.store.asked import ASKED, drop_grown, drop_kinds, forget_asked
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.keeping import body_columns, contents
from skillopt_sleep.store.mining import RULE
from skillopt_sleep.store.schema.adoption import adoption_target, proposal, proposal_edit
from skillopt_sleep.store.schema.harvest import (
    SEQUENCE_BITS,
    SEQUENCE_MASK,
    body,
    event,
    session,
    session_source,
    source,
    stretch,
)
from skillopt_sleep.store.schema.mining import check, derived, friction, pattern, signature, task
from skillopt_sleep.store.schema.nights import night, step
from skillopt_sleep.store.schema.training import attempt, edit, edit_source, rule, trial, trial_step
from skillopt_sleep.store.wording import rewrite, rewritten, spellings, unquoted

SHORTEST: Final = 4
"""Characters of a text to forget: a shorter one would take half the store with it."""
TELLING: Final = 12
"""Characters from which on what a person said can be told from others where it is quoted."""
LONG: Final = 40
"""As many of what an agent or a tool said: paths and names stand everywhere."""


@dataclass(slots=True)
class Forgotten:
    """What was forgotten. `kept` counts bodies that an adoption needs for its rollback.

    For whoever has to find it in files: `words` go wherever they stand, `said` are whole texts, of which a file may
    show the beginning. `sources` are the agent's own files, which hold them still.
    """

    session: str = ""  # our id, where it was one
    sessions: int = 0
    events: int = 0
    bodies: int = 0
    kept: int = 0
    patterns: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    trials: list[str] = field(default_factory=list)
    proposals: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    said: set[str] = field(default_factory=set)
    digests: list[bytes] = field(default_factory=list)


def forget_session(store: Store, name: str) -> Forgotten:
    """Forget one session, by our id or its agent's. Raises `NotFound`."""
    done = Forgotten(sessions=1)
    with wiping(store) as connection:
        found = connection.execute(
            select(session.c.id, session.c.name).where((session.c.name == name) | (session.c.native_id == name))
        ).first()
        if found is None:
            raise NotFound("there is no such session", where=name, remedy="See `skillopt-sleep sessions --origin all`")
        number, own = found
        done.session = own
        held = connection.execute(select(stretch.c.body).where(stretch.c.session_id == number)).scalars().all()
        done.said |= _said_by(connection, number)
        connection.execute(update(stretch).where(stretch.c.session_id == number).values(body=None))
        mine = event.c.id.between(number << SEQUENCE_BITS, (number << SEQUENCE_BITS) | SEQUENCE_MASK)
        done.events = connection.execute(update(event).where(mine).values(forgotten=1)).rowcount
        gone = {"forgotten_ms": store.clock.now_ms(), "title": "", "branch": ""}
        connection.execute(update(session).where(session.c.id == number).values(**gone))
        _forget_readers(connection, number, done)
        bury(connection, store, _unshared(connection, held), done)
        _retire(connection, store, number, own, done)
        quoted = edit_source.c.session == own
        bury(connection, store, connection.execute(select(edit_source.c.quote).where(quoted)).scalars(), done)
        _mark_proposals(connection, select(edit_source.c.edit_id).where(quoted), done)
        _forget_signatures(connection, number)
        _unquote_reports(connection, own)
        _tell(connection, store, own, done)
    return done


def forget_text(store: Store, text: str) -> Forgotten:
    """Forget every body, title and reason that holds a text, exactly as it is written here. Raises `UsageError`.

    It is also found where it stands inside JSON, with its quotes and line ends escaped.
    """
    if len(text.strip()) < SHORTEST:
        raise UsageError("the text to forget is too short", remedy=f"Give at least {SHORTEST} characters")
    done, needles = Forgotten(), [spelling.encode() for spelling in spellings(text)]
    hits = [digest for digest, content in contents(store) if any(needle in content for needle in needles)]
    done.words.add(text)
    with wiping(store) as connection:
        rest = [digest for digest in hits if not _rewrite(connection, store, digest, needles, done)]
        done.said |= {content.decode("utf-8", "replace") for content in bodies.find(connection, rest).values()}
        bury(connection, store, rest, done)
        _retire_where(connection, store, pattern, pattern.c.body.in_(hits), done.patterns)
        _retire_where(connection, store, task, task.c.prompt.in_(hits), done.tasks)
        _mark_proposals(connection, _edits_with(hits), done)
        _retire_rules(connection, store, _rules_that_say(connection, hits, text), done)
        there = func.instr(signature.c.text, text) > 0
        connection.execute(update(signature).where(there).values(text=bodies.FORGOTTEN + signature.c.id))
        drop_kinds(connection, step.c.id.is_not(None), lambda kind: _stands_in(text, json.dumps(kind)))
        drop_grown(connection, lambda grown: _stands_in(text, json.dumps(grown)))
        _blank(connection, [text])
        _tell(connection, store, "", done)
    return done


@contextmanager
def wiping(store: Store) -> Iterator[Connection]:
    """A transaction whose freed bytes are overwritten, and whose journal is emptied after it."""
    store.driver.execute("PRAGMA secure_delete = ON")
    with store.write() as connection:
        yield connection
    store.driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _tell(connection: Connection, store: Store, name: str, done: Forgotten) -> None:
    """The evidence log says that something was forgotten, and by what digests it was known."""
    speaks_of = [name, *sorted(digest.hex() for digest in done.digests)]
    evidence_log.append(connection, "forgotten", speaks_of, store.clock.now_ms())


def _said_by(connection: Connection, number: int) -> set[str]:
    """The texts of a session that can be known again: what a person said, and longer ones of others."""
    wanted = select(stretch.c.id, body.c.codec, body.c.bytes).join(body, body.c.digest == stretch.c.body)
    rows = connection.execute(wanted.where(stretch.c.session_id == number)).all()
    words = {row.id: bodies.stretch_words(row.codec, row.bytes) or [] for row in rows}
    mine = event.c.id.between(number << SEQUENCE_BITS, (number << SEQUENCE_BITS) | SEQUENCE_MASK)
    found = set()
    for stretch_id, place, author in connection.execute(
        select(event.c.stretch_id, event.c.place, event.c.author).where(mine)
    ):
        least = TELLING if author == "person" else LONG
        texts = words[stretch_id][place][:3] if place < len(words.get(stretch_id, ())) else ()
        found |= {text for text in texts if len(text.strip()) >= least}
    return found


def _unshared(connection: Connection, digests: Iterable[bytes | None]) -> list[bytes]:
    """Bodies that no other row speaks of."""
    wanted = {digest for digest in digests if digest is not None}
    for column in body_columns():
        for some in _in_pages(sorted(wanted)):
            wanted -= set(connection.execute(select(column).where(column.in_(some))).scalars())
    return sorted(wanted)


def _in_pages(listed: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
    return (listed[start : start + bodies.BATCH] for start in range(0, len(listed), bodies.BATCH))


def bury(connection: Connection, store: Store, digests: Iterable[bytes | None], done: Forgotten) -> None:
    """Turn bodies into tombstones, except what a rollback would need."""
    wanted = sorted({digest for digest in digests if digest is not None})
    for some in _in_pages(wanted):
        images = (adoption_target.c.before, adoption_target.c.after)
        needed = {d for c in images for d in connection.execute(select(c).where(c.in_(some))).scalars()}
        tomb = {"bytes": b"", "codec": "raw", "tombstone_ms": store.clock.now_ms()}
        there = body.c.digest.in_([digest for digest in some if digest not in needed]) & body.c.tombstone_ms.is_(None)
        gone = connection.execute(select(body.c.digest).where(there)).scalars().all()
        connection.execute(update(body).where(body.c.digest.in_(gone)).values(**tomb))
        done.bodies += len(gone)
        done.digests += gone
        done.kept += len(needed)


def _rewrite(connection: Connection, store: Store, digest: bytes, needles: Sequence[bytes], done: Forgotten) -> bool:
    """In a stretch's body forget the words of the events that say it, and keep the others. False for other bodies."""
    rows = connection.execute(select(stretch.c.id).where(stretch.c.body == digest)).scalars().all()
    if not rows:
        return False
    row = connection.execute(select(body.c.codec, body.c.bytes).where(body.c.digest == digest)).one()
    words = bodies.stretch_words(row.codec, row.bytes) or []
    hit = [place for place, said in enumerate(words) if _holds(said, needles)]
    if not hit:  # the bytes stand across two texts: nobody has said them
        return True
    done.said |= {part for place in hit for part in words[place][:3] if len(part.strip()) >= TELLING}
    kept = bodies.of_stretch([bodies.LOST if n in set(hit) else said for n, said in enumerate(words)], RULES_VERSION)
    bodies.keep(connection, [kept])
    connection.execute(update(stretch).where(stretch.c.id.in_(rows)).values(body=kept.digest))
    said_it = event.c.stretch_id.in_(rows) & event.c.place.in_(hit)
    done.events += connection.execute(update(event).where(said_it).values(forgotten=1)).rowcount
    paths = select(source.c.path).join(stretch, stretch.c.source_id == source.c.id).where(stretch.c.id.in_(rows))
    _name_sources(connection, paths, done)
    bury(connection, store, [digest], done)
    return True


def _holds(said: bodies.Words, needles: Sequence[bytes]) -> bool:
    return any(needle in part.encode() for part in said if isinstance(part, str) for needle in needles)


def _stands_in(text: str, document: str) -> bool:
    return any(spelling in document for spelling in spellings(text))


def _forget_readers(connection: Connection, number: int, done: Forgotten) -> None:
    """What the readers of its files remember; they begin anew if a file changes, and find the session forgotten."""
    files_ = select(session_source.c.source_id).where(session_source.c.session_id == number)
    connection.execute(update(source).where(source.c.id.in_(files_)).values(reader_state=b"", offset=0, before=""))
    _name_sources(connection, select(source.c.path).where(source.c.id.in_(files_)), done)


def _name_sources(connection: Connection, paths: Any, done: Forgotten) -> None:
    there = paths.where(source.c.gone_ms.is_(None)).order_by(source.c.path)
    done.sources += [path for path in connection.execute(there).scalars() if path not in done.sources]


def _retire(connection: Connection, store: Store, number: int, name: str, done: Forgotten) -> None:
    """What was derived from a session: patterns, tasks, rules, and what a model was asked with words of it."""
    named: dict[str, list[str]] = {"pattern": [], "task": [], RULE: [], ASKED: []}
    wanted = select(derived.c.kind, derived.c.of).where(derived.c.session_id == number)
    for kind, of in connection.execute(wanted):
        named[kind].append(of)
    bury(connection, store, forget_asked(connection, named[ASKED], name), done)
    _retire_where(connection, store, pattern, pattern.c.id.in_(named["pattern"]), done.patterns)
    _retire_where(connection, store, task, task.c.id.in_(named["task"]), done.tasks)
    _retire_rules(connection, store, named[RULE], done)
    titles = connection.execute(select(pattern.c.title).where(pattern.c.id.in_(done.patterns))).scalars().all()
    blank = {"title": bodies.FORGOTTEN, "signature": "", "sentence": "null"}
    connection.execute(update(pattern).where(pattern.c.id.in_(done.patterns)).values(**blank))
    original = func.substr(attempt.c.task, 1, func.instr(attempt.c.task + "~", "~") - 1)  # of a made-up variant
    attempted = original.in_(done.tasks) | attempt.c.task.startswith(f"{name}:", autoescape=True)  # its episodes
    for column, which in (
        (pattern.c.body, pattern.c.id.in_(done.patterns)),
        (task.c.prompt, task.c.id.in_(done.tasks)),
        (check.c.argument, check.c.task_id.in_(done.tasks)),
        (attempt.c.prompt, attempted),
        (attempt.c.trajectory, attempted),
    ):
        bury(connection, store, connection.execute(select(column).where(which)).scalars(), done)
    connection.execute(update(attempt).where(attempted).values(failed="[]", why=""))
    telling = [title for title in titles if len(title) >= TELLING]
    done.words |= set(telling)
    _blank(connection, telling)


def _retire_where(connection: Connection, store: Store, of: Any, which: Any, names: list[str]) -> None:
    found = connection.execute(select(of.c.id).where(which, of.c.retired_ms.is_(None))).scalars().all()
    names.extend(found)
    connection.execute(update(of).where(of.c.id.in_(found)).values(retired_ms=store.clock.now_ms()))


def _retire_rules(connection: Connection, store: Store, names: Iterable[str], done: Forgotten) -> None:
    """Rules that rest on it, and their trials: units that were scored are scored anew if what is left shows the rule
    again."""
    done.rules = sorted({*done.rules, *names})
    blank = {"state": "retired", "title": bodies.FORGOTTEN, "predicate": ""}
    connection.execute(update(rule).where(rule.c.id.in_(done.rules)).values(**blank))
    running = trial.c.rule.in_(done.rules) & (trial.c.state == "running")
    done.trials = list(connection.execute(select(trial.c.id).where(running).order_by(trial.c.id)).scalars())
    over: dict[str, Any] = {"state": "dropped", "why": "what it rests on was forgotten", "predicate": ""}
    over["ended_ms"] = store.clock.now_ms()
    connection.execute(update(trial).where(trial.c.id.in_(done.trials)).values(**over))
    connection.execute(delete(trial_step).where(trial_step.c.trial_id.in_(done.trials)))


def _rules_that_say(connection: Connection, hits: Sequence[bytes], text: str) -> Sequence[str]:
    """Rules whose wording, title or predicate holds a text."""
    worded = select(edit.c.rule_id).where(edit.c.text.in_(hits), edit.c.rule_id.is_not(None))
    titled = select(rule.c.id).where((func.instr(rule.c.title, text) > 0) | (func.instr(rule.c.predicate, text) > 0))
    of_trial = select(trial.c.rule).where(func.instr(trial.c.predicate, text) > 0, trial.c.rule != "")
    return connection.execute(worded.union(titled, of_trial)).scalars().all()


def _edits_with(hits: Sequence[bytes]) -> Any:
    quoting = select(edit_source.c.edit_id).where(edit_source.c.quote.in_(hits))
    saying: list[Column[Any]] = [edit.c.text, edit.c.anchor]
    return quoting.union(*(select(edit.c.id).where(column.in_(hits)) for column in saying))


def _mark_proposals(connection: Connection, edits: Any, done: Forgotten) -> None:
    named = select(proposal_edit.c.proposal_id).where(proposal_edit.c.edit_id.in_(edits))
    found = connection.execute(select(proposal.c.id).where(proposal.c.id.in_(named))).scalars().all()
    connection.execute(update(proposal).where(proposal.c.id.in_(found)).values(quotes_forgotten=1))
    done.proposals.extend(name for name in found if name not in done.proposals)


def _forget_signatures(connection: Connection, number: int) -> None:
    """Signatures that only this session's frictions bear."""
    mine = select(friction.c.signature_id).where(friction.c.session_id == number)
    others = select(friction.c.signature_id).where(friction.c.session_id != number)
    only = signature.c.id.in_(mine) & signature.c.id.not_in(others)
    connection.execute(update(signature).where(only).values(text=bodies.FORGOTTEN + signature.c.id))


def _unquote_reports(connection: Connection, name: str) -> None:
    """What reports of nights quote of a session."""
    wanted = select(night.c.id, night.c.report).where(func.instr(night.c.report, name) > 0)
    for row in connection.execute(wanted).all():
        rest = json.dumps(unquoted(json.loads(row.report), name, bodies.FORGOTTEN))
        connection.execute(update(night).where(night.c.id == row.id).values(report=rest))


def _blank(connection: Connection, texts: Sequence[str]) -> None:
    """Forget words outside of bodies that hold one of these texts. A night that is to go on does such steps again."""
    if not texts:
        return

    def forgotten(words: Sequence[str]) -> list[str]:
        return [bodies.FORGOTTEN if any(text in one for text in texts) else one for one in words]

    unfinished = select(night.c.id).where(night.c.state.in_(("running", "interrupted")))
    wanted = select(step.c.id, step.c.result).where(step.c.night_id.in_(unfinished))
    again = [row.id for row in connection.execute(wanted) if rewritten(row.result, forgotten) != row.result]
    connection.execute(delete(step).where(step.c.id.in_(again)))
    rewrite(connection, forgotten, texts)
