from __future__ import annotations

import json

import pytest

from skillopt_sleep.domain.episodes import Action, ActionKind, ActionOutcome
from skillopt_sleep.domain.sessions import StoredEvent
from skillopt_sleep.mine.actions import actions_of, kind_of
from skillopt_sleep.mine.places import Places

ROOT = "/home/kim/work/app"


def acts(tool: str, arguments: object, *, outcome: str = "ok", text: str = "", head: str = "x") -> tuple[Action, ...]:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    event = StoredEvent(7, "s", 3, "call", "agent", 5, text, "c", tool, given, outcome, head=head)
    return actions_of(event, Places(ROOT))


def act(tool: str, arguments: object, *, outcome: str = "ok", text: str = "", head: str = "x") -> Action:
    (action,) = acts(tool, arguments, outcome=outcome, text=text, head=head)
    return action


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("Bash", ActionKind.COMMAND),
        ("exec_command", ActionKind.COMMAND),
        ("local_shell", ActionKind.COMMAND),
        ("run_in_terminal", ActionKind.COMMAND),
        ("copilot_runInTerminal", ActionKind.COMMAND),
        ("powershell", ActionKind.COMMAND),
        ("MultiEdit", ActionKind.EDIT),
        ("NotebookEdit", ActionKind.EDIT),
        ("str_replace", ActionKind.EDIT),
        ("copilot_multiReplaceString", ActionKind.EDIT),
        ("apply_patch", ActionKind.EDIT),
        ("vscode_editFile_internal", ActionKind.EDIT),
        ("Write", ActionKind.WRITE),
        ("create", ActionKind.WRITE),
        ("copilot_createFile", ActionKind.WRITE),
        ("view", ActionKind.READ),
        ("copilot_readFile", ActionKind.READ),
        ("Grep", ActionKind.SEARCH),
        ("copilot_findTextInFiles", ActionKind.SEARCH),
        ("Glob", ActionKind.LIST),
        ("copilot_listDirectory", ActionKind.LIST),
        ("LS", ActionKind.LIST),
        ("TodoWrite", ActionKind.OTHER),
        ("mcp__tracker__create_issue", ActionKind.OTHER),
    ],
)
def test_a_tool_is_known_by_its_name_in_any_agent(tool: str, kind: ActionKind) -> None:
    assert kind_of(tool) is kind


def test_the_same_command_reads_alike_from_every_agent() -> None:
    wanted = "go vet ./..."
    given = [
        ("Bash", {"command": wanted}),
        ("shell", {"command": ["bash", "-lc", wanted], "workdir": ROOT}),
        ("exec_command", {"cmd": wanted, "workdir": ROOT}),
        ("bash", {"command": wanted, "description": "vet"}),
        ("run_in_terminal", {"command": wanted, "isBackground": False}),
    ]
    assert {act(tool, arguments).command for tool, arguments in given} == {wanted}


def test_words_of_a_command_are_joined_as_a_shell_would_read_them_back() -> None:
    assert act("shell", {"command": ["git", "commit", "-m", "two words"]}).command == "git commit -m 'two words'"


def test_a_working_folder_below_the_project_stands_before_the_command() -> None:
    assert act("exec_command", {"cmd": "make", "workdir": f"{ROOT}/sub dir"}).command == "cd 'sub dir' && make"


def test_paths_below_the_project_are_relative_and_homes_nameless() -> None:
    assert act("Read", {"file_path": f"{ROOT}/a/b.py"}).paths == ("a/b.py",)
    assert act("Read", {"file_path": "/home/kim/notes.md"}).paths == ("~/notes.md",)
    assert act("copilot_readFile", {"filePath": f"file://{ROOT}/a/b.py"}).paths == ("a/b.py",)
    assert act("Bash", {"command": f"cat {ROOT}/a/b.py && ls {ROOT}"}).command == "cat a/b.py && ls ."


def test_a_sibling_folder_is_no_part_of_the_project() -> None:
    assert act("Read", {"file_path": f"{ROOT}-old/a.py"}).paths == ("~/work/app-old/a.py",)
    for other in (f"cat {ROOT}-old/a.py", f"cat /backup{ROOT}/a.py", f"cat .{ROOT}/a.py"):
        assert act("Bash", {"command": other}).command == other


def test_paths_of_a_command_lie_where_cd_led_to() -> None:
    assert act("Bash", {"command": "cd web && cat src/x.ts > out/y.txt 2>&1"}).paths == (
        "web/src/x.ts",
        "web/out/y.txt",
    )


def test_a_patch_is_one_edit_a_file() -> None:
    patch = f"""*** Begin Patch
*** Update File: {ROOT}/a.py
@@ def f():
 keep
-old
+new
*** Add File: b.py
+first
+second
*** Delete File: c.py
*** End Patch"""
    for tool, arguments in [
        ("apply_patch", patch),
        ("apply_patch", {"input": patch}),
        ("shell", {"command": ["apply_patch", patch]}),
    ]:
        edit, write, gone = acts(tool, arguments)
        assert (edit.kind, edit.paths, edit.old, edit.new) == (ActionKind.EDIT, ("a.py",), "keep\nold", "keep\nnew")
        assert (write.kind, write.paths, write.new) == (ActionKind.WRITE, ("b.py",), "first\nsecond")
        assert (gone.kind, gone.paths, gone.new) == (ActionKind.EDIT, ("c.py",), "")


def test_a_patch_in_a_heredoc_is_seen_too() -> None:
    command = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch\nEOF"
    assert act("exec_command", {"cmd": command}).kind is ActionKind.EDIT


def test_several_edits_of_one_call_are_one_content() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    action = act("MultiEdit", {"file_path": f"{ROOT}/a.py", "edits": edits})
    assert (action.old, action.new) == ("a\nc", "b\nd")


def test_arguments_that_were_cut_off_are_read_as_far_as_they_go() -> None:
    whole = json.dumps({"file_path": f"{ROOT}/a.py", "content": 'line "one"\n\ttwo and more'})
    action = act("Write", whole[:-8])
    assert action.paths == ("a.py",)
    assert action.new == 'line "one"\n\ttwo an'
    assert act("Write", whole[:-9]).new.startswith('line "one"')


def test_a_cut_command_line_of_words_keeps_its_script() -> None:
    whole = json.dumps({"command": ["bash", "-lc", "make check && make all the things"]})
    assert act("shell", whole[:-12]).command.startswith("make check && make all")


@pytest.mark.parametrize("arguments", ["", "{", "[1, 2", '{"file_path": 3}', "null", '"text"', '{"a": {"b": ' * 500])
def test_any_arguments_give_an_action(arguments: str) -> None:
    assert act("Read", arguments).kind is ActionKind.READ


@pytest.mark.parametrize("said", ["No files found", "No matches found", "Found 0 files", "0 results", ""])
def test_a_search_that_found_nothing_is_empty(said: str) -> None:
    assert act("Grep", {"pattern": "x", "path": ROOT}, head=said).empty
    assert act("Glob", {"pattern": "src/**"}, head=said).empty


def test_a_search_that_found_something_is_not_empty() -> None:
    assert not act("Grep", {"pattern": "x"}, head="Found 3 files\na.py").empty
    assert not act("Grep", {"pattern": "x"}, head="notes/no files.md").empty


def test_a_glob_looks_under_the_folder_before_its_first_wildcard() -> None:
    assert act("Glob", {"pattern": "src/cmd/*.ts"}).paths == ("src/cmd",)
    assert act("Glob", {"pattern": "**/*.ts"}).paths == ()


def test_the_exit_line_and_the_tags_around_a_message_are_not_its_own_words() -> None:
    assert act("Bash", {"command": "x"}, outcome="error", text="Exit code 2\nboom").output == "boom"
    text = "<tool_use_error>File does not exist.</tool_use_error>"
    assert act("Read", {"file_path": "a"}, outcome="error", text=text).output == "File does not exist."


def test_an_unknown_outcome_is_open() -> None:
    assert act("Read", {"file_path": "a"}, outcome="").outcome is ActionOutcome.OPEN


def test_a_call_took_at_least_what_its_own_text_takes() -> None:
    event = StoredEvent(7, "s", 3, "call", "agent", 5, tool="Write", arguments=json.dumps({"content": "x" * 4000}))
    assert actions_of(event, Places(ROOT), tokens=3)[0].tokens > 900
    assert actions_of(event, Places(ROOT), tokens=5000)[0].tokens == 5000


def test_a_worktree_counts_as_its_checkout() -> None:
    places = Places(f"{ROOT}/.worktrees/4")
    assert places.relative(f"{ROOT}/.worktrees/4/a.py") == "a.py"
    assert places.relative(f"{ROOT}/a.py") == "a.py"


def test_a_session_begun_in_a_sub_folder_is_seen_from_its_project() -> None:
    assert Places(ROOT, f"{ROOT}/web").relative(f"{ROOT}/web/a.py") == "web/a.py"


def test_windows_paths_are_relative_too() -> None:
    assert Places("C:\\Users\\kim\\app").relative("C:\\Users\\kim\\app\\src\\a.py") == "src/a.py"
    assert Places("C:\\Users\\kim\\app").relative("C:\\Users\\kim\\b.py") == "~/b.py"
