"""Documents and their versions: what is trained."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from skillopt_core.types import Skill
from skillopt_sleep.domain.proposals import Document
from skillopt_sleep.store import bodies
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.training import skill, skill_version


def document_row(connection: Connection, document: Document) -> int:
    """The row id of a document, which is made where it is new."""
    named = {"name": document.name, "kind": document.kind, "scope": document.scope}
    connection.execute(insert(skill).values(named).on_conflict_do_nothing())
    same = (skill.c.name == document.name) & (skill.c.kind == document.kind) & (skill.c.scope == document.scope)
    return int(connection.execute(select(skill.c.id).where(same)).scalar_one())


def document_of(row: Any) -> Document:
    """The document of a joined row with `name`, `kind` and `scope`."""
    return Document(row.name, row.kind, row.scope)


def keep_version(connection: Connection, document: Document, text: str, *, night: str, parent: str, now: int) -> bytes:
    """Keep one exact text of a document, byte for byte. Returns the digest of its body."""
    body = bodies.Kept(connection).image(text.encode("utf-8", "replace")) or b""
    row: dict[str, Any] = {"skill_id": document_row(connection, document), "digest": Skill(text).digest, "body": body}
    row |= {"parent": parent, "night": night, "at_ms": now}
    connection.execute(insert(skill_version).values(row).on_conflict_do_nothing())
    return body


def version(store: Store, digest: str) -> str | None:
    """The text with that SHA-256 (hex), None where it was never seen."""
    with store.read() as connection:
        body = connection.execute(select(skill_version.c.body).where(skill_version.c.digest == digest)).scalar()
        return None if body is None else bodies.text_in(bodies.find(connection, [body]), body)
