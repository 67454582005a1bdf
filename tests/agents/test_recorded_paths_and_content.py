"""Rules about paths, about the state of files and about what is written."""

from __future__ import annotations

from dataclasses import replace

from skillopt_sleep.domain.sentences import AlwaysWrite, DoNotLookUnder, DoNotWrite, FileIs, ReadBeforeEdit
from tests.agents.recordings import ERROR, OK, REFUSED, edited, effects, listed, ran, read, recorded, scores, wrote


def test_a_look_is_wasted_where_it_fails_or_finds_nothing() -> None:
    rule = DoNotLookUnder("docs/old/")
    episodes = recorded(
        [read("docs/old/a.md", ERROR)],
        [listed("docs/old", empty=True)],
        [listed("docs/old")],
        [listed("docs/older", ERROR)],
        [ran("ls docs/old", ERROR)],
        [ran("cd docs && cat old/x.md", ERROR)],
        [ran("rm docs/old/x", ERROR, paths=("docs/old/x",))],
    )
    assert effects(episodes, rule) == ["prevented1", "prevented1", "broken1", "", "prevented1", "prevented1", ""]
    assert scores(episodes)[1].hard == 0.0


def test_a_path_in_place_of_another() -> None:
    rule, right = FileIs("a.yaml", "a.yml"), [read("./a.yaml")] * 8
    assert effects(recorded([read("a.yml", ERROR)], right), rule) == ["prevented1", ""]
    assert effects(recorded([read("a.yml", ERROR)]), rule) == ["unknown1"]
    assert effects(recorded([read("a.yml")], [read("a.yaml", ERROR)]), rule) == ["broken1", ""]
    assert effects(recorded([read("a.yml")], right), rule) == ["neutral1", ""]
    shell = recorded([ran("make && cat a.yml", ERROR, "cat: a.yml: none", paths=("a.yml",))], right)
    assert effects(shell, rule)[0] == "prevented1"
    other = recorded([ran("make && cat a.yml", ERROR, "make: no rule", paths=("a.yml",))], right)
    assert effects(other, rule)[0] == "neutral1"


def test_a_path_of_another_name_must_have_been_the_remedy_in_another_session() -> None:
    rule, wasted = FileIs("new/b.md", "old/a.md"), [read("old/a.md", ERROR)]
    assert effects(recorded(wasted, [read("new/b.md")] * 8), rule)[0] == "unknown1"
    remedy = [*wasted, *[read("new/b.md")] * 8]
    assert effects(recorded(remedy), rule) == ["unknown1"]
    assert effects(recorded(wasted, remedy), rule) == ["prevented1", "unknown1"]
    assert effects(recorded(wasted, [*wasted, *[read("x")] * 8, read("new/b.md")]), rule)[0] == "unknown1"


def test_an_edit_of_an_unread_file_is_prevented_only_if_it_failed() -> None:
    rule = ReadBeforeEdit()
    episodes = recorded(
        [edited("a", "x", "y", ERROR), read("a"), edited("a", "x", "y")],
        [edited("b", "x", "y", ERROR)],
        [ran("cat a.go"), *[edited("a.go", "x", "y")] * 5],
        [wrote("c", "x"), edited("c", "x", "y")],
        [edited("d", "x", "y"), edited("d", "x", "y")],
    )
    assert effects(episodes, rule) == ["prevented1", "prevented1", "", "", "neutral1"]
    assert effects(recorded([edited("a", "x", "y", ERROR)]), rule) == ["unknown1"]
    no_matter = recorded(
        [*[edited(f"f{n}", "x", "y") for n in range(9)], edited("g", "x", "y", ERROR)],
        [read("a"), *[edited("a", "x", "y")] * 8],
    )
    assert effects(no_matter, rule)[0] == "unknown1 neutral9"


def test_a_compaction_takes_away_what_was_read() -> None:
    first, *rest = recorded([read("a"), edited("a", "x", "y", ERROR)], [read("b"), *[edited("b", "x", "y")] * 8])
    assert effects([first, *rest], ReadBeforeEdit())[0] == ""
    assert effects([replace(first, compacted=(1,)), *rest], ReadBeforeEdit())[0] == "prevented1"


def test_an_addition_is_in_trouble_if_an_edit_takes_it_back() -> None:
    taken_back = [wrote("a.go", "panic(1)"), edited("a.go", "panic(1)", "return err")]
    stood = [wrote("b.go", "panic(2)")]
    assert effects(recorded(taken_back, stood), DoNotWrite(".go", "panic(")) == ["prevented1", "broken1"]
    assert effects(recorded(taken_back, stood), DoNotWrite(".py", "panic(")) == ["", ""]
    good = [wrote("c.go", "return err")]
    advised = DoNotWrite(".go", "panic(", "return err")
    assert effects(recorded(taken_back, stood, good), advised) == ["prevented1", "neutral1", ""]
    unseen = DoNotWrite(".go", "panic(", "log.Fatal")
    assert effects(recorded(taken_back, stood), unseen) == ["unknown1", "unknown1"]


def test_what_is_advised_must_have_been_put_in_its_place() -> None:
    rule, good = DoNotWrite(".go", "cat", "dog"), [wrote("c.go", "dog")]
    elsewhere = [wrote("a.go", "a cat\n"), edited("a.go", "a cat\n", "my dog\n")]
    in_place = [wrote("a.go", "a cat\n"), edited("a.go", "a cat\n", "a dog\n")]
    assert effects(recorded(elsewhere, good), rule)[0] == "neutral1"
    assert effects(recorded(in_place, good), rule)[0] == "prevented1"


def test_an_addition_is_in_trouble_if_a_check_names_the_code() -> None:
    rule = DoNotWrite("*.go", "os.Remove(", "", "errcheck")
    failing = [wrote("a.go", "os.Remove(x)"), ran("lint", ERROR, "a.go:1: unchecked (errcheck)")]
    piped = [wrote("a.go", "os.Remove(x)"), ran("lint | tail", OK, "a.go:1: unchecked (errcheck)")]
    other = [wrote("a.go", "os.Remove(x)"), ran("lint", ERROR, "a.go:1: (errchecks)")]
    elsewhere = [wrote("a.go", "os.Remove(x)"), ran("lint", ERROR, "b.go:1: (errcheck)")]
    late = [wrote("a.go", "os.Remove(x)"), *[read("b")] * 20, ran("lint", ERROR, "(errcheck)")]
    episodes = recorded(failing, piped, other, elsewhere, late)
    assert effects(episodes, rule) == ["prevented1", "prevented1", "broken1", "broken1", "broken1"]
    assert scores(episodes, rule)[0].objectives["actions_saved"] == 1.0


def test_an_addition_is_in_trouble_if_the_person_objects_in_words_that_hold_it() -> None:
    rule = DoNotWrite("", "lodash")
    later = recorded([wrote("a.ts", "import lodash")], corrections=["don't use lodash here"])
    assert effects(later, rule) == ["prevented1"]
    about = recorded([wrote("a.ts", "import lodash")], corrections=["lodash looks good"])
    assert effects(about, rule) == ["broken1"]
    refused = recorded([wrote("a.ts", "import lodash", REFUSED, said="no lodash")])
    assert effects(refused, rule) == ["prevented1"]
    otherwise = recorded([wrote("a.ts", "import lodash", REFUSED, said="too long")])
    assert effects(otherwise, rule) == [""]


def test_only_what_an_edit_adds_counts() -> None:
    rule = DoNotWrite(".go", "panic")
    kept = recorded([edited("a.go", "panic(1)", "panic(1) // why")])
    longer = recorded([edited("a.go", "", "panicked()")])
    failed = recorded([edited("a.go", "", "panic()", ERROR)])
    assert [effects(e, rule) for e in (kept, longer, failed)] == [[""], [""], [""]]


def test_what_is_always_written_is_asked_for_where_it_lacks() -> None:
    rule = AlwaysWrite("_test.go", "func Test", "t.Parallel()")
    both = [wrote("a_test.go", "func Test\n t.Parallel()")]
    added = [wrote("b_test.go", "func Test"), edited("b_test.go", "func Test", "func Test\n t.Parallel()")]
    lacking = [wrote("c_test.go", "func Test")]
    assert effects(recorded(both, added, lacking), rule) == ["", "prevented1", "neutral1"]
    assert effects(recorded(lacking), rule) == ["unknown1"]
    taken_out = [*both, edited("a_test.go", " t.Parallel()", " ")]
    assert effects(recorded(taken_out, lacking), rule) == ["", "broken1"]
    assert effects(recorded(both, lacking, corrections=["", "you must call t.Parallel()"]), rule)[1] == "prevented1"


def test_an_edit_that_a_check_names_and_that_is_taken_back_was_wasted() -> None:
    mended = [
        wrote("src/a.go", "good := 1\nbad := 2"),
        ran("lint", ERROR, "src/a.go:2: bad"),
        edited("src/a.go", "bad := 2", "fine := 2"),
        ran("lint"),
    ]
    assert scores(recorded(mended))[0].soft == 0.75
    elsewhere = [*mended[:1], ran("lint", ERROR, "b.go:2: bad"), *mended[2:]]
    assert scores(recorded(elsewhere))[0].soft == 1.0
    rule = DoNotWrite(".go", "bad :=")
    assert scores(recorded(mended), rule)[0].hard == 1.0
