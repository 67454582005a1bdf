"""Newer redaction rules over what was stored under older ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from sqlalchemy import Connection, select, update

from skillopt_sleep.redact import RULES_VERSION, Redacted
from skillopt_sleep.store import bodies
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.forgetting import Forgotten, bury, wiping
from skillopt_sleep.store.keeping import body_columns
from skillopt_sleep.store.schema.harvest import body, stretch

PAGE: Final = 200


class TakesSecretsOut(Protocol):
    """What is asked of `skillopt_sleep.redact.Redactor`."""

    def redact_many(self, texts: Sequence[str]) -> list[Redacted]: ...


def redact_again(store: Store, redactor: TakesSecretsOut) -> dict[str, int]:
    """Redact bodies of older rules again. Returns how many were looked at and how many changed.

    Files' own bytes and documents are left as they are (`redaction` 0): a rollback restores them to the letter. A page
    of bodies is a transaction, so a killed run goes on where it was.
    """
    looked = changed = 0
    older = body.c.redaction.between(1, RULES_VERSION - 1) & body.c.tombstone_ms.is_(None)
    wanted = select(body.c.digest, body.c.codec, body.c.bytes).where(older).order_by(body.c.id).limit(PAGE)
    while rows := store.rows(wanted):
        with wiping(store) as connection:
            for digest, codec, content in rows:
                looked += 1
                changed += _again(connection, store, redactor, digest, bodies.content_of(codec, content))
    return {"bodies": looked, "changed": changed}


def _again(connection: Connection, store: Store, redactor: TakesSecretsOut, digest: bytes, content: bytes) -> bool:
    held = connection.execute(select(stretch.c.id).where(stretch.c.body == digest)).first()
    clean = _stretch(redactor, content) if held else _text(redactor, content)
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
