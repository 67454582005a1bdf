"""Corpora with random names: frictions of every kind planted among the noise of ordinary work.

Nothing here is a real tool, flag, code or file: what the miner finds it finds by structure.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from skillopt_sleep.domain.frictions import FrictionKind, Pattern
from skillopt_sleep.domain.sentences import (
    AddFlag,
    AskBefore,
    DoNotLookUnder,
    DoNotRun,
    DoNotWrite,
    DropFlag,
    FileIs,
    ReadBeforeEdit,
    RunBefore,
    Sentence,
    Use,
)
from tests.mine.building import SHELLS, Session

SYLLABLES = tuple(a + b for a in "bdfgklmnprstvwxyz" for b in "aeiou")
CHECK_SHAPES = ("round", "square", "leading", "row", "label")


@dataclass(frozen=True)
class Planted:
    """A friction that was put in. `rule` tells whether a pattern's sentence is the one that it calls for."""

    kind: FrictionKind
    what: str
    rule: Callable[[Sentence | None], bool]

    def found_in(self, pattern: Pattern) -> bool:
        return pattern.friction is self.kind and self.rule(pattern.sentence) and len(pattern.sessions) >= 2


class Corpus:
    """Sessions of one project. `planted` is what must be found; whatever else is named is noise."""

    def __init__(self, seed: int, sessions: int = 48) -> None:
        self.random = random.Random(seed)
        self.taken: set[str] = set()
        self.programs = [self.name() for _ in range(6)]
        self.files = [f"{self.name()}/{self.name()}/{self.name()}.{self.ending()}" for _ in range(40)]
        self.common = [f"{self.name()}_{self.name()}" for _ in range(3)]
        self.planted: list[Planted] = []
        self.scenes: list[tuple[Callable[[Session], None], list[int]]] = []
        for plant in (
            self.refusal,
            self.diagnostic,
            self.diagnostic,
            self.diagnostic,
            self.content,
            self.content,
            self.missing_folder,
            self.wrong_ending,
            self.unknown_flag,
            self.needed_flag,
            self.must_come_first,
            self.works_instead,
            self.unread_edit,
            self.said_use,
            self.said_never,
        ):
            scene = plant()
            self.scenes.append((scene, self.random.sample(range(sessions), self.random.randint(4, 7))))
        self.sessions = [self.session(n) for n in range(sessions)]
        self.random.shuffle(self.sessions)

    def session(self, n: int) -> Session:
        session = Session(f"s{n:03}", day=n / 2, person="kim", agent=self.random.choice(tuple(SHELLS)))
        session.prompt(self.words(8))
        scenes = [scene for scene, where in self.scenes if n in where]
        self.random.shuffle(scenes)
        for scene in scenes:
            self.noise(session)
            scene(session)
        self.noise(session)
        return session

    # names

    def name(self, syllables: int = 3) -> str:
        """A word that was not used before."""
        while (word := "".join(self.random.choices(SYLLABLES, k=syllables))) in self.taken:
            pass
        self.taken.add(word)
        return word

    def words(self, n: int) -> str:
        return " ".join("".join(self.random.choices(SYLLABLES, k=2)) for _ in range(n))

    def ending(self) -> str:
        return self.random.choice(("py", "go", "ts", "rs", "rb"))

    def line(self) -> str:
        return f"{self.words(1)} = {self.words(1)}({self.random.randint(1, 99)})"

    # planted frictions: each registers what must be found and gives a scene to be played in several sessions

    def refusal(self) -> Callable[[Session], None]:
        program, sub = self.name(), self.name()
        start = f"{program} {sub}"
        self.planted.append(
            Planted(FrictionKind.REFUSAL, f"refused {start}", lambda s: isinstance(s, AskBefore) and s.x == start)
        )

        def scene(session: Session) -> None:
            reason = self.random.choice(("", "too slow", self.words(4)))
            session.refused("Bash", {"command": f"{start} {self.words(1)} 2>&1"}, reason)

        return scene

    def diagnostic(self) -> Callable[[Session], None]:
        check, ending = f"{self.name()} {self.name()}", self.ending()
        bad, good = f"{self.name()}.{self.name()}", f"{self.name()}.{self.name()}"
        shape = CHECK_SHAPES[sum(p.kind is FrictionKind.DIAGNOSTIC for p in self.planted) % len(CHECK_SHAPES)]
        code = f"{self.name()[:2].upper()}{self.random.randint(1000, 9999)}" if shape == "leading" else self.name()
        self.planted.append(
            Planted(
                FrictionKind.DIAGNOSTIC,
                f"{code} ({shape}) after {bad} in {ending}",
                lambda s: isinstance(s, DoNotWrite) and s.code == code and s.g == f".{ending}" and s.x in f"{bad}(",
            )
        )

        def scene(session: Session) -> None:
            path = f"{self.words(1)}/{self.words(1)}/{self.words(1)}.{ending}"
            line = f"{self.words(1)} = {bad}({self.random.randint(1, 99)})"
            session.read(path).edit(path, self.line(), f"{self.line()}\n{line}")
            session.bash(check, self.report(shape, path, code, line), 1)
            session.edit(path, line, line.replace(bad, good)).bash(check)

        return scene

    def report(self, shape: str, path: str, code: str, line: str) -> str:
        said = self.words(4)
        row = self.random.randint(1, 400)
        if shape == "row":
            return f"{path}\n  {row}:5  error  {said} `{line.split()[2].partition('(')[0]}`  {code}\n\n1 problem"
        if shape == "label":
            return f"error[{code}]: {said}\n --> {path}:{row}:7\n  |\n{row} | {line}\n  | ^^^"
        message = {"round": f"{said} ({code})", "square": f"error: {said} [{code}]", "leading": f"{code} {said}"}[shape]
        return f"{path}:{row}:5: {message}\n    {line}\n    ^\n1 found"

    def content(self) -> Callable[[Session], None]:
        ending, bad, good = self.ending(), f"{self.name()}_{self.name()}", f"{self.name()}_{self.name()}"
        self.planted.append(
            Planted(
                FrictionKind.CONTENT,
                f"{bad} becomes {good}",
                lambda s: isinstance(s, DoNotWrite) and s.x == bad and s.instead == good and s.g == f".{ending}",
            )
        )

        def scene(session: Session) -> None:
            path = f"{self.words(1)}/{self.words(1)}/{self.words(1)}.{ending}"
            line = f"{self.words(1)} = {bad}({self.random.randint(1, 99)})"
            session.read(path).edit(path, self.line(), line)
            self.noise(session)
            session.edit(path, line, line.replace(bad, good))

        return scene

    def missing_folder(self) -> Callable[[Session], None]:
        folder = f"{self.files[0].split('/')[0]}/{self.name()}"
        self.planted.append(Planted(FrictionKind.FACT, f"{folder} is not there", lambda s: s == DoNotLookUnder(folder)))

        def scene(session: Session) -> None:
            if self.random.random() < 0.5:
                session.grep(self.words(1), folder, f"Path does not exist: {folder}", "error")
            else:
                session.read(f"{folder}/{self.words(1)}.py", "File does not exist.", "error")

        return scene

    def wrong_ending(self) -> Callable[[Session], None]:
        name = self.name()
        wrong, right = f"{name}.{self.name(2)}", f"{name}.{self.name(2)}"
        self.planted.append(Planted(FrictionKind.FACT, f"{right}, not {wrong}", lambda s: s == FileIs(right, wrong)))

        def scene(session: Session) -> None:
            session.read(wrong, "File does not exist.", "error").read(right)

        return scene

    def unknown_flag(self) -> Callable[[Session], None]:
        start, flag = f"{self.name()} {self.name()}", f"--{self.name()}-{self.name(2)}"
        said = self.random.choice(("unknown flag: {}", "error: unrecognized option '{}'", "no such option: {}"))
        self.planted.append(Planted(FrictionKind.FACT, f"{start} has no {flag}", lambda s: s == DropFlag(start, flag)))

        def scene(session: Session) -> None:
            rest = f"./{self.words(1)}"
            session.bash(f"{start} {flag} {rest}", said.format(flag), 2).bash(f"{start} {rest}")

        return scene

    def needed_flag(self) -> Callable[[Session], None]:
        start, flag = f"{self.name()} {self.name()}", f"--{self.name()}"
        self.planted.append(Planted(FrictionKind.FACT, f"{start} needs {flag}", lambda s: s == AddFlag(start, flag)))

        def scene(session: Session) -> None:
            rest = self.words(1)
            session.bash(f"{start} {rest}", f"{self.words(3)}", 1).bash(f"{start} {rest} {flag}")

        return scene

    def must_come_first(self) -> Callable[[Session], None]:
        start, first = f"{self.name()} {self.name()}", f"{self.name()} {self.name()}"
        self.planted.append(Planted(FrictionKind.FACT, f"{first} first", lambda s: s == RunBefore(start, first)))

        def scene(session: Session) -> None:
            session.bash(start, self.words(5), 1).bash(first).bash(start)

        return scene

    def works_instead(self) -> Callable[[Session], None]:
        wrong, right, sub = self.name(), self.name(), self.name()
        self.planted.append(Planted(FrictionKind.FACT, f"{right}, not {wrong}", lambda s: s == Use(right, wrong)))

        def scene(session: Session) -> None:
            session.bash(f"{wrong} {sub}", f"sh: {wrong}: command not found", 127).bash(f"{right} {sub}")

        return scene

    def unread_edit(self) -> Callable[[Session], None]:
        self.planted.append(Planted(FrictionKind.TOOL, "edited unread", lambda s: s == ReadBeforeEdit()))

        def scene(session: Session) -> None:
            path = f"{self.words(1)}/{self.words(2).replace(' ', '/')}.py"
            old, new = self.line(), self.line()
            session.edit(path, old, new, "File has not been read yet. Read it first.", "error")
            session.read(path).edit(path, old, new)

        return scene

    def said_use(self) -> Callable[[Session], None]:
        right, wrong = self.name(), self.name()
        self.planted.append(
            Planted(FrictionKind.CORRECTION, f"use {right} not {wrong}", lambda s: s == Use(right, wrong))
        )

        def scene(session: Session) -> None:
            session.bash(f"{wrong} {self.words(1)}")
            said = self.random.choice(("use {} not {}", "Please use `{}` instead of `{}`.", "no, use {}, not {}"))
            session.prompt(said.format(right, wrong))

        return scene

    def said_never(self) -> Callable[[Session], None]:
        start = f"{self.name()} {self.name()}"
        self.planted.append(Planted(FrictionKind.CORRECTION, f"never {start}", lambda s: s == DoNotRun(start)))

        def scene(session: Session) -> None:
            session.bash(f"{start} {self.words(1)}")
            session.prompt(
                self.random.choice((f"never run `{start}`", f"Don't run {start}.", f"ok, but never run {start}"))
            )

        return scene

    # noise

    def noise(self, session: Session) -> None:
        """A few steps of ordinary work: most succeed; what fails does so in its own way each time."""
        for _ in range(self.random.randint(2, 5)):
            self.random.choice(self.ordinary())(session)

    def ordinary(self) -> list[Callable[[Session], object]]:
        usual: list[Callable[[Session], object]] = [
            lambda s: s.read(self.random.choice(self.files)),
            lambda s: s.grep(self.words(1), self.random.choice(self.files).rpartition("/")[0]),
            lambda s: s.bash(f"{self.random.choice(self.programs)} {self.words(1)}", self.words(6)),
            self.plain_edit,
        ]
        odd: list[Callable[[Session], object]] = [
            self.failing_check,
            lambda s: s.bash(f"{self.random.choice(self.programs)} {self.words(1)}", self.words(6), 1),
            lambda s: s.read(f"{self.words(1)}/{self.words(1)}.py", "File does not exist.", "error"),
            lambda s: s.grep(self.words(1), self.random.choice(self.files).rpartition("/")[0], "No matches found"),
            lambda s: s.refused("Bash", {"command": f"{self.words(2)} --{self.words(1)}"}, self.words(5)),
            lambda s: s.prompt(self.words(self.random.randint(4, 12))),
            lambda s: s.prompt(f"don't {self.words(3)}"),
            self.renaming,
            self.flaky,
            self.failing_tests,
            self.new_file,
            self.pasted,
            self.hidden_failure,
            self.second_thoughts,
            self.mended_and_rerun,
            self.asked,
            lambda s: s.bash(f"{self.random.choice(self.programs)} {self.words(1)}").interrupt().prompt(self.words(4)),
        ]
        return usual * 6 + odd

    def plain_edit(self, session: Session) -> None:
        path = self.random.choice(self.files)
        session.read(path).edit(path, self.line(), f"{self.line()}\n{self.random.choice(self.common)}({self.words(1)})")

    def failing_check(self, session: Session) -> None:
        """A check that fails once with a code of its own and is mended by an edit."""
        path, line, program = self.random.choice(self.files), self.line(), self.random.choice(self.programs)
        shape = self.random.choice(("round", "square", "label"))
        session.read(path).edit(path, self.line(), line)
        session.bash(f"{program} check", self.report(shape, path, self.name(), line), 1)
        session.edit(path, line, self.line()).bash(f"{program} check")

    def renaming(self, session: Session) -> None:
        """Ordinary work: a name is chosen anew, once."""
        path, old, new = self.random.choice(self.files), self.name(), self.name()
        session.read(path).edit(path, self.line(), f"{old} = {self.words(1)}(1)")
        session.edit(path, f"{old} = ", f"{new} = ")

    def flaky(self, session: Session) -> None:
        """The same command fails and works: nothing follows from what was looked at in between."""
        command = f"{self.random.choice(self.programs)} {self.words(1)}"
        session.bash(command, self.words(5), 1).bash("git status").read(self.random.choice(self.files)).bash(command)

    def failing_tests(self, session: Session) -> None:
        """Tests fail, an edit mends them: the check did its work."""
        command = f"{self.random.choice(self.programs)} test"
        session.bash(command, f"FAIL {self.words(2)}\n1 failed", 1)
        self.plain_edit(session)
        session.bash(command, "all passed")

    def new_file(self, session: Session) -> None:
        """A file is looked for, is not there, and is written."""
        path = f"{self.random.choice(self.files).rpartition('/')[0]}/{self.random.choice(SYLLABLES)}_new.py"
        session.read(path, "File does not exist.", "error").write(path, self.line())

    def pasted(self, session: Session) -> None:
        """A document in a prompt: its rules are not the person's words to the agent."""
        listed = "\n".join(
            f"- never {self.words(3)}\n- always use {self.words(1)} not {self.words(1)}" for _ in range(3)
        )
        session.prompt(f"# Plan\n\n{self.words(9)}\n\n## Rules\n\n{listed}")

    def hidden_failure(self, session: Session) -> None:
        """A pipe hides the exit: that the second run "worked" shows nothing."""
        program, word = self.random.choice(self.programs), self.words(1)
        session.bash(f"{program} {word}", self.words(4), 1)
        session.bash(f"{program} {word} --{self.random.choice(SYLLABLES)}xx 2>&1 | tail -5 || true", self.words(3))

    def second_thoughts(self, session: Session) -> None:
        """A name that mostly stays is now and then replaced by another one that mostly stays."""
        path, line = self.random.choice(self.files), f"{self.words(1)} = {self.common[0]}(1)"
        session.read(path).edit(path, self.line(), line).edit(path, line, line.replace(self.common[0], self.common[1]))

    def mended_and_rerun(self, session: Session) -> None:
        """A check fails, an edit mends it, and it is run again with another option: the option did nothing."""
        program = self.random.choice(self.programs)
        session.bash(f"{program} build", f"{self.words(3)} failed", 1)
        self.plain_edit(session)
        session.bash(f"{program} build --verbose")

    def asked(self, session: Session) -> None:
        """Questions are no rules."""
        session.prompt(f"don't we use {self.programs[0]} not {self.programs[1]} here?")
