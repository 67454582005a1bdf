"""The tables, and that the migrations make exactly them."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from skillopt_sleep.store import migrate
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.failures import Conflict
from skillopt_sleep.store.schema import metadata
from skillopt_sleep.store.version import SCHEMA

WANTED = frozenset(
    [
        "source",
        "session",
        "session_source",
        "project",
        "project_alias",
        "usage",
        "message",
        "event",
        "body",
        "skill_use",
        "episode",
        "signature",
        "friction",
        "pattern",
        "pattern_member",
        "task",
        "check",
        "skill",
        "skill_version",
        "edit",
        "edit_source",
        "rule",
        "rule_version",
        "attempt",
        "completion",
        "comparison",
        "pair",
        "trial",
        "trial_step",
        "alpha_spend",
        "rejected",
        "night",
        "step",
        "skip",
        "spend",
        "proposal",
        "decision",
        "root",
        "adoption",
        "adoption_target",
        "exposure",
        "preference",
        "evidence_log",
    ]
)
"""The tables of the data model."""


def test_every_table_of_the_data_model_is_there() -> None:
    assert set(metadata.tables) >= WANTED


def test_a_store_made_by_migrations_equals_the_tables(store: Store) -> None:
    with store.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_a_store_made_by_migrations_equals_the_tables_to_the_letter(store: Store, freeze: ModuleType) -> None:
    made = {freeze.tidy(sql) for (sql,) in store.driver.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    wanted = set(freeze.statements())
    assert {sql for sql in made - wanted if "alembic_version" not in sql} == set()
    assert wanted - made == set()


def test_the_newest_migration_is_the_format_that_this_version_knows() -> None:
    script = ScriptDirectory(str(migrate.SCRIPTS))
    assert script.get_heads() == [f"{SCHEMA:04d}"]


def test_every_table_is_strict(store: Store) -> None:
    query = "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'"
    loose = [name for name, strict in store.driver.execute(query) if not strict]
    assert loose == ["alembic_version"]


def test_a_word_in_a_number_column_is_refused(store: Store) -> None:
    with pytest.raises(Conflict), store.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO night (id, date, zone, trigger, begun_ms) VALUES ('n', '', '', 'manual', 'x')"
        )


def test_a_second_row_under_a_unique_key_is_refused(store: Store) -> None:
    insert = "INSERT INTO source (agent, path) VALUES ('a', '/x')"
    with store.write() as connection:
        connection.exec_driver_sql(insert)
    with pytest.raises(Conflict), store.write() as connection:
        connection.exec_driver_sql(insert)


def test_a_row_that_refers_to_nothing_is_refused(store: Store) -> None:
    with pytest.raises(Conflict), store.write() as connection:
        connection.exec_driver_sql("INSERT INTO stretch (session_id, source_id) VALUES (7, 7)")


def test_a_state_that_is_not_known_is_refused(store: Store) -> None:
    with pytest.raises(Conflict), store.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO night (id, date, zone, trigger, state, begun_ms) VALUES ('n', '', '', 'manual', 'odd', 1)"
        )


def test_two_scheduled_nights_of_one_date_are_refused_and_two_manual_ones_are_not(store: Store) -> None:
    insert = "INSERT INTO night (id, date, zone, trigger, begun_ms) VALUES (?, '2026-11-29', 'UTC', ?, 1)"
    with store.write() as connection:
        for name, trigger in (("1", "manual"), ("2", "manual"), ("3", "scheduled")):
            connection.exec_driver_sql(insert, (name, trigger))
    with pytest.raises(Conflict), store.write() as connection:
        connection.exec_driver_sql(insert, ("4", "caught_up"))


def test_times_end_in_ms_and_are_numbers() -> None:
    timed = re.compile(r"(_at|_time|^at|^when|_date)$")
    for table in metadata.sorted_tables:
        for column in table.columns:
            assert not timed.search(column.name), f"{table.name}.{column.name}"
            assert not column.name.endswith("_ms") or str(column.type) == "INTEGER"


def test_the_schema_modules_stay_short() -> None:
    for module in Path(migrate.__file__).parent.rglob("*.py"):
        assert len(module.read_text(encoding="utf-8").splitlines()) < 400, module.name
