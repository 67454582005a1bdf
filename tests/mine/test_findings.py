from __future__ import annotations

import time

import pytest

from skillopt_sleep.mine.findings import findings_in

OUTPUTS = {
    "linter with its name in round brackets": (
        "a/b.go:12:5: value is thrown away (dropvalue)\n\tx()\n\t^",
        "dropvalue",
        12,
    ),
    "type checker": ("a/b.py:7: error: Incompatible types in assignment  [wrongtype]", "wrongtype", 7),
    "style checker": ("./a/b.py:3:80: E501 line too long (99 > 79 characters)", "E501", 3),
    "static analysis": ("a/b.go:9:2: SA4006: this value of x is never used", "SA4006", 9),
    "compiler, position in brackets": ("src/b.ts(4,11): error TS2345: Argument is not assignable", "TS2345", 4),
    "rows below a file": ("/w/src/b.js\n  12:5  error  'x' is never used  no-leftovers\n", "no-leftovers", 12),
    "label before the place": (
        "error[E0382]: use of moved value\n --> src/b.rs:8:9\n  |\n8 |  y(x);\n  |    ^",
        "E0382",
        8,
    ),
    "marks below the line": ("In b.sh line 3:\nrm $x\n   ^-- SC2086: Double quote this", "SC2086", 3),
    "scoped rule": ("src/b.ts:2:1: Wrong order [import/order]", "import/order", 2),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_code_is_known_by_its_shape(name: str) -> None:
    output, code, line = OUTPUTS[name]
    (finding,) = findings_in(output)
    assert (finding.code, finding.line, finding.coded) == (code, line, True)
    assert finding.path.rpartition("/")[2].startswith("b.")


def test_a_message_without_code_stands_for_itself_by_its_shape() -> None:
    (one,) = findings_in("a.go:3:1: undefined: Foo")
    (two,) = findings_in("b.go:9:4: undefined: pkg.Bar")
    assert one.code == two.code == "~undefined: _"
    assert not one.coded


def test_logs_with_positions_are_no_findings() -> None:
    assert findings_in("    x_test.go:31: got 3, want 4 (deletions)\n") == ()
    assert (
        findings_in("2026/02/07 16:30:27 INFO started component=x\nhttps://x.org:80/a (fine)\n10:15:31 done (ok)") == ()
    )
    assert findings_in("  File b.py, line 3, in f\n    x()\nValueError: no") == ()


def test_the_line_of_code_below_a_finding_goes_with_it() -> None:
    (finding,) = findings_in("a.go:1:5: bad (rule)\n\tdefer f.Close()\n\t     ^")
    assert finding.source == "defer f.Close()"
    (labelled,) = findings_in("error[E1]: x\nerror[E100]: bad\n --> b.rs:8:9\n  |\n8 |     y(x);\n  |       ^")
    assert labelled.source == "y(x);"


def test_a_call_with_numbers_is_a_line_of_code_and_no_place() -> None:
    (finding,) = findings_in("a.go:1:5: bad (rule)\n\tpkg.Thing(3, 4)\n")
    assert finding.source == "pkg.Thing(3, 4)"


def test_several_findings_keep_their_own_places() -> None:
    rows = findings_in("a.py:1:1: E101 x\na.py:2:1: E102 y\nb.py:3:1: E101 z")
    assert [(f.path, f.line, f.code) for f in rows] == [("a.py", 1, "E101"), ("a.py", 2, "E102"), ("b.py", 3, "E101")]


@pytest.mark.parametrize(
    "text", ["a.go:1:1: " + "x" * 100_000, "(" * 50_000, "a.b:1:" * 20_000, "  1:1  error  " + "x " * 50_000]
)
def test_hostile_output_takes_no_time(text: str) -> None:
    began = time.process_time()
    findings_in(text)
    findings_in("\n".join([text[:300]] * 3000))
    assert time.process_time() - began < 2
