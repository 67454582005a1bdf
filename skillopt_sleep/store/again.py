"""Newer redaction rules, and patterns that a person added, over what was stored without them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sqlalchemy import ColumnElement, Connection, func, select, update
from sqlalchemy.dialects.sqlite import insert

from skillopt_sleep.redact import RULES_VERSION, Redacted
from skillopt_sleep.store import bodies
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.forgetting import Forgotten, bury, wiping
from skillopt_sleep.store.keeping import body_columns
from skillopt_sleep.store.schema.harvest import body, setting, source, stretch
from skillopt_sleep.store.wording import rewrite

PAGE: Final = 200
SETTING: Final = "redaction"

CleanStates = Callable[[Sequence[bytes]], Sequence[bytes | None]]
"""Readers' states without secrets, in their order; None for one that cannot be cleaned."""


class TakesSecretsOut(Protocol):
    """What is asked of `skillopt_sleep.redact.Redactor`."""

    def redact_many(self, texts: Sequence[str]) -> list[Redacted]: ...


@dataclass(frozen=True, slots=True)
class Applied:
    """What the store went through: the rules' version, the last body (row id) of any harvest, and of each pattern the
    last body that was read with it, by the pattern's digest."""

    version: int = 0
    upto: int = 0
    patterns: tuple[tuple[str, int], ...] = ()

    def lacks(self, patterns: Sequence[str], rules: int) -> ColumnElement[bool] | None:
        """Which bodies are to be redacted again under these rules and patterns; None where none is."""
        older = body.c.redaction.between(1, rules - 1)
        read = dict(self.patterns)
        since = [read.get(_digest(pattern), 0) for pattern in patterns]
        newer = [at for at in since if at < self.upto]
        if newer:
            return (body.c.redaction > 0) & ((body.c.id > min(newer)) | older)
        return older if self.version < rules else None


def redact_again(
    store: Store, redactor: TakesSecretsOut, patterns: Sequence[str] = (), clean_states: CleanStates | None = None
) -> dict[str, int]:
    """Redact again what older rules let through, or what was kept before a person's own `patterns` were there.

    Returns how many bodies were looked at, how many changed, and how many words outside of bodies. Files' own bytes
    and documents are left as they are (`redaction` 0): a rollback restores them to the letter. A page of bodies is a
    transaction; a killed run goes on where it was. Nothing is read where nothing is new.
    """
    which = _applied(store).lacks(patterns, RULES_VERSION)
    if which is None:
        return {"bodies": 0, "changed": 0, "words": 0}
    looked = changed = last = 0
    wanted = select(body.c.id, body.c.digest, body.c.codec, body.c.bytes).where(which, body.c.tombstone_ms.is_(None))
    while rows := store.rows(wanted.where(body.c.id > last).order_by(body.c.id).limit(PAGE)):
        with wiping(store) as connection:
            told = select(stretch.c.body).where(stretch.c.body.in_([row.digest for row in rows]))
            stretches = set(connection.execute(told).scalars())
            for row in rows:
                content = bodies.content_of(row.codec, row.bytes)
                clean = _stretch(redactor, content) if row.digest in stretches else _text(redactor, content)
                changed += _replace(connection, store, row.digest, clean)
        looked, last = looked + len(rows), rows[-1].id
    with wiping(store) as connection:
        words = rewrite(connection, redactor.redact_many)
        if clean_states is not None:
            words += _states(connection, clean_states)
        note_applied(store, patterns)
    return {"bodies": looked, "changed": changed, "words": words}


def note_applied(store: Store, patterns: Sequence[str]) -> None:
    """Write down that all bodies so far went through today's rules and these patterns: at the end of a harvest."""
    before, upto = _applied(store), store.rows(select(func.max(body.c.id)))[0][0] or 0
    read = dict(before.patterns) | dict.fromkeys(map(_digest, patterns), upto)
    now = Applied(RULES_VERSION, upto, tuple(sorted(read.items())))
    if now != before:  # a harvest that found nothing new writes nothing
        value = json.dumps([now.version, now.upto, now.patterns])
        new = insert(setting).values(name=SETTING, value=value)
        store.run(new.on_conflict_do_update(index_elements=["name"], set_={"value": value}))


def _applied(store: Store) -> Applied:
    rows = store.rows(select(setting.c.value).where(setting.c.name == SETTING))
    if not rows:
        last = store.rows(select(func.max(body.c.id)))[0][0] or 0
        return Applied(upto=last)
    version, upto, patterns = json.loads(rows[0][0])
    return Applied(version, upto, tuple((name, at) for name, at in patterns))


def _digest(pattern: str) -> str:
    return hashlib.blake2b(pattern.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _replace(connection: Connection, store: Store, digest: bytes, clean: bodies.Body) -> bool:
    """Put a clean body in the place of another; False where it is the same."""
    if clean.digest == digest:
        connection.execute(update(body).where(body.c.digest == digest).values(redaction=RULES_VERSION))
        return False
    bodies.keep(connection, [clean])
    for column in body_columns():
        connection.execute(update(column.table).where(column == digest).values({column.name: clean.digest}))
    bury(connection, store, [digest], Forgotten())
    return True


def _stretch(redactor: TakesSecretsOut, content: bytes) -> bodies.Body:
    words = bodies.unpacked(content)
    texts = redactor.redact_many([text for said in words for text in said[:3]])
    three = zip(texts[::3], texts[1::3], texts[2::3], strict=True)
    clean = [
        said._replace(text=text, arguments=arguments, head=head)
        for said, (text, arguments, head) in zip(words, three, strict=True)
    ]
    return bodies.of_stretch(clean, RULES_VERSION)


def _text(redactor: TakesSecretsOut, content: bytes) -> bodies.Body:
    (text,) = redactor.redact_many([content.decode()])
    return bodies.make(text.encode(), RULES_VERSION)


def _states(connection: Connection, clean_states: CleanStates) -> int:
    """What readers remember; one that cannot be cleaned is dropped, and its source is read anew when it changes."""
    wanted = select(source.c.id, source.c.reader_state).where(source.c.reader_state != b"")
    rows = connection.execute(wanted).all()
    old = [bodies.released(row.reader_state) for row in rows]
    changed = 0
    for row, before, after in zip(rows, old, clean_states(old), strict=True):
        if after == before:
            continue
        changed += 1
        values: dict[str, Any] = {"reader_state": b"" if after is None else bodies.squeezed(after)}
        values |= {"offset": 0, "before": ""} if after is None else {}
        connection.execute(update(source).where(source.c.id == row.id).values(**values))
    return changed
