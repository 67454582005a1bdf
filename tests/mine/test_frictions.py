"""One small session a rule: what counts as a friction, what does not, and what follows from it."""

from __future__ import annotations

from skillopt_sleep.domain.frictions import Friction, FrictionKind, Pattern
from skillopt_sleep.domain.sentences import (
    AddFlag,
    AlwaysWrite,
    AskBefore,
    DoNotLookUnder,
    DoNotRun,
    DoNotWrite,
    DropFlag,
    FileIs,
    ReadBeforeEdit,
    RunBefore,
    Use,
)
from skillopt_sleep.mine import Mined, mine
from tests.mine.building import Session, episodes_in

GONE = "File does not exist."


def mined(*sessions: Session) -> Mined:
    return mine(episodes_in(sessions))


def only(found: Mined, kind: FrictionKind) -> Pattern:
    """The one pattern of that kind, seen in one session or more."""
    (pattern,) = [p for p in (*found.patterns, *found.rare) if p.friction is kind]
    return pattern


def of_kind(found: Mined, kind: FrictionKind) -> list[Friction]:
    return [f for f in found.frictions if f.kind is kind]


# refusals


def in_clone(session: Session) -> Session:
    """At work on files that tell that all clones are one project."""
    session.prompt("go")
    for n in range(4):
        session.read(f"pkg/core/f{n}.go")
    return session


def test_refusals_are_grouped_by_person_and_by_what_was_refused() -> None:
    sessions = [
        in_clone(Session(f"s{n}", day=n, person=who)).refused("Bash", {"command": command}, why)
        for n, (who, command, why) in enumerate(
            [
                ("kim", "cd web && npm publish --tag beta 2>&1 | tail -3", "too early"),
                ("kim", "npm publish", "I do that"),
                ("lee", "npm publish", ""),
            ]
        )
    ]
    found = mined(*sessions)
    assert len({e.project for e in found.episodes}) == 1
    kim = next(p for p in found.patterns if p.person == "kim")
    assert (kim.sentence, kim.document) == (AskBefore("npm publish"), "memory")
    assert kim.reasons == ("too early", "I do that")
    assert {q.author for q in kim.quotes} == {"person", "agent"}
    assert [p.person for p in found.rare] == ["lee"]


def test_a_long_option_belongs_to_what_was_refused_only_where_it_was_always_there() -> None:
    def refusing(*commands: str) -> Pattern:
        sessions = [
            Session(f"s{n}", day=n).prompt("go").refused("Bash", {"command": c}) for n, c in enumerate(commands)
        ]
        return only(mined(*sessions), FrictionKind.REFUSAL)

    assert refusing("git push --force", "git push --force origin").sentence == AskBefore("git push --force")
    assert refusing("git push --force", "git push", "git push --force").sentence == AskBefore("git push")


def test_of_a_chain_the_part_that_is_refused_again_is_named() -> None:
    sessions = [
        Session("a", day=0).prompt("go").refused("Bash", {"command": "git add x && git commit -m 'y'"}),
        Session("b", day=1).prompt("go").refused("Bash", {"command": "git commit -am 'z' && git push"}),
    ]
    assert only(mined(*sessions), FrictionKind.REFUSAL).sentence == AskBefore("git commit")


def test_refused_edits_are_named_by_their_file_where_that_recurs_else_by_its_kind() -> None:
    def refusing(*paths: str) -> str:
        sessions = [Session(f"s{n}", day=n).prompt("go") for n in range(len(paths))]
        for session, path in zip(sessions, paths, strict=True):
            session.refused("Edit", {"file_path": session.path(path), "old_string": "a", "new_string": "b"})
        return only(mined(*sessions), FrictionKind.REFUSAL).title

    assert refusing("docs/notes.md", "docs/notes.md") == "Edits of `docs/notes.md` were refused by kim"
    assert refusing("docs/notes.md", "a.md") == "Edits of `.md` files were refused by kim"


# diagnostics


def linted(n: int, line: str, mended: str, report: str = "{path}:3:1: never do that (badrule)\n\t{line}\n") -> Session:
    path = f"src/f{n}.go"
    session = Session(f"d{n}", day=n).prompt("go").read(path).edit(path, "x", f"y\n{line}")
    session.bash("lint run", report.format(path=path, line=line), 1)
    return session.edit(path, line, mended).bash("lint run")


def test_a_code_that_comes_back_is_named_with_what_had_been_written_before() -> None:
    found = mined(
        linted(0, "a := os.Get(1)", "a := os.Fetch(ctx, 1)"), linted(1, "bb := os.Get(22)", "bb := os.Fetch(c, 22)")
    )
    pattern = only(found, FrictionKind.DIAGNOSTIC)
    assert pattern.sentence == DoNotWrite(".go", "os.Get(", "os.Fetch(", "badrule")
    assert pattern.title.startswith("`lint run` reports `badrule` after edits like `a")
    assert (pattern.members[0].resolving, len(pattern.sessions)) != (None, 1)


def test_what_is_mended_by_adding_is_a_rule_to_add() -> None:
    found = mined(linted(0, "open(one)", "open(one, safely=True)"), linted(1, "open(twoo)", "open(twoo, safely=True)"))
    sentence = only(found, FrictionKind.DIAGNOSTIC).sentence
    assert isinstance(sentence, AlwaysWrite)
    assert (sentence.g, sentence.x, sentence.y) == (".go", "open(", ", safely=True")


def test_a_fragment_that_mostly_passes_the_check_gives_no_rule() -> None:
    bad = [linted(n, f"a{n} := os.Get({n})", f"a{n} := os.Fetch({n})") for n in range(2)]
    fine = [
        Session(f"f{n}", day=n).prompt("go").read("b.go").edit("b.go", "x", f"z := os.Get({n}00)").bash("lint run")
        for n in range(20)
    ]
    assert only(mined(*bad, *fine), FrictionKind.DIAGNOSTIC).sentence is None
    unchecked = [Session(f"u{n}", day=n).prompt("go").edit("b.go", "x", f"z := os.Get({n}00)") for n in range(20)]
    assert only(mined(*bad, *unchecked), FrictionKind.DIAGNOSTIC).sentence is not None


def test_what_an_edit_only_carries_along_is_not_its_doing() -> None:
    bad = [linted(n, f"a{n} := os.Get({n})", f"a{n} := os.Fetch({n})") for n in range(2)]
    line = "zz := os.Get(33)"
    along = [
        Session(f"f{n}", day=n).prompt("go").edit("b.go", line, f"{line}\nmore{n}").bash("lint run") for n in range(20)
    ]
    assert only(mined(*bad, *along), FrictionKind.DIAGNOSTIC).sentence is not None


def test_lines_that_the_agent_had_not_written_are_not_held_against_it() -> None:
    sessions = [
        Session(f"s{n}", day=n).prompt("go").bash("lint run", "a.go:3:1: no (badrule)\n\tos.Get(1)\n", 1)
        for n in range(2)
    ]
    pattern = only(mined(*sessions), FrictionKind.DIAGNOSTIC)
    assert (pattern.sentence, pattern.title) == (None, "`lint run` reports `badrule` in `.go` files")


def test_a_check_that_is_mended_by_an_edit_gives_no_rule_about_the_command() -> None:
    sessions = [
        Session(f"s{n}", day=n)
        .prompt("go")
        .bash("make test", f"FAIL {n}", 1)
        .edit("a.go", "x", f"y{n}")
        .bash("make test -v")
        for n in range(3)
    ]
    found = mined(*sessions)
    assert [p for p in (*found.patterns, *found.rare) if p.friction is not FrictionKind.REFUSAL] == []


def test_a_compiler_message_that_an_edit_mends_heals_itself() -> None:
    sessions = []
    for n in range(2):
        session = Session(f"s{n}", day=n).prompt("go").edit("a.go", "x", "y")
        session.bash("build it", f"a.go:3:1: undefined: name{n}", 1).edit("a.go", "y", "z")
        sessions.append(session)
    pattern = only(mined(*sessions), FrictionKind.DIAGNOSTIC)
    assert (pattern.self_healing, pattern.signature) == (True, "~undefined: _")


# content


def test_a_name_that_is_written_and_replaced_again_is_a_rule_where_that_is_the_rule() -> None:
    def rewriting(n: int) -> Session:
        session = Session(f"s{n}", day=n).prompt("go").edit("a.py", "pass", f"return old_helper({n})")
        return session.read("b.py").edit("a.py", f"return old_helper({n})", f"return new_helper({n})")

    found = mined(*(rewriting(n) for n in range(3)))
    assert only(found, FrictionKind.CONTENT).sentence == DoNotWrite(".py", "old_helper", "new_helper")
    kept = [Session(f"k{n}", day=n).prompt("go").edit("a.py", "pass", f"old_helper({n}, 1)") for n in range(10)]
    assert mined(*(rewriting(n) for n in range(3)), *kept).patterns == ()


def test_a_line_that_a_check_had_named_is_the_checks_alone() -> None:
    found = mined(linted(0, "a := os.Open(1)", "a := os.Fetch(1)"), linted(1, "b := os.Open(2)", "b := os.Fetch(2)"))
    assert of_kind(found, FrictionKind.CONTENT) == []


def test_lines_that_stood_there_before_are_not_the_agents() -> None:
    sessions = [
        Session(f"s{n}", day=n).prompt("go").read("a.py").edit("a.py", "old_helper(1)", "new_helper(1)")
        for n in range(3)
    ]
    assert of_kind(mined(*sessions), FrictionKind.CONTENT) == []


# facts: paths


def test_a_folder_is_named_once_whatever_is_looked_for_in_it() -> None:
    found = mined(
        Session("a", day=0).prompt("go").grep("x", "src/cmd", "Path does not exist: src/cmd", "error"),
        Session("b", day=1).prompt("go").read("src/cmd/run.py", GONE, "error"),
        Session("c", day=2).prompt("go").read("src/main.py"),
    )
    pattern = only(found, FrictionKind.FACT)
    assert pattern.sentence == DoNotLookUnder("src/cmd")
    assert pattern.title == "`src/cmd` does not exist and is looked for again"


def test_a_search_that_finds_nothing_counts_once_it_was_said_that_nothing_is_there() -> None:
    def looking(name: str, day: int) -> Session:
        return Session(name, day=day).prompt("go").grep("x", "src/cmd", "No matches found")

    said = Session("b", day=1).prompt("go").grep("x", "src/cmd", "Path does not exist", "error")
    found = mined(looking("a", 0), said, looking("c", 2))
    assert only(found, FrictionKind.FACT).sessions == ("b", "c")
    assert mined(looking("a", 0), looking("c", 2)).frictions == ()


def test_two_missing_files_do_not_make_a_folder_missing_in_which_others_are() -> None:
    found = mined(
        Session("a", day=0).prompt("go").read("src/lib/a.py", GONE, "error"),
        Session("b", day=1).prompt("go").read("src/lib/b.py", GONE, "error").read("src/lib/c.py"),
    )
    assert found.patterns == ()


def test_a_path_that_is_mostly_found_is_no_fact() -> None:
    there = [Session(f"t{n}", day=n).prompt("go").read("src/a.py") for n in range(4)]
    gone = [Session(f"g{n}", day=n).prompt("go").read("src/a.py", GONE, "error") for n in range(2)]
    assert of_kind(mined(*there, *gone), FrictionKind.FACT) == []


def test_a_folder_that_was_there_once_is_gone_when_it_has_been_missed_ever_since() -> None:
    early = [Session(f"e{n}", day=n).prompt("go").read("src/cmd/a.py").read("src/cmd/b.py") for n in range(3)]
    later = [
        Session(f"l{n}", day=5 + n).prompt("go").grep("x", "src/cmd", "Path does not exist", "error") for n in range(2)
    ]
    assert only(mined(*early, *later), FrictionKind.FACT).sentence == DoNotLookUnder("src/cmd")


def test_a_file_that_is_then_written_was_not_looked_for_in_vain() -> None:
    session = Session("s").prompt("go").read("a.py", GONE, "error").read("a.py", GONE, "error").write("a.py", "x")
    assert mined(session).frictions == ()
    session.read("b.py", GONE, "error")
    assert [f.signature for f in mined(session).frictions] == ["path:b.py"]


def test_another_ending_that_works_is_the_file() -> None:
    sessions = [
        Session(f"s{n}", day=n).prompt("go").read("conf.yml", GONE, "error").read(f"x{n}").read("conf.yaml")
        for n in range(2)
    ]
    pattern = only(mined(*sessions), FrictionKind.FACT)
    assert pattern.sentence == FileIs("conf.yaml", "conf.yml")
    assert (pattern.self_healing, pattern.stake.actions) == (False, 4)


def test_an_error_that_names_the_file_and_is_mended_at_once_heals_itself() -> None:
    sessions = [
        Session(f"s{n}", day=n)
        .prompt("go")
        .read("conf.yml", f"{GONE} Did you mean conf.yaml?", "error")
        .read("conf.yaml")
        for n in range(2)
    ]
    assert only(mined(*sessions), FrictionKind.FACT).self_healing


def test_a_path_that_only_a_tool_named_fills_no_slot() -> None:
    sessions = [
        Session(f"s{n}", day=n).prompt("go").read("conf.yml", f"{GONE} Did you mean conf.yaml?", "error")
        for n in range(2)
    ]
    assert only(mined(*sessions), FrictionKind.FACT).sentence == DoNotLookUnder("conf.yml")


def test_a_path_that_a_command_missed_is_seen_too() -> None:
    sessions = [
        Session(f"s{n}", day=n)
        .prompt("go")
        .bash("cat src/old/a.txt", "cat: src/old/a.txt: No such file or directory", 1)
        for n in range(2)
    ]
    assert only(mined(*sessions), FrictionKind.FACT).sentence == DoNotLookUnder("src/old/a.txt")


# facts: commands


def test_an_option_that_is_called_unknown_is_dropped() -> None:
    for said in ("unknown flag: --fast", "error: unrecognized option '--fast'", "error: unknown option `fast'"):
        sessions = [
            Session(f"s{n}", day=n).prompt("go").bash(f"cd x && tool run --fast {n}", said, 2).bash(f"tool run {n}")
            for n in range(2)
        ]
        assert only(mined(*sessions), FrictionKind.FACT).sentence == DropFlag("tool run", "--fast"), said


def test_an_argument_that_it_works_with_is_needed() -> None:
    sessions = [
        Session(f"s{n}", day=n).prompt("go").bash(f"tool run {n}", "no", 1).bash(f"tool run {n} --all")
        for n in range(2)
    ]
    assert only(mined(*sessions), FrictionKind.FACT).sentence == AddFlag("tool run", "--all")


def test_an_edit_in_between_or_a_pipe_behind_teaches_nothing() -> None:
    edited = [
        Session(f"s{n}", day=n).prompt("go").bash("tool run", "no", 1).edit("a", "b", "c").bash("tool run --all")
        for n in range(2)
    ]
    piped = [
        Session(f"p{n}", day=n).prompt("go").bash("tool run", "no", 1).bash("tool run --all | tail -3")
        for n in range(2)
    ]
    assert of_kind(mined(*edited), FrictionKind.FACT) == of_kind(mined(*piped), FrictionKind.FACT) == []


def test_another_program_that_works_is_the_one_to_use() -> None:
    sessions = [
        Session(f"s{n}", day=n).prompt("go").bash("pip list", "command not found: pip", 127).bash("pip3 list")
        for n in range(2)
    ]
    assert only(mined(*sessions), FrictionKind.FACT).sentence == Use("pip3", "pip")


def test_a_program_that_is_not_there_is_not_to_be_run() -> None:
    sessions = [
        Session(f"s{n}", day=n).prompt("go").bash("pip list", "sh: pip: command not found", 127) for n in range(2)
    ]
    assert only(mined(*sessions), FrictionKind.FACT).sentence == DoNotRun("pip")


def test_a_command_that_works_after_another_wants_it_first() -> None:
    sessions = [
        Session(f"s{n}", day=n)
        .prompt("go")
        .bash("tool test", "no", 1)
        .bash("ls")
        .bash("tool install")
        .bash("tool test")
        for n in range(2)
    ]
    assert only(mined(*sessions), FrictionKind.FACT).sentence == RunBefore("tool test", "tool install")


def test_a_mere_look_in_between_is_not_what_made_it_work() -> None:
    sessions = [
        Session(f"s{n}", day=n).prompt("go").bash("tool test", "no", 1).bash("git status").bash("tool test")
        for n in range(2)
    ]
    assert of_kind(mined(*sessions), FrictionKind.FACT) == []


def test_an_alternative_stands_within_the_next_eight_actions() -> None:
    def apart(steps: int) -> list[Friction]:
        sessions = []
        for n in range(2):
            session = Session(f"s{n}", day=n).prompt("go").bash("tool run", "no", 1)
            for i in range(steps):
                session.read(f"f{i}")
            sessions.append(session.bash("tool run --all"))
        return of_kind(mined(*sessions), FrictionKind.FACT)

    assert len(apart(7)) == 2
    assert apart(8) == []


# tools, interrupts


def test_an_edit_of_an_unread_file_heals_itself_by_reading() -> None:
    sessions = []
    for n in range(2):
        session = Session(f"s{n}", day=n).prompt("go").edit("a.py", "x", "y", "File has not been read yet.", "error")
        sessions.append(session.read("a.py").edit("a.py", "x", "y"))
    pattern = only(mined(*sessions), FrictionKind.TOOL)
    assert (pattern.sentence, pattern.self_healing) == (ReadBeforeEdit(), True)


def test_what_was_read_is_forgotten_when_the_conversation_is_compacted() -> None:
    def failing(*, compacted: bool) -> str:
        session = Session("s").prompt("go").read("a.py")
        if compacted:
            session.compaction()
        session.edit("a.py", "x", "y", "String not found", "error")
        return only(mined(session), FrictionKind.TOOL).signature

    assert failing(compacted=False) != failing(compacted=True) == "edit:unread"


def test_what_failed_because_a_sibling_failed_is_set_aside() -> None:
    session = Session("s").prompt("go").call("Bash", {"command": "x"}, "Sibling tool call errored", "cascade")
    assert mined(session).frictions == ()


def test_errors_are_grouped_by_the_shape_of_their_first_line() -> None:
    sessions = [
        Session(f"s{n}", day=n)
        .prompt("go")
        .read("a")
        .edit("a", "x", "y", f"Found {n} matches of 'v{n}'\nmore", "error")
        for n in (2, 3)
    ]
    pattern = only(mined(*sessions), FrictionKind.TOOL)
    assert (pattern.title, pattern.sentence) == ("An edit fails: `found _ matches of _`", None)


def test_an_interrupt_without_a_refusal_is_kept_with_what_the_person_said_next() -> None:
    found = mined(Session("s").prompt("go").bash("tool deploy").interrupt().prompt("not there"))
    pattern = only(found, FrictionKind.INTERRUPT)
    assert (pattern.title, pattern.reasons) == ("Interrupted by kim while running `tool deploy`", ("not there",))
    refused = mined(Session("s").prompt("go").refused("Bash", {"command": "tool deploy"}).interrupt().prompt("no"))
    assert of_kind(refused, FrictionKind.INTERRUPT) == []
