"""Lines of a skill that work against a failed check: a rule added below them is not obeyed while they stand.

A model of half a billion parameters cannot choose from a list: in whatever order the lines stood it named the first one
of them, or none (bench/RESULTS.md). So each line is a question by itself with two answers, and before it answers the
model says in a few words what complaint and line are about. What is offered, and how much may go, is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Final

from skillopt_core.asking import Complete, Prompt, ask
from skillopt_core.document import Document, Kind, parse, starts_list
from skillopt_core.prompting import clipped, default_prompts, filled, printable
from skillopt_core.replies import Unusable, read_text
from skillopt_core.types import Edit, Missing, Skill

MOST_LINES: Final = 12
"""Lines that are asked about, a complaint: about four seconds each on one thread."""
LONGEST_LINE: Final = 300
_SAID: Final = {"type": "string", "maxLength": 80}
SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"complaint": _SAID, "instruction": _SAID, "because": {"enum": ["yes", "no"]}},
    "required": ["complaint", "instruction", "because"],
    "additionalProperties": False,
}
_FORM: Final = 'in this form:\n{"complaint": "a few words", "instruction": "a few words", "because": "yes or no"}'
_SENTENCE: Final = re.compile(r"[^\W\d_]{2,}\W*\s.*[^\W\d_]{2,}", re.DOTALL)
_ENDED: Final = re.compile(r"[.!?:][\"'”’)*_`]*\s*$")


def removals(
    complete: Complete, skill: Skill, rules: Sequence[Edit], complaints: Sequence[str], most: int
) -> tuple[list[Edit], list[Missing]]:
    """At most `most` edits, each taking out one line that the model blames for a complaint, the best supported first.

    `complaints` are the texts that `rules` answer, one each; a removal has the support of all that blame its line.
    """
    if most < 1:
        return [], []
    template = (resources.files("skillopt_sleep.critics") / "prompts" / "line_against_check.md").read_text("utf-8")
    pairs = [(rule, text, line) for rule, text in zip(rules, complaints, strict=True) for line in offered(skill)]
    prompts = [
        Prompt(
            filled(template, {"check": text, "line": clipped(" ".join(printable(line).split()), LONGEST_LINE)}), SCHEMA
        )
        for _, text, line in pairs
    ]
    answers = ask(complete, prompts, _blamed, repair=default_prompts()["repair"], template=_FORM)
    gone: dict[str, Edit] = {}
    for (rule, _, line), answer in zip(pairs, answers, strict=True):
        if answer is True:
            before = gone[line].support if line in gone else frozenset[str]()
            gone[line] = Edit("delete", line, "", before | rule.support, why=f"works against: {rule.why}")
    ordered = sorted(gone.values(), key=lambda edit: -len(edit.support))
    return ordered[:most], [answer for answer in answers if isinstance(answer, Missing)]


def offered(skill: Skill) -> list[str]:
    """The lines that may be taken out, in order, without outer space: prose that may be edited and stands there once.

    A sentence that runs over several lines is one. Not the first one: it says what the skill is for. No headings,
    tables, comments, code, frontmatter or protected blocks.
    """
    passages = [passage for passage in _passages(parse(skill.text)) if _SENTENCE.search(passage)]
    return [passage for passage in passages[1:] if skill.text.count(passage) == 1][:MOST_LINES]


def _passages(page: Document) -> Iterator[str]:
    """Lines of prose, each with the lines that its sentence runs on into: half of one is not taken out."""
    start = end = 0
    for number, (line, kind) in enumerate(zip(page.lines, page.kinds, strict=True)):
        prose = kind is Kind.TEXT and line.strip() and not line.lstrip().startswith(("|", "<!--"))
        if start < end and (not prose or starts_list(line)):
            yield page.text[start:end].strip()
            start = end
        if prose:
            start, end = start if start < end else page.starts[number], page.end_of(number)
            if _ENDED.search(line):
                yield page.text[start:end].strip()
                start = end
    if start < end:
        yield page.text[start:end].strip()


def _blamed(reply: str) -> bool:
    answer = read_text(reply, "because")
    if answer not in {"yes", "no"}:
        raise Unusable('"because" is neither yes nor no')
    return answer == "yes"
