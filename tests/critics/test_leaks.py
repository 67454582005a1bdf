"""What would only be learnt by heart."""

from __future__ import annotations

import time

import pytest

from skillopt_sleep.critics.leaks import entities, own_entities, quoted

PROMPTS = [
    "Should we move Harbour Lights from Postgres to Mongo? Budget is 48,500 euros.",
    "Write the brief for ticket OPS-2231, which Dana opened.",
    'Decide whether "quiet mode" ships in May.',
    "Summarise the call with Ingrid at ingrid@acme.example.",
    "Plan the release of `acme-core`. Acme wants it on Friday.",
    "Plan the offsite of Acme. Keep it short.",
    "Plan the hiring at Acme. Keep it short.",
]
LITERALS = ("Key Risks:", "42", "yes", "Oslo")
OWN = own_entities(PROMPTS, "# Briefs\n\n- Mention Mongo where it matters.\n")


@pytest.mark.parametrize(
    "text",
    [
        "- Add the heading KEY  RISKS: at the end.",
        "- The answer is 42.",
        "- Answer with `yes`.",
        '- Say "Oslo".',
        "- For Harbour Lights, say no.",
        "- Postgres is the right choice.",
        "- With 48,500 euros, wait.",
        "- Read OPS-2231 first.",
        "- Ask Dana.",
        "- Never ship quiet mode.",
        "- Write to ingrid@acme.example.",
        "- Release `acme-core` first.",
    ],
)
def test_an_edit_that_gives_a_task_away_is_named(text: str) -> None:
    assert quoted(text, LITERALS, OWN)


@pytest.mark.parametrize(
    "text",
    [
        "- Name the risks under a heading of their own.",
        "- Use at most 420 words, and 4 or 2 headings.",
        "- Say yes or no in the first line.",
        "- Mention Mongo where it matters.",  # the skill says it
        "- Ask what Acme wants.",  # three of seven tasks do
        "- Write in Markdown, by Friday.",
        "- Should you doubt, decide. Write it down. Plan ahead.",
        "- Danas and Postgresql are other words.",
        "",
    ],
)
def test_a_general_rule_passes(text: str) -> None:
    assert quoted(text, LITERALS, OWN) == ""


def test_the_reason_says_which() -> None:
    assert quoted("- Ask Dana.", LITERALS, OWN) == "it names 'Dana', which is one task's own"
    assert quoted("- 42!", LITERALS) == "it quotes what a check looks for"


def test_the_first_word_of_a_sentence_is_no_name() -> None:
    assert entities("Compare Oslo and Bergen. Then decide.\nWrite it down: Maybe later.") == {"Oslo", "Bergen"}
    assert "Harbour Lights" in entities("Should Harbour Lights move?")


def test_hostile_prompts_take_no_time() -> None:
    began = time.process_time()
    for text in ("Aa " * 20_000, '"' * 20_000, "a1-" * 20_000, "`" * 20_000, "1," * 20_000, "a@b" * 20_000):
        entities(text)
    assert time.process_time() - began < 5
