from __future__ import annotations

import doctest

import pytest

from skillopt_sleep.mine import fragments, wording
from skillopt_sleep.mine.fragments import Bad, common, common_start, line_pairs, replaced, runs, telling
from skillopt_sleep.mine.frictions import alternatives


@pytest.mark.parametrize("module", [fragments, wording, alternatives])
def test_examples_in_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def bad(*lines: str) -> list[Bad]:
    return [Bad(f"s{n}", n, line) for n, line in enumerate(lines)]


def test_what_bad_lines_share_is_found_with_its_spacing() -> None:
    lines = bad("wt, _ := repo.Tree()", "id, _ := paths.Session(x)", "y, _ := load(3)")
    found = common(lines, lambda text: [])
    assert found is not None
    assert (found.text, found.sessions, found.precision) == (", _ :=", 3, 1.0)


def test_what_is_just_as_often_right_is_not_shared_guilt() -> None:
    lines = bad("return nil", "return nil")
    assert common(lines, lambda text: range(2, 40)) is None


def test_one_session_shares_nothing() -> None:
    assert common([Bad("s", 1, "a.b(c)"), Bad("s", 2, "a.b(c)")], lambda text: []) is None


def test_half_of_the_sessions_are_too_few() -> None:
    assert common(bad("one.two(3)", "one.two(4)", "xx.yy = 5", "zz.qq = 6"), lambda text: []) is None


def test_arguments_are_left_out_where_that_costs_no_precision() -> None:
    found = common(bad('c := os.Run("git", "a")', 'd := os.Run("git", "b")'), lambda text: [])
    assert found is not None
    assert found.text == "os.Run("


def test_a_replaced_stretch_is_found_between_what_stayed() -> None:
    assert replaced("c := os.Run(ctx, x)", "c := os.Call(ctx, x)") == ("Run", "Call")
    assert replaced("f(a)", "f(a, b=1)") == ("", ", b=1")
    assert replaced("one two", "three four") == ("", "")
    assert replaced("same", "same") == ("", "")


def test_lines_are_paired_by_place_or_by_likeness() -> None:
    assert line_pairs("a\nold_b\nc", "a\nnew_b\nc") == [("old_b", "new_b")]
    assert line_pairs("foo(bar, baz)", "x = 1\ny = 2\nfoo(bar, qux)") == [("foo(bar, baz)", "foo(bar, qux)")]
    assert line_pairs("alone", "") == [("alone", "")]


def test_a_common_start_ends_with_a_whole_token() -> None:
    assert common_start(["os.Call(ctx,", "os.Call(background,"]) == "os.Call("
    assert common_start(["abc", "abd"]) == common_start([]) == ""


def test_fragments_that_say_nothing_are_not_looked_for() -> None:
    assert not any(telling(text) for text in ("x", "()", "err", "= 1", "a\nb12", "`code`"))
    assert all(telling(text) for text in ("os.Get(", ", _ :=", "value"))
    assert len(runs("a b c d e f g " * 999)) < 400
