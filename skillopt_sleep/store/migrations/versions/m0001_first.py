"""All tables of the data model, as `m0001_first.sql` writes them.

The statements are kept as text: a migration says what a store was once made of, whatever the tables are today.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    statements = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    for statement in filter(str.strip, statements.split(";\n")):
        op.execute(statement)
