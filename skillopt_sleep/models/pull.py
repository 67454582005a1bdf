"""Getting a pinned model file: from its hub, another address, or a path; gone on with, checked, and whole or not there.

What comes is trusted for nothing but its digest: a file that is not the pinned one is thrown away.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from skillopt_sleep.errors import NotFound, SleepError
from skillopt_sleep.models.base import host_of
from skillopt_sleep.models.pinned import MODEL, Pin, pulled

BLOCK: Final = 1 << 20
TIMEOUT_S: Final = 60.0
"""Seconds without a byte after which a connection is given up; what has come stays, to be gone on with."""
_AGAIN: Final = "Run it again: it goes on where it ended"
_WEB: Final = ("http://", "https://")

Progress = Callable[[int, int], None]
"""Told of bytes so far, and of how many there are."""


def pull(folder: Path, source: str | None, progress: Progress, pin: Pin = MODEL) -> tuple[Path, int]:
    """Put the pinned model into `folder`, as a file that its owner alone can read; its path, and the bytes that came.

    `source` is an address (http, https) or a path, None the hub of the pin. What is there already is checked, and
    nothing asked for. Raises `NotFound` for a path that is not there, `SleepError` for all else that can go wrong:
    what stood at the path before then still stands there.
    """
    target = folder / pin.file
    if pulled(folder, pin) is not None and _holds(target, progress, pin):
        return target, 0
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = folder / f"{pin.file}.part"
        with _held(part) as file:
            if shutil.disk_usage(folder).free < pin.size - os.fstat(file.fileno()).st_size:
                raise SleepError("the disk has no room for it", where=str(folder), remedy=f"It has {pin.size} bytes")
            came = _fill(file, source or pin.url, progress, pin)
            if not _holds(part, progress, pin):
                part.unlink()
                raise SleepError(
                    f"what came is not {pin.name}: its digest is another, and it was thrown away",
                    where=shown(source or pin.url),
                    remedy="Try another --source",
                )
            os.fsync(file.fileno())
            part.replace(target)
    except OSError as error:
        raise SleepError(f"cannot be written: {error.strerror}", where=str(folder), remedy=_AGAIN) from error
    return target, came


@contextmanager
def _held(path: Path) -> Iterator[BinaryIO]:
    """The file in which the model grows, held by us alone."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SleepError("it is being pulled already", where=str(path), remedy="Wait for it") from None
        os.fchmod(descriptor, 0o600)
        yield file


def _fill(file: BinaryIO, source: str, progress: Progress, pin: Pin) -> int:
    """Append what is missing, and no byte more; how many bytes came."""
    have = os.fstat(file.fileno()).st_size
    if have > pin.size:
        have = 0
    if have == pin.size:
        return 0
    with _opened(source, have, pin) as (stream, start):
        file.truncate(start)
        file.seek(start)
        done = start
        while block := _block(stream, min(BLOCK, pin.size - done), source):
            file.write(block)
            done += len(block)
            progress(done, pin.size)
    file.flush()
    if done < pin.size:
        raise SleepError(f"it ended after {done} of {pin.size} bytes", where=shown(source), remedy=_AGAIN)
    return done - start


@contextmanager
def _opened(source: str, have: int, pin: Pin) -> Iterator[tuple[BinaryIO | HTTPResponse, int]]:
    """The bytes of a source, and the offset at which they begin: `have`, or 0 where it cannot go on there."""
    if source.startswith(_WEB):
        with _asked(source, have) as answer:
            begins = answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            yield answer, have if answer.status == 206 and begins else 0
        return
    path = Path(source).expanduser()
    path = path / pin.file if path.is_dir() else path
    if not path.is_file():
        raise NotFound("there is no such file", where=str(path), remedy="--source takes a path, http:// or https://")
    with path.open("rb") as file:
        file.seek(have)
        yield file, have


def _asked(url: str, have: int) -> HTTPResponse:
    """The answer to a request from an offset on; from the start where the server will not have that offset."""
    headers = {"User-Agent": "skillopt-sleep", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        answer = urlopen(Request(url, headers=headers), timeout=TIMEOUT_S)  # noqa: S310  (http and https alone)
    except HTTPError as error:
        error.close()
        if have and error.code == 416:
            return _asked(url, 0)
        raise SleepError(f"HTTP {error.code}", where=host_of(url), remedy="Try another --source") from None
    except (URLError, HTTPException, ValueError, TimeoutError) as error:
        why = f"no connection ({type(error).__name__})"
        raise SleepError(why, where=host_of(url), remedy="Try again, or another --source") from None
    if have and answer.status == 206 and not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        answer.close()
        return _asked(url, 0)
    return answer  # type: ignore[no-any-return]


def _block(stream: BinaryIO | HTTPResponse, most: int, source: str) -> bytes:
    """The next bytes; what was cut on its way is told, with what to do."""
    try:
        return stream.read(most)
    except (OSError, HTTPException) as error:
        raise SleepError(f"it was cut off ({type(error).__name__})", where=shown(source), remedy=_AGAIN) from error


def _holds(path: Path, progress: Progress, pin: Pin) -> bool:
    """Whether a file is the pinned one, byte for byte."""
    if path.stat().st_size != pin.size:
        return False
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            progress(done := done + len(block), pin.size)
    return digest.hexdigest() == pin.sha256


def shown(source: str) -> str:
    """A source as it is told: of an address the host alone, without what may stand beside it."""
    return host_of(source) if source.startswith(_WEB) else source
