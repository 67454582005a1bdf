"""How Alembic reaches the store: over the connection that it is given, inside the caller's transaction."""

from __future__ import annotations

from alembic import context

from skillopt_sleep.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
context.run_migrations()
