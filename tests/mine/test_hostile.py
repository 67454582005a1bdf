"""What a hostile or merely huge transcript costs: time grows with its length and not with its square."""

from __future__ import annotations

import random
import time
import tracemalloc

import pytest

from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.mine import mine
from tests.mine.building import Session, episodes_in


def seconds(episodes: list[Episode]) -> float:
    began = time.process_time()
    mine(episodes)
    return time.process_time() - began


def equal_errors() -> list[Session]:
    session = Session("s").prompt("go")
    for _ in range(10_000):
        session.edit("a.py", "x", "y", "String not found", "error")
    return [session]


def equal_misses() -> list[Session]:
    sessions = [Session(f"s{n}", day=n).prompt("go") for n in range(10)]
    for n in range(10_000):
        sessions[n % 10].read(f"src/{n}/deep/er/x.py", "File does not exist.", "error")
    return sessions


def equal_findings() -> list[Session]:
    sessions = []
    for n in range(10):
        session = Session(f"s{n}", day=n).prompt("go")
        for i in range(30):
            line = f"value = thing.call({i}, other, more, words, here, and, on, it, goes)"
            session.edit("a.go", "x", "\n".join(f"{line} # {k}" for k in range(40)))
            session.bash("lint", "\n".join(f"a.go:{k}:1: no (rule)\n    {line} # {k}" for k in range(40)), 1)
            session.edit("a.go", f"{line} # 3", f"{line} # mended")
        sessions.append(session)
    return sessions


def long_prompts() -> list[Session]:
    rng = random.Random(3)
    sessions = []
    for n in range(120):
        words = " ".join(
            rng.choice(("never use", "always", "don't run", "before", "x" * 9, f"w{n}")) for _ in range(12_000)
        )
        sessions.append(Session(f"s{n}", day=n).prompt(words[:100_000]).read("a"))
    return sessions


def odd_commands() -> list[Session]:
    session = Session("s").prompt("go")
    for n in range(60):
        session.bash("$(" * 900 + f"x{n}", "no", 1).bash("a && " * 700 + "b", "no", 1).bash("'" * 3000, "no", 1)
    return [session]


def rewritten_lines() -> list[Session]:
    sessions = []
    for n in range(6):
        session = Session(f"s{n}", day=n).prompt("go")
        text = "\n".join(f"line_{k} = {n}" for k in range(200))
        for i in range(60):
            changed = text.replace("line_", f"row{i}_")
            session.edit("a.py", text, changed)
            text = changed
        sessions.append(session)
    return sessions


@pytest.mark.parametrize(
    "made", [equal_errors, equal_misses, equal_findings, long_prompts, odd_commands, rewritten_lines]
)
def test_nothing_grows_with_the_square(made: object) -> None:
    assert seconds(episodes_in(made())) < 8  # type: ignore[operator]


@pytest.fixture(scope="module")
def thirteen_thousand() -> list[Episode]:
    rng = random.Random(7)
    sessions = []
    for n in range(200):
        session = Session(f"s{n:03}", day=n / 5, person=rng.choice(("kim", "lee")))
        for i in range(74):
            if i % 9 == 0:
                session.prompt(" ".join(rng.choices("fix the test of that thing and make it go now".split(), k=9)))
            else:
                at_work(session, rng)
        sessions.append(session)
    return episodes_in(sessions)


def at_work(session: Session, rng: random.Random) -> None:
    path = f"pkg/{rng.randint(1, 30)}/f{rng.randint(1, 40)}.py"
    match rng.randint(0, 5):
        case 0:
            session.read(path)
        case 1:
            session.grep("x", path, "No matches found")
        case 2:
            session.bash(f"tool {rng.choice('abc')} {path}", f"{path}:3:1: bad (code{rng.randint(1, 9)})", 1)
        case 3:
            session.bash(f"tool {rng.choice('abc')} {path} --x{rng.randint(1, 9)}")
        case _:
            lines = [f"v{rng.randint(1, 99)} = call{rng.randint(1, 99)}({k})" for k in range(30)]
            session.edit(path, lines[0], "\n".join(lines))


def test_thirteen_thousand_actions_take_less_than_ten_seconds(thirteen_thousand: list[Episode]) -> None:
    assert sum(len(e.actions) for e in thirteen_thousand) >= 12_900
    assert seconds(thirteen_thousand) < 10


@pytest.mark.slow
def test_thirteen_thousand_actions_take_little_memory(thirteen_thousand: list[Episode]) -> None:
    tracemalloc.start()
    mine(thirteen_thousand)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300_000_000
