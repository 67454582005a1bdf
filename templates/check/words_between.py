"""A kind of check: the answer has so many words. In a task: {"kind": "words_between", "argument": [50, 200]}."""

from __future__ import annotations

from skillopt_sleep.checks import Answer, BadArgument, Kind, Rule


def read(argument: object) -> Rule:
    """Compile the argument, once for each task. `BadArgument` says what is wrong and what would be right."""
    match argument:
        case [int(least), int(most)] if 0 <= least <= most:
            pass
        case _:
            raise BadArgument("it is no pair of numbers", "It is [least, most], such as [50, 200]")

    def passes(answer: Answer) -> bool:
        return least <= len(answer.text.split()) <= most

    def failure(answer: Answer) -> str:
        # What a critic reads: a sentence and an example, never the argument itself.
        way = "short" if len(answer.text.split()) < least else "long"
        return f"The answer is too {way}. One of about {(least + most) // 2} words would pass."

    return Rule(passes, failure)


WORDS_BETWEEN = Kind(
    name="words_between",
    argument="pair of numbers",
    meaning="The answer has at least and at most so many words, as white space parts them.",
    example=[50, 200],
    read=read,
    shape_only=True,
)
