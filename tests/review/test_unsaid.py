"""What was forgotten leaves the files of nights, whatever escapes they write it in; what was not stays as it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from skillopt_sleep.domain.frictions import Quote
from skillopt_sleep.domain.proposals import ProposedEdit
from skillopt_sleep.domain.reports import NightReport, RefusedAction
from skillopt_sleep.errors import StoreError
from skillopt_sleep.redact import Redactor
from skillopt_sleep.review.report import save
from skillopt_sleep.review.unsaid import MARK, forget_in_logs, forget_in_reports, redact_files
from tests.review.sample import night as sample

SAID = "do *not* use `<b>bold</b>` & never [again] in\nthe whole of this code base, whatever anybody tells you about it"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "reports"


def quoting(night: str, text: str) -> NightReport:
    """The sample's night, in which a session `s-9` is quoted with a text, in an edit and in a refusal."""
    made, quote = sample(), Quote(0, "s-9", None, "person", text)
    first, *others = made.documents

    def with_quote(edit: ProposedEdit) -> ProposedEdit:
        return replace(edit, provenance=(quote,))

    documents = (replace(first, edits=tuple(map(with_quote, first.edits))), *others)
    return replace(made, night=night, documents=documents, refusals=(RefusedAction("rm -rf", 2, 2, (quote,)),))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_quoted_text_leaves_the_report_and_its_pages_go(folder: Path) -> None:
    for night, text in (("n-1", SAID), ("n-2", "something else")):
        save(quoting(night, text), folder)
    before = (folder / "n-2.json").read_bytes()
    done = forget_in_reports(folder, (), {SAID}, "s-8")
    assert done.rewritten == (), "no quote of that session"
    assert done.removed == tuple(str(folder / name) for name in ("n-1.html", "n-1.md"))
    done = forget_in_reports(folder, (), (), "s-9")
    assert done.rewritten == tuple(str(folder / name) for name in ("n-1.json", "n-2.json"))
    assert SAID[:20] not in (folder / "n-1.json").read_text("utf-8")
    after = json.loads((folder / "n-2.json").read_bytes())
    kept = json.loads(before)
    for document in (after, kept):
        for skill in document["skills"]:
            for edit in skill["edits"]:
                edit["provenance"] = [{**quote, "quote": MARK} for quote in edit["provenance"]]
    assert after == kept, "nothing but quotes has changed"
    assert (folder / "n-1.json").stat().st_mode & 0o777 == 0o600


def test_a_word_is_found_as_markdown_and_html_write_it(folder: Path) -> None:
    save(quoting("n-1", SAID), folder)
    save(quoting("n-2", "something else"), folder)
    done = forget_in_reports(folder, {"never [again] in\nthe whole"}, ())
    assert done.rewritten == (str(folder / "n-1.json"),)
    assert names(folder) == {"n-1.json", "n-2.json", "n-2.md", "n-2.html"}
    assert forget_in_reports(folder, {"never [again] in\nthe whole"}, ()).rewritten == ()


def test_only_files_of_ours_are_touched(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    elsewhere = tmp_path / "elsewhere.md"
    elsewhere.write_text(SAID)
    (folder / "link.md").symlink_to(elsewhere)
    (folder / "notes.txt").write_text(SAID)
    assert forget_in_reports(folder, {"never"}, ()).removed == ()
    assert forget_in_reports(tmp_path / "nowhere", {"never"}, ()).removed == ()
    assert elsewhere.exists()
    (folder / "odd.json").write_text("{")
    with pytest.raises(StoreError, match=r"odd\.json: is no report"):
        forget_in_reports(folder, {"never"}, ())


def test_lines_of_logs_are_blanked_under_the_hands_of_whoever_writes_them(tmp_path: Path) -> None:
    log = tmp_path / "skillopt-sleep.log"
    log.write_text("one\nsaid: Quetzalcoatl\nthree\n")
    log.chmod(0o600)
    with log.open("a") as writing:
        assert forget_in_logs(tmp_path, "Quetzal") == (str(log),)
        writing.write("four\n")
    assert log.read_text() == f"one\n{MARK}\nthree\nfour\n"
    assert forget_in_logs(tmp_path, "Quetzal") == ()


def test_reports_go_through_newer_rules(folder: Path) -> None:
    save(quoting("n-1", "Quetzalcoatl says so"), folder)
    save(quoting("n-2", "nobody says so"), folder)
    stricter = Redactor(("Quetzalcoatl",), engine=False)
    changed = redact_files(folder, stricter.redact_many)
    assert changed == tuple(str(folder / f"n-1.{ending}") for ending in ("html", "json", "md"))
    for path in folder.iterdir():
        assert "Quetzal" not in path.read_text("utf-8")
    assert json.loads((folder / "n-1.json").read_bytes())["night"] == "n-1"
    assert redact_files(folder, stricter.redact_many) == ()
