"""Names that nobody knows."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.critics.lint import MOST, Known, Unknown, unknown

KNOWN = Known(
    tools={
        "Read": frozenset({"file_path", "offset", "limit"}),
        "search_notes": frozenset({"query"}),
        "Bash": frozenset({"command", "timeout"}),
        "update_plan": None,
    },
    programs=frozenset({"pnpm", "acme"}),
    flags=frozenset({("acme", "--dry-run"), ("acme", "--env"), ("pytest", "-q"), ("pytest", "--lf")}),
    files=frozenset({"src/app/main.py", "docs/index.md", "Makefile", "tests/test_main.py"}),
)


def names(text: str, known: Known = KNOWN) -> list[str]:
    return [str(found) for found in unknown(text, known)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # a plausible wrong parameter is the commonest mistake
        ('- Call `Read(file="x")` first.', "parameter `file` (is `file_path` meant?)"),
        ("- Call `Read(path: x, limit=10)` first.", "parameter `path` (is `file_path` meant?)"),
        ("- Give `search_notes` the parameter `queries`.", "parameter `queries` (is `query` meant?)"),
        ("- Set the argument `offst` of `Read`.", "parameter `offst` (is `offset` meant?)"),
        ("- Always give the `timeouts` parameter.", "parameter `timeouts` (is `timeout` meant?)"),
        ("- Use the `search_note` tool before you answer.", "tool `search_note` (is `search_notes` meant?)"),
        ("- Call `web_fetch` first.", "tool `web_fetch`"),
        ("- Run `acme deploy --dryrun`.", "flag `--dryrun` (is `--dry-run` meant?)"),
        ("- Run `pytest --env`.", "flag `--env`"),  # another program's flag
        ("- Run `acmee deploy`.", "program `acmee` (is `acme` meant?)"),
        ("- Read `src/app/mian.py` first.", "file `src/app/mian.py` (is `src/app/main.py` meant?)"),
        ("- Look at `CONTRIBUTORS.md`.", "file `CONTRIBUTORS.md`"),
    ],
)  # fmt: skip
def test_an_unknown_name_is_flagged_with_the_likely_one(text: str, found: str) -> None:
    assert names(text) == [found]


@pytest.mark.parametrize(
    "text",
    [
        '- Call `Read(file_path="x", limit=5)` first.',
        "- Call `update_plan(anything=1)`.",  # its schema was never seen
        "- Give `search_notes` the parameter `query`.",
        "- Run `acme deploy --dry-run --env=prod`.",
        "- Run `ls -la` and `git status`.",
        "- Run `pytest -q --lf`.",
        "- Read `src/app/main.py`, `main.py` or `src/app`.",
        "- Use `pnpm`, not `npm`.",
        "- Call the person by name, and read files before you edit them.",
        "- Keep answers under `200` words.",
        "- Write `time.sleep(5)` nowhere.",
        "",
    ],
)  # fmt: skip
def test_what_is_known_or_names_nothing_is_not(text: str) -> None:
    assert names(text) == []


def test_what_is_not_known_at_all_is_not_asked_about() -> None:
    text = "- Call `web_fetch(file=1)`, run `zog x --no`, read `a/b.c`."
    assert unknown(text, Known()) == ()
    assert [found.kind for found in unknown(text, Known({}, frozenset(), frozenset(), frozenset()))] == [
        "tool", "program", "flag", "file",
    ]  # fmt: skip


def test_the_project_itself_is_asked_for_a_file() -> None:
    known = Known(files=frozenset(), has_file=lambda path: path == "docs/new.md")
    assert unknown("- Read `docs/new.md` and `./docs/new.md`.", known) == ()
    assert unknown("- Read `docs/old.md`.", known) == (Unknown("file", "docs/old.md"),)


@given(st.text(alphabet="`()=:,./-_ aB1\x00\n", max_size=200))
def test_any_text_is_read(text: str) -> None:
    unknown(text, KNOWN)


def test_hostile_text_takes_no_time() -> None:
    began = time.process_time()
    paths, calls, words = "`" + "a/" * 20_000 + "`", "`x(" + "a=" * 10_000 + ")`", "parameter " * 9000
    for text in ("`a(" * 5000, paths, "call `x` " * 5000, calls, words):
        unknown(text, KNOWN)
    assert time.process_time() - began < 5


def test_an_edit_full_of_unknown_names_takes_no_time_either() -> None:
    known = Known(files=frozenset(f"src/part{n % 50}/module_{n}.py" for n in range(20_000)))
    began = time.process_time()
    found = unknown(" ".join(f"`src/part{n}/modul_{n}.py`" for n in range(300)), known)
    assert len(found) == MOST
    assert time.process_time() - began < 10
