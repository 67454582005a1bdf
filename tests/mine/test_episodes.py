from __future__ import annotations

from dataclasses import replace

from skillopt_sleep.domain.episodes import ActionOutcome
from skillopt_sleep.mine import episodes_of
from skillopt_sleep.mine.episodes import twin_of
from tests.mine.building import Session


def test_an_episode_is_a_prompt_and_all_that_follows_until_the_next() -> None:
    first, second = Session("s").prompt("one").read("a").read("b").prompt("two").read("c").episodes()
    assert (first.prompt, [a.paths for a in first.actions]) == ("one", [("a",), ("b",)])
    assert (first.correction, first.correction_event) == ("two", second.prompt_event)
    assert (second.prompt, second.correction, second.correction_event) == ("two", "", None)
    assert first.id != second.id


def test_what_was_done_before_any_prompt_is_an_episode_without_one() -> None:
    first, second = Session("s").read("a").prompt("go").episodes()
    assert (first.prompt, len(first.actions), second.prompt) == ("", 1, "go")


def test_a_session_without_prompts_and_calls_has_no_episodes() -> None:
    assert Session("s").answer().episodes() == ()


def test_a_slash_command_opens_an_episode_only_where_something_follows() -> None:
    session = Session("s").prompt("go").read("a")
    session._add("command", "person", text="/compact")
    session.answer()
    session._add("command", "person", text="/review")
    session.read("b")
    assert [e.prompt for e in session.episodes()] == ["go", "/review"]


def test_the_reason_of_a_refusal_is_what_was_handed_over_with_it() -> None:
    session = Session("s").prompt("go").refused("Bash", {"command": "git push"}, "not yet")
    (action,) = session.episodes()[0].actions
    assert (action.outcome, action.said) == (ActionOutcome.REFUSED, "not yet")
    assert action.said_event == session.events[-1].id


def test_a_plain_no_gets_the_next_words_as_its_reason() -> None:
    first, second = (
        Session("s").prompt("go").refused("Bash", {"command": "x"}).interrupt().prompt("too slow").episodes()
    )
    assert (first.actions[0].said, first.actions[0].said_event) == ("too slow", second.prompt_event)
    assert first.interrupted


def test_words_after_another_action_or_of_a_whole_page_are_no_reason() -> None:
    session = Session("s").prompt("go").refused("Bash", {"command": "x"}).read("a").prompt("thanks")
    assert session.episodes()[0].actions[0].said == ""
    session = Session("s").prompt("go").refused("Bash", {"command": "x"}).prompt("plan " * 500)
    assert session.episodes()[0].actions[0].said == ""


def test_what_was_typed_meanwhile_is_kept_with_its_row() -> None:
    session = Session("s").prompt("go").read("a").queued("and tests").read("b")
    (episode,) = session.episodes()
    assert episode.queued == ("and tests",)
    assert episode.queued_events == (next(e.id for e in session.events if e.kind == "queued"),)


def test_tokens_of_a_message_are_shared_among_its_calls_and_counted_once() -> None:
    session = Session("s").prompt("go")
    session.call("Read", {"file_path": "a"}, message="m", tokens=100).call(
        "Read", {"file_path": "b"}, message="m", tokens=100
    )
    (episode,) = session.episodes()
    assert [a.tokens for a in episode.actions] == [50, 50]
    assert episode.tokens == 100


def test_where_a_stream_recorded_too_little_the_length_of_what_was_written_counts() -> None:
    session = Session("s").prompt("go").call("Write", {"content": "x" * 4000}, message="m", tokens=1)
    session.answer("y" * 800, message="m")
    assert session.episodes()[0].tokens >= 1000 + 200


def test_the_person_is_told_from_the_home_that_the_work_lies_in() -> None:
    assert Session("s", person="kim").prompt("x").episodes()[0].person == "kim"
    for cwd, person in [("/Users/lee/x", "lee"), ("C:\\Users\\max\\x", "max"), ("/root/x", "root"), ("/srv/x", "")]:
        assert Session("s", cwd=cwd).prompt("x").episodes()[0].person == person


def test_sub_agents_and_our_own_replays_give_nothing() -> None:
    session = Session("s").prompt("go").read("a")
    stored = session.stored()
    assert episodes_of(replace(stored, origin="subagent")) == ()
    assert episodes_of(replace(stored, origin="own")) == ()
    inner = replace(stored.events[1], agent_id="helper")
    assert episodes_of(replace(stored, events=(stored.events[0], inner)))[0].actions == ()


def test_twins_are_told_by_their_prompt_without_case_and_spacing() -> None:
    a = "Please review pull request 17 of the team"
    assert twin_of(a) == twin_of("please  review pull\nrequest 17 of the TEAM ") != ""
    assert twin_of(a) != twin_of("Please review pull request 18 of the team")
    assert twin_of("yes") == twin_of("continue") == ""


def test_compactions_are_kept_by_their_place() -> None:
    session = Session("s").prompt("go").read("a").compaction().read("b")
    (episode,) = session.episodes()
    assert episode.actions[0].seq < episode.compacted[0] < episode.actions[1].seq
