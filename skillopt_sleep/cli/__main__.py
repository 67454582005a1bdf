"""The entry point: runs one command and turns whatever it raises into one line and an exit code (cli.md)."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType

import typer

from skillopt_sleep.errors import SleepError, UsageError


class Terminated(BaseException):
    """SIGTERM: leave a resumable night and go."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    signal.signal(signal.SIGTERM, _terminate)
    raise SystemExit(run(argv))


def run(argv: list[str]) -> int:
    """One command, its exit code; every error is one line on stderr, or the error document with `--json`."""
    from skillopt_sleep.cli.commands import app

    try:
        code = app(argv, prog_name="skillopt-sleep", standalone_mode=False)
    except typer.Exit as leave:
        return leave.exit_code
    except typer.Abort:
        return 130
    except typer.TyperException as wrong:
        return _fail(UsageError(wrong.message, remedy=_help_for(argv)), argv)
    except SleepError as error:
        return _fail(error, argv)
    except KeyboardInterrupt:
        return _interrupted("interrupted", 130)
    except Terminated:
        return _interrupted("terminated", 143)
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as unexpected:  # noqa: BLE001  (the border of one request: a traceback must not reach a user)
        return _fail(_unexpected(unexpected, argv), argv)
    return code if isinstance(code, int) else 0


def _help_for(argv: list[str]) -> str:
    words = [word for word in argv[:2] if word.replace("-", "").isalpha() and not word.startswith("-")][:1]
    return f"See `{' '.join(['skillopt-sleep', *words, '--help'])}`"


def _fail(error: SleepError, argv: list[str]) -> int:
    from skillopt_sleep.cli.view import View

    View(as_json="--json" in argv).error(error)
    return error.exit_code


def _interrupted(word: str, code: int) -> int:
    from skillopt_sleep.cli.view import View

    View().note(f"{word}; `skillopt-sleep run --resume` goes on where it was")
    return code


def _unexpected(error: Exception, argv: list[str]) -> SleepError:
    """What we did not foresee: the traceback goes to the log, one line to the person."""
    import errno
    import sqlite3

    from skillopt_sleep.errors import StoreError
    from skillopt_sleep.log import log_unexpected

    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StoreError("the disk is full", where=str(error.filename or ""), remedy="Make room and run it again")
    if isinstance(error, (OSError, sqlite3.Error)):
        return StoreError(str(error), remedy="Run `skillopt-sleep doctor`")
    where = log_unexpected(error, argv)
    return SleepError(f"unexpected {type(error).__name__}: {error}", remedy=f"The traceback is in {where}")


if __name__ == "__main__":
    main()
