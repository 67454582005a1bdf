"""Whose work a session is, told from names alone: a path in a transcript is never opened, resolved or looked at."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from skillopt_harvesters.model import SessionFacts

_HOME: Final = re.compile(
    r"""(?ix) ^ (?: [a-z]: | /mnt/[a-z] | /[a-z] | // [^/]+ (?:/[^/]+)? )? / (?: users | home ) / (?P<person> [^/]+ )"""
)
_DRIVE: Final = re.compile(r"^([a-z]):(?=[\\/]|$)")
_REMOTE: Final = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^@/]*@)?(?P<host>[^/:]+)(?::\d+(?=/))?[:/]+(?P<path>.+?)(?:\.git)?/*$"
)


def tidy(path: str) -> str:
    """One spelling of a folder: no slash at the end, the drive's letter large."""
    path = _DRIVE.sub(lambda m: m[1].upper() + ":", path.strip())
    return path.rstrip("/\\") or path[:1]


def project_root(facts: SessionFacts) -> str:
    """The project's name: the git root where it is known, else the working folder; "" where there is neither.

    The first working folder counts (readers put a worktree's original folder there), unless the session was also in a
    folder above it: then it began in a sub-folder.
    """
    if facts.git_root:
        return tidy(facts.git_root)
    folders = [tidy(cwd) for cwd in facts.cwds if cwd.strip()]
    if not folders:
        return ""
    above = [folder for folder in folders[1:] if is_below(folders[0], folder) and not is_home(folder)]
    return min([folders[0], *above], key=len)


def is_below(path: str, folder: str) -> bool:
    """Whether a path lies below a folder, by their names."""
    if len(path) <= len(folder) or not path.startswith(folder):
        return False
    return folder[-1:] in {"/", "\\"} or path[len(folder)] in {"/", "\\"}


def is_home(folder: str) -> bool:
    """A person's home, or the root of a file system: no project, though work may have been begun there."""
    found = _HOME.match(folder.replace("\\", "/"))
    return tidy(folder) in {"/", "/root", ""} or (found is not None and found.end() == len(folder))


def person_of(cwd: str) -> str:
    """Whose home a working folder lies in: `x` of /Users/x, /home/x, C:\\Users\\x; "" where it cannot be told."""
    path = cwd.replace("\\", "/")
    found = _HOME.match(path)
    if found:
        return found["person"]
    return "root" if path == "/root" or path.startswith("/root/") else ""


def remote_digest(address: str) -> str:
    """A digest of a remote's host and path, the same for all ways to write it; credentials have no part in it."""
    if not address:
        return ""
    found = _REMOTE.match(address.strip())
    named = f"{found['host']}/{found['path']}".casefold() if found else address.strip()
    return hashlib.blake2b(named.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
