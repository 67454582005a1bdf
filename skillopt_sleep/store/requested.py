"""Kinds of request that a model named, with the episodes of their tasks."""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import select

from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.harvest import session
from skillopt_sleep.store.schema.mining import pattern, task


def named_requests(store: Store, project: str, prefix: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Signature, name and episodes of each, those with the newest tasks first. `prefix` is that of their signatures."""
    wanted = select(pattern.c.signature, pattern.c.title, task.c.episode_id)
    wanted = wanted.outerjoin(task, (task.c.pattern_id == pattern.c.id) & task.c.retired_ms.is_(None))
    of_project = (pattern.c.project == project) & (pattern.c.kind == "request") & pattern.c.retired_ms.is_(None)
    wanted = wanted.where(of_project, pattern.c.signature.startswith(prefix, autoescape=True))
    episodes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in store.rows(wanted.order_by(pattern.c.last_ms.desc(), pattern.c.id, task.c.began_ms)):
        episodes[row.signature, row.title] += [row.episode_id] if row.episode_id else []
    return [(signature, title, tuple(dict.fromkeys(own))) for (signature, title), own in episodes.items()]


def sessions_of(store: Store, project: str, prefix: str) -> list[str]:
    """The sessions whose words such kinds rest on."""
    wanted = select(session.c.name).join(task, task.c.session_id == session.c.id)
    wanted = wanted.join(pattern, task.c.pattern_id == pattern.c.id)
    of_project = (pattern.c.project == project) & pattern.c.signature.startswith(prefix, autoescape=True)
    return list(dict.fromkeys(row.name for row in store.rows(wanted.where(of_project, task.c.retired_ms.is_(None)))))
