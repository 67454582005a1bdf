"""Damaged lines, long lines, hostile files: a record never costs more than itself, and nothing hangs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_harvesters import Kind, Source, Unreadable, harvester_of
from skillopt_harvesters.bytestream import PlainStream, TooLong, Window, open_regular, windows
from skillopt_harvesters.jsonl import Line, RecordReader

Write = Callable[[str, bytes], Path]


class Small(Line):
    """A record of the tests."""

    type: str | None = None
    n: int | None = None
    text: str | None = None


READER = RecordReader(Small)


class Bytes:
    """Content as a stream of small reads."""

    trouble = ""

    def __init__(self, content: bytes, most: int = 1 << 30) -> None:
        self.content = content
        self.at = 0
        self.most = most

    def read(self, size: int) -> bytes:
        chunk = self.content[self.at : self.at + min(size, self.most)]
        self.at += len(chunk)
        return chunk


def decoded(content: bytes, size: int = 1 << 20, cap: int = 1 << 24) -> tuple[list[Small], list[bytes], list[str], int]:
    """Records, the bytes that each addresses, reasons of trouble, and the offset up to which all is settled."""
    records: list[Small] = []
    raw: list[bytes] = []
    troubles: list[str] = []
    advance = 0
    found = list(windows(Bytes(content), 0, size=size, cap=cap))
    for window in found:
        if isinstance(window, TooLong):
            troubles.append("too long")
            advance = window.offset + window.length if window.whole else window.offset
            continue
        stretch = READER.decode(window, window is found[-1])
        records += stretch.records
        raw += [content[a:b] for a, b in zip(stretch.starts, stretch.ends, strict=True)]
        troubles += [reason for _, reason in stretch.troubles]
        advance = stretch.advance
    return records, raw, troubles, advance


GOOD = b'{"type":"a","n":1}'


@pytest.mark.parametrize(
    ("content", "numbers", "troubles"),
    [
        (GOOD + b"\n", [1], 0),
        (GOOD, [1], 0),
        (GOOD + b'{"type":"a","n":2}\n', [1, 2], 0),
        (GOOD + b'  {"type":"a","n":2}\n\n\n{"n":3}\n', [1, 2, 3], 0),
        (b"\xef\xbb\xbf" + GOOD + b"\r\n" + GOOD + b"\r\n", [1, 1], 0),
        (GOOD + b"\n" + b"\0" * 1728, [1], 0),
        (GOOD + b"\0\0\n\0\0" + GOOD + b"\n", [1, 1], 0),
        (b"// a comment\n" + GOOD + b"\n", [1], 0),
        (b'[1]\n42\n"x"\nnull\n' + GOOD + b"\n", [1], 0),
        (b'{"type":"a","n":"one"}\n', [None], 0),
        (b'{"n":2,"text":{"a":1}}\n', [2], 0),
        (b'{"type":"a","n":9,"te\n' + GOOD + b"\n", [1], 1),
        (b'{"type":"a","n":9,"te' + GOOD + b"\n", [1], 1),
        (b'{"timestamp":"x","type":"a","text":"abc{"timestamp":"y","type":"a","n":1}\n', [1], 1),
        (b"not json at all\n" + GOOD + b"\n", [1], 1),
        (GOOD + b"garbage\n" + GOOD + b"\n", [1, 1], 1),
        (b'{"n":1,"text":"torn\nover lines"}\n' + GOOD + b"\n", [1, 1], 0),
        (b'{"n":1,"text":' + b"[" * 100_000 + b"\n" + GOOD + b"\n", [1], 1),
        (b'{"n":1e999}\n' + GOOD + b"\n", [None, 1], 0),
        (b'{"n":1,"x":NaN}\n', [1], 0),
    ],
)
def test_each_damage_costs_its_own_record(content: bytes, numbers: list[int | None], troubles: int) -> None:
    records, raw, reasons, _ = decoded(content)
    assert [record.n for record in records] == numbers
    assert len(reasons) == troubles
    assert all(piece.startswith(b"{") and piece.endswith(b"}") for piece in raw)


def test_lines_end_at_a_newline_and_nowhere_else() -> None:
    for odd in ("\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"):
        records, _, troubles, _ = decoded(f'{{"text":"a{odd}b"}}\n'.encode())
        assert [record.text for record in records] == [f"a{odd}b"]
        assert not troubles


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b'{"text":"a\xff\xfeb"}\n', "a\ufffd\ufffdb"),
        (b'{"text":"a\\ud83db"}\n', "a\ufffdb"),
        (b'{"text":"a\\ude00"}\n', "a\ufffd"),
        (b'{"text":"\\ud83d\\ude00"}\n', "\U0001f600"),
        (b'{"text":"a\xed\xa0\xbdb"}\n', "a\ufffd\ufffd\ufffdb"),
    ],
)
def test_text_that_is_no_unicode_is_replaced(content: bytes, text: str) -> None:
    (record,), _, troubles, _ = decoded(content)
    assert record.text == text
    assert not troubles


@pytest.mark.parametrize("tail", [b'{"n":2', b'{"n":2,"text":"x', b"{", b'{"n":{"m":1}', b'{"n":2}{"n"', b"\0\0"])
def test_a_half_written_tail_waits_and_is_no_error(tail: bytes) -> None:
    content = GOOD + b"\n"
    records, _, troubles, advance = decoded(content + tail)
    assert (len(records), troubles, advance) == (1, [], len(content))


def test_a_record_torn_over_lines_is_waited_for_while_it_may_go_on() -> None:
    torn = GOOD + b'\n{"n":2,"text":"torn\n'
    records, _, troubles, advance = decoded(torn)
    assert ([record.n for record in records], troubles, advance) == ([1], [], len(GOOD) + 1)
    assert [record.n for record in decoded(torn + b'over lines"}\n')[0]] == [1, 2]
    assert decoded(torn + GOOD + b"\n")[2] == ["not JSON"]


def test_a_record_addresses_its_own_bytes_also_on_a_shared_line() -> None:
    content = '{"n":1,"text":"ä"}{"n":2}\n{"n":3}\r\n{"n":4}'.encode()
    records, raw, _, advance = decoded(content)
    assert [json.loads(piece)["n"] for piece in raw] == [record.n for record in records] == [1, 2, 3, 4]
    assert advance == len(content)


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 50), st.integers(1, 60))
def test_windows_cut_nothing_and_lose_nothing(sizes: list[int], size: int, most: int) -> None:
    content = b"".join(b"x" * n + b"\n" for n in sizes) + b"tail"
    found = list(windows(Bytes(content, most), 0, size=size, cap=1000))
    assert b"".join(w.buffer[: w.end] for w in found if isinstance(w, Window)) == content
    assert all(isinstance(w, Window) and (w.tail or w.buffer[w.end - 1 : w.end] == b"\n") for w in found)


@given(st.lists(st.integers(1, 60), max_size=20), st.integers(1, 30))
def test_only_lines_over_the_cap_are_passed_over(sizes: list[int], size: int) -> None:
    content = b"".join(b"x" * n + b"\n" for n in sizes)
    found = list(windows(Bytes(content), 0, size=size, cap=32))
    long = [w for w in found if isinstance(w, TooLong)]
    assert all(w.whole and w.length > 32 for w in long)
    assert len(long) == sum(n + 1 > 32 for n in sizes)
    kept = b"".join(w.buffer[: w.end] for w in found if isinstance(w, Window))
    assert kept == b"".join(b"x" * n + b"\n" for n in sizes if n + 1 <= 32)


def test_a_line_over_the_cap_is_said_and_the_rest_is_read() -> None:
    content = GOOD + b"\n" + b'{"text":"' + b"x" * 5000 + b'"}\n' + b'{"n":2}\n'
    records, _, troubles, _ = decoded(content, size=512, cap=2048)
    assert [record.n for record in records] == [1, 2]
    assert troubles == ["too long"]


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(content: bytes) -> None:
    records, raw, _, advance = decoded(content, size=64)
    assert len(records) == len(raw)
    assert 0 <= advance <= len(content)


@given(
    st.lists(st.sampled_from([GOOD, b"{", b'{"n":', b"}", b'"', b"\n", b"\\", b"[", b"\0", b"//", b"x"]), max_size=30)
)
def test_no_mixture_of_pieces_breaks_the_reader(pieces: list[bytes]) -> None:
    decoded(b"".join(pieces))


def test_a_line_of_nothing_but_braces_takes_no_time() -> None:
    content = b'{"a' * 40_000 + b"\n" + GOOD + b"\n"
    records, _, _, _ = decoded(content)
    assert records[-1].n == 1


# -- files


def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    fifo = tmp_path / "session.jsonl"
    os.mkfifo(fifo)
    with pytest.raises(Unreadable, match="not a regular file"):
        open_regular(str(fifo))


@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot-cli", "copilot-vscode"])
def test_what_cannot_be_read_is_said(tmp_path: Path, agent: str) -> None:
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    for path in (tmp_path, tmp_path / "gone.jsonl", loop, tmp_path / ("x" * 300), Path("/dev/null")):
        with pytest.raises(Unreadable) as caught:
            list(harvester_of(agent).read(Source(agent=agent, path=str(path))))
        assert caught.value.path == str(path)
        assert caught.value.reason


@pytest.mark.root
def test_a_file_that_is_not_ours_to_read_is_said(tmp_path: Path, unprivileged: list[str]) -> None:
    code = (
        "import sys; from skillopt_harvesters import Source, Unreadable, harvester_of\n"
        "try: open(sys.argv[1])\n"
        "except PermissionError: print('refused')\n"
        "try: list(harvester_of('codex').read(Source(agent='codex', path=sys.argv[1])))\n"
        "except Unreadable as problem: print(problem.reason)\n"
    )
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(GOOD)
    path.chmod(0o600)
    tmp_path.chmod(0o755)
    done = subprocess.run([*unprivileged, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["refused", "permission denied"]


def test_reading_stops_where_the_file_ended_when_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "growing.jsonl"
    path.write_bytes(GOOD + b"\n")
    fd, found = open_regular(str(path))
    path.write_bytes(path.read_bytes() * 3)
    assert PlainStream(fd, 0, found.st_size).read(1 << 20) == GOOD + b"\n"
    os.close(fd)


MEASURE = """
import pathlib, sys
from skillopt_harvesters import Source, harvester_of
found = list(harvester_of("claude-code").read(Source(agent="claude-code", path=sys.argv[1])))
print(sum(len(batch.events) for batch in found))
print(sum("too long" in trouble.reason for batch in found for trouble in batch.warnings))
peak = pathlib.Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(int(peak) // 1024)
"""


def measured(path: Path) -> tuple[int, int, int]:
    """Events, troubles about long lines, and the peak of resident memory in MiB of a process that reads a file."""
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)
    events, troubles, peak = map(int, done.stdout.split())
    return events, troubles, peak


linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="it takes /proc")


@linux
def test_a_line_of_sixty_megabytes_is_read_past_in_little_memory(
    write: Write, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    content = to_lines(made.user("go", 0), made.user("…" * 20_000_000, 5), made.user("on", 9))
    assert len(content) > 60_000_000
    events, troubles, peak = measured(write(f"{made.SESSION}.jsonl", content))
    assert (events, troubles) == (2, 1)
    assert peak < 200


@linux
@pytest.mark.parametrize("filling", ["A", "\\", "…", "\U0001f600"])
def test_the_longest_line_that_is_read_takes_little_memory(
    write: Write, to_lines: Callable[..., bytes], made: ModuleType, filling: str
) -> None:
    long = filling * (23_000_000 // len(json.dumps(filling, ensure_ascii=False).encode()[1:-1]))
    told = to_lines(made.calls("Bash", "toolu_1", 0, {}), made.gives("toolu_1", long, 1), made.user(long, 2))
    events, troubles, peak = measured(write(f"{made.SESSION}.jsonl", told))
    assert (events, troubles) == (3, 0)  # the call is given open, and again with its result
    assert peak < 200


@pytest.mark.shared
def test_a_real_line_of_more_than_a_megabyte_is_read(shared: Path, loose: Any) -> None:
    (path,) = (shared / "transcripts/claude/moredip__session-share").rglob("images-in-tool-results.jsonl")
    assert max(map(len, path.read_bytes().split(b"\n"))) > 1_000_000
    found = loose(path)
    assert not found.warnings
    assert found.of(Kind.CALL)


def test_a_refused_window_gives_the_same_as_an_accepted_one() -> None:
    lines = [msgspec.json.encode({"type": "a", "n": n}) for n in range(500)]
    clean = b"\n".join(lines) + b"\n"
    broken = clean + b'{"n":"x"}\n'
    assert decoded(clean)[0] == decoded(broken)[0][:-1]
    assert decoded(clean)[1] == decoded(broken)[1][:-1]
