"""Where keys are: the environment, the credentials that systemd hands a service, or a file that its owner alone reads.

A key is shown to nobody: it is in no message, and a `Key` prints where it came from.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.log import one_line

CREDENTIALS: Final = "CREDENTIALS_DIRECTORY"
"""The variable by which systemd tells a service where its credentials are (systemd.exec, LoadCredential=)."""
LARGEST: Final = 16_384
"""Bytes of a key; an Entra token takes some 2,000."""
_KEY: Final = re.compile(r"[\x21-\x7e]+")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


_SECRET: Final = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|AUTH)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Key:
    """A key and the place that it came from."""

    secret: str = field(repr=False)
    place: str


def find_key(names: Iterable[str], named: str | None, environ: Mapping[str, str]) -> Key | None:
    """The key of `named` (a variable, a credential or a file) where there is one, else the first that is found.

    Raises `NotSignedIn` where what was named is not there, can be read by others, or holds no key.
    """
    if named is None:
        return next((key for name in names if (key := _called(name, environ)) is not None), None)
    if named.startswith(("/", "~")):
        return _checked(_own_file(Path(named).expanduser()), named)
    if (key := _called(named, environ)) is None:
        remedy = f"Set {named}, or hand it to the service as a credential of that name"
        raise NotSignedIn("there is no such variable or credential", where=named, remedy=remedy)
    return key


def without_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment for a child that needs no key: without all that is called like one."""
    return {name: value for name, value in environ.items() if not _SECRET.search(name)}


def _called(name: str, environ: Mapping[str, str]) -> Key | None:
    if value := environ.get(name):
        return _checked(value, name)
    folder = environ.get(CREDENTIALS)
    if not folder or not _NAME.fullmatch(name):
        return None
    try:
        # systemd guards these itself: they may be readable by group where an access list says for whom.
        value = _read(Path(folder) / name)
    except OSError:
        return None
    return _checked(value, f"the credential {name}")


def _own_file(path: Path) -> str:
    """The text of a file that nobody else can read."""
    try:
        found = path.stat()
        others = found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        if not stat.S_ISREG(found.st_mode):
            raise NotSignedIn("is no file", where=str(path), remedy="Write the key into a file of its own")
        if others or found.st_uid not in {os.geteuid(), 0}:
            remedy = f"chmod 600 {path}" if others else "Let it be your own"
            raise NotSignedIn("a key that others may read or that is another's is not used", where=str(path),
                              remedy=remedy)  # fmt: skip
        return _read(path)
    except OSError as error:
        why = f"the key cannot be read: {error.strerror}"
        raise NotSignedIn(why, where=str(path), remedy="Check the path") from None


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(LARGEST + 1).decode("ascii", "replace")


def _checked(text: str, place: str) -> Key:
    key = text.strip()
    if not _KEY.fullmatch(key) or len(key) > LARGEST:
        remedy = "A key is one word of printable ASCII"
        raise NotSignedIn("what stands there is no key", where=one_line(place), remedy=remedy)
    return Key(key, place)
