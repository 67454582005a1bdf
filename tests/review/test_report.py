"""The three files of a night: complete, escaped, self-contained."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.review.charts import MOST_SQUARES, before_and_after, squares, stake_bar
from skillopt_sleep.review.page import page
from skillopt_sleep.review.report import as_json, as_markdown, save

VOID = {"meta"}
OUTSIDE = frozenset(["script", "link", "img", "iframe", "object", "embed", "base", "form", "a"])
SWITCHES = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --dump-dom "
    "--disable-component-update --disable-sync --allow-file-access-from-files --enable-logging=stderr --v=0"
)
HOSTILE = '</style><script>alert(1)</script><img src=x onerror=alert(1)>" onload="x\' \x1b]0;t\x07 `tick` **b** [l](http://x.invalid)'


class Page(HTMLParser):
    """Tags in order, their attributes, and the text outside of the style sheet; unbalanced tags fail."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data if "style" not in self.open else ""


def poisoned(sample: ModuleType) -> NightReport:
    """The sample with hostile text in every place that comes from outside."""
    night = sample.night()
    said = sample.quote(HOSTILE, 3)
    documents = tuple(
        replace(
            document,
            error=HOSTILE,
            edits=tuple(
                replace(
                    edit,
                    edit=replace(edit.edit, text=HOSTILE, anchor=HOSTILE),
                    title=HOSTILE,
                    predicate=HOSTILE,
                    why=HOSTILE,
                    provenance=(said,),
                    verdict=replace(
                        edit.verdict,
                        why=HOSTILE,
                        needs=HOSTILE,
                        units=tuple(replace(unit, unit=HOSTILE, note=HOSTILE) for unit in edit.verdict.units),
                    ),
                )
                for edit in document.edits
            ),
        )
        for document in night.documents
    )
    return replace(
        night,
        backend=HOSTILE,
        documents=documents,
        refusals=tuple(replace(r, action=HOSTILE, person=HOSTILE, reasons=(said,)) for r in night.refusals),
        recurring=tuple(replace(r, title=HOSTILE) for r in night.recurring),
        rare=tuple(replace(r, title=HOSTILE, why=HOSTILE) for r in night.rare),
        trials=tuple(replace(t, title=HOSTILE, needs=HOSTILE) for t in night.trials),
        watch=tuple(replace(w, title=HOSTILE, finding=HOSTILE) for w in night.watch),
        warnings=(HOSTILE,),
        projects=(HOSTILE,),
        skipped={HOSTILE: 1},
        harvest=replace(
            night.harvest,
            skipped={HOSTILE: 2},
            unreadable=tuple(replace(u, path=HOSTILE, reason=HOSTILE) for u in night.harvest.unreadable),
        ),
    )


def test_a_page_is_balanced_and_asks_for_nothing_from_outside(sample: ModuleType) -> None:
    for night in (sample.night(), sample.quiet_night(), poisoned(sample)):
        tags = Page(page(night)).tags
        assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form", "a"} & {
            tag for tag, _ in tags
        }
        for _, attributes in tags:
            assert not {"src", "href", "style"} & set(attributes)
            assert not any(name.startswith("on") for name in attributes)


def test_a_page_allows_its_own_style_sheet_alone(sample: ModuleType) -> None:
    text = page(poisoned(sample))
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = next(a["content"] for tag, a in Page(text).tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_hostile_text_is_shown_as_text_in_every_place(sample: ModuleType) -> None:
    text = Page(page(poisoned(sample))).text
    assert text.count("<script>alert(1)</script>") > 40
    assert "\x1b" not in text


def test_hostile_text_is_no_markup_in_markdown(sample: ModuleType) -> None:
    text = as_markdown(poisoned(sample))
    prose = re.sub(r"(`+).*?(?<!`)\1(?!`)", "", text)  # what is not code
    assert not re.search(r"(?<!\\)<script|(?<!\\)\[l\]|(?<!\\)\*\*b", prose)
    assert "\x1b" not in text
    assert "http://" not in prose


@pytest.mark.parametrize("render", [as_markdown, page])
def test_a_report_says_everything_in_the_order_of_ten_seconds(sample: ModuleType, render: object) -> None:
    rendered = render(sample.night())  # type: ignore[operator]
    text = rendered if render is as_markdown else Page(rendered).text
    wanted = [
        "5 rules ready to adopt",
        "42 wasted actions spared, none broken",
        "Without them your agents wasted 65 actions",
        "skillopt-sleep review",
        "Group the changes by user-visible effect",
        "pnpm",
        "13 of 31 later sessions",
        "no, this repo is on pnpm",
        "Not proven yet",
        "3 more sessions in which it applies",
        "it breaks as much as it mends" if render is as_markdown else "It breaks as much as it mends",
        "What was refused, and why",
        "never force-push without asking me first",
        "No reason was given" if render is not as_markdown else "no reason was given",
        "What comes back",
        "DTZ005",
        "the file was not read",
        "Seen, too rare to test",
        "--show-source",
        "running for 6 nights, E 4.1",
        "31% → 7%",
        "111 sessions of 214 files",
        "71 sub-agent",
        "permission denied",
    ]
    at = 0
    for words in wanted:
        found = text.find(words, at)
        assert found >= 0, words
        at = found


def test_a_long_list_is_folded_and_whole(sample: ModuleType) -> None:
    night = sample.night()
    rare = tuple(replace(night.rare[0], title=f"thing {n}") for n in range(30))
    text = page(replace(night, rare=rare))
    assert "<summary>22 more</summary>" in text
    assert all(f"thing {n}<" in text for n in range(30))
    Page(text)


def test_what_mends_itself_comes_last(sample: ModuleType) -> None:
    section = as_markdown(sample.night()).partition("## What comes back")[2].partition("##")[0]
    assert section.strip().splitlines()[-1].endswith("it mends itself")


def test_figures_never_stand_without_what_they_cannot_show(sample: ModuleType) -> None:
    for render in (as_markdown, page):
        assert "not that an agent will obey it" in render(sample.night())


def test_a_failed_document_is_named_and_the_rest_is_there(sample: ModuleType) -> None:
    night = sample.night()
    broken = replace(night.documents[0], verdict=None, edits=(), proposal=None, error="the file is no UTF-8")
    text = as_markdown(replace(night, documents=(broken, *night.documents[1:])))
    assert "release-notes (your skill): failed" in text
    assert "the night went on without it: the file is no UTF-8" in text
    assert "pnpm" in text


def test_squares_count_and_order_their_units(made: ModuleType) -> None:
    picture = squares(made.units([1, 0, -1, 1]))
    assert 'aria-label="4 units in time order: 2 better, 1 equal, 1 worse"' in picture
    assert re.findall(r'class="(win|tie|loss)"', picture) == ["win", "tie", "loss", "win"]
    assert squares(()) == ""
    assert squares(made.units([1] * 500)).count("<rect") == MOST_SQUARES


def test_bars_stay_inside_their_frame(made: ModuleType) -> None:
    picture = before_and_after(made.verdict("accept", before=0.2, after=1.0, interval=(-3.0, 9.0)))
    assert {float(x) for x in re.findall(r'x[12]="([\d.]+)"', picture)} == {50.0, 310.0}
    assert 'width="0.00"' in stake_bar(0.0, 0.0)
    assert 'width="100.00"' in stake_bar(2.0, 1.0)


def test_a_saved_report_is_three_files_that_their_owner_alone_reads(sample: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    saved = save(sample.night(), folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    names = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert names == {f"n-2026-03-04.{ending}": 0o600 for ending in ("md", "json", "html")}
    assert saved.path == str(folder / "n-2026-03-04.html")
    assert json.loads((folder / "n-2026-03-04.json").read_text())["report"] == saved.path
    assert json.loads(as_json(saved)) == json.loads((folder / "n-2026-03-04.json").read_text())
    save(sample.night(), folder)
    assert len(list(folder.iterdir())) == 3


def test_a_night_cannot_name_a_file_outside_the_folder(sample: ModuleType, tmp_path: Path) -> None:
    saved = save(replace(sample.night(), night="../../etc/x"), tmp_path)
    assert Path(saved.path or "").parent == tmp_path


@pytest.mark.chromium
@pytest.mark.parametrize("width", [360, 1100])
def test_a_browser_lays_the_page_out_without_a_complaint(sample: ModuleType, tmp_path: Path, width: int) -> None:
    """Nothing is refused by the policy, and nothing sticks out at the side."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    probe = tmp_path / "probe.html"
    path = Path(save(poisoned(sample), tmp_path).path or "")
    probe.write_text(
        f"<title>?</title><iframe src='{path.name}' width={width} height=600></iframe><script>onload = () => "
        "{ const page = document.querySelector('iframe').contentDocument.documentElement; "
        "const fits = page.scrollWidth <= page.clientWidth; "
        "document.title = `${fits} ${page.querySelectorAll('article').length}` }</script>"
    )
    argv = [str(browser), *SWITCHES.split(), f"--user-data-dir={tmp_path / 'profile'}", probe.as_uri()]
    home = {**os.environ, "HOME": str(tmp_path)}
    seen = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True, env=home)
    assert "<title>true 9</title>" in seen.stdout
    assert "Content Security Policy" not in seen.stderr
