"""The entry point: runs one command and turns whatever it raises into one line and an exit code (cli.md)."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Final

from skillopt_sleep.cli import overview, streams
from skillopt_sleep.store.interrupts import interrupt

if TYPE_CHECKING:
    from skillopt_sleep.errors import SleepError


RESUMES: Final[Mapping[str, str]] = {
    "run": "`skillopt-sleep run` goes on where it was",
    "train": "The same command goes on where it was",
}
"""What to do after an interruption, by command."""


class Ended(BaseException):
    """SIGTERM: leave a resumable night and go."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not end the tidying up
    interrupt(Ended())


def _break(_number: int, _frame: FrameType | None) -> None:
    interrupt(KeyboardInterrupt())


def _listen() -> None:
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in the background of a shell
        signal.signal(signal.SIGINT, _break)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    streams.last()
    _listen()
    code = run(argv)
    raise SystemExit(streams.settle(code, told=code != 0 and "--json" not in argv))


def run(argv: list[str]) -> int:
    """One command, its exit code; every error is one line on stderr, or the error document with `--json`."""
    if (said := overview.answer(argv)) is not None:
        sys.stdout.write(said)
        return 0
    if (wrong := overview.wrong(argv)) is not None:
        return _misused(wrong, argv)
    return _called(argv)


def _called(argv: list[str]) -> int:
    import typer

    from skillopt_sleep.cli.commands import app, register
    from skillopt_sleep.errors import Interrupted, SleepError, Terminated

    resume = RESUMES.get(argv[0], "")
    try:
        register(argv[0])
        code = app(argv, prog_name="skillopt-sleep", standalone_mode=False)
    except typer.Exit as leave:
        code = leave.exit_code
    except typer.TyperException as wrong:
        return _fail(_misuse(wrong, argv), argv)
    except SleepError as error:
        return _fail(error, argv)
    except (KeyboardInterrupt, typer.Abort):
        code = Interrupted.exit_code
    except Ended:
        return _fail(Terminated("ended by the system", remedy=resume), argv)
    except Exception as unexpected:  # noqa: BLE001  (the border of one request: a traceback must not reach a user)
        return _fail(_unexpected(unexpected, argv), argv)
    if code == Interrupted.exit_code:  # typer has its own way with ctrl-C
        return _fail(Interrupted("interrupted", remedy=resume), argv)
    return code if isinstance(code, int) else 0


def _misused(wrong: tuple[str, str], argv: list[str]) -> int:
    from skillopt_sleep.errors import UsageError

    if not argv:
        sys.stderr.write(overview.overview())
        return UsageError.exit_code
    return _fail(UsageError(wrong[0], remedy=wrong[1]), argv)


def _misuse(wrong: Exception, argv: list[str]) -> SleepError:
    """What typer says of an option or argument, in our form: where, what, and what would be right."""
    from skillopt_sleep.errors import UsageError

    said = str(getattr(wrong, "message", wrong)).replace("Input should", "should").rstrip(".") or "is missing"
    parameter, value = getattr(wrong, "param", None), ""
    names = [*parameter.opts, parameter.metavar] if parameter is not None else [""]
    where = next((name for name in names if name and name.startswith("-")), names[-1] or "")
    if where in argv[:-1]:
        value = f"{argv[argv.index(where) + 1]!r} "
    return UsageError(value + said, where=where, remedy=f"See `skillopt-sleep {argv[0]} --help`")


def _fail(error: SleepError, argv: list[str]) -> int:
    """Say it, if there is still somebody to say it to."""
    from contextlib import suppress

    from skillopt_sleep.cli.view import View

    with suppress(OSError):  # told at the end
        View(as_json="--json" in argv).error(error)
    return error.exit_code


def _unexpected(error: Exception, argv: list[str]) -> SleepError:
    """What we did not foresee: the traceback goes to the log, one line to the person."""
    import errno
    import sqlite3

    from skillopt_sleep.errors import SleepError, StoreError
    from skillopt_sleep.log import log_unexpected

    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StoreError("the disk is full", where=str(error.filename or ""), remedy="Make room and run it again")
    if isinstance(error, OSError) and error.strerror:
        return StoreError(error.strerror.lower(), where=str(error.filename or ""), remedy="Run `skillopt-sleep doctor`")
    if isinstance(error, (OSError, sqlite3.Error)):
        return StoreError(str(error), remedy="Run `skillopt-sleep doctor`")
    try:
        where = f"The traceback is in {log_unexpected(error, argv)}"
    except (OSError, SleepError) as unwritten:
        where = f"Its traceback could not be kept: {unwritten}"
    return SleepError(f"unexpected {type(error).__name__}: {error}", remedy=where)


if __name__ == "__main__":
    main()
