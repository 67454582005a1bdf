"""The statements that make all tables of today, as a migration keeps those that it makes.

`python tests/store/freeze.py` prints them: a table that is new or made anew goes into the `.sql` of a new migration.
Those of a migration that is out in the world are never edited.
"""

from __future__ import annotations

import sys

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from skillopt_sleep.store import migrate
from skillopt_sleep.store.schema import metadata

FIRST = migrate.SCRIPTS / "versions" / "m0001_first.sql"


def statements() -> list[str]:
    """One statement an item, in an order that foreign keys allow."""
    dialect = sqlite.dialect()
    made = []
    for table in metadata.sorted_tables:
        made.append(tidy(str(CreateTable(table).compile(dialect=dialect))))
        made += [tidy(str(CreateIndex(i).compile(dialect=dialect))) for i in sorted(table.indexes, key=by_name)]
    return made


def by_name(index: object) -> str:
    return str(getattr(index, "name", ""))


def tidy(sql: str) -> str:
    return "\n".join(line.rstrip().replace("\t", "    ") for line in sql.strip().splitlines())


def script() -> str:
    return ";\n\n".join(statements()) + ";\n"


if __name__ == "__main__":
    sys.stdout.write(script())
