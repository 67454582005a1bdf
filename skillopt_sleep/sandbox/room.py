"""What a command sees of the disk: programs and libraries, what it was given, rooms of its own. Nothing else exists."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.errors import UsageError
from skillopt_sleep.sandbox.command import Command

PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store")
SETTINGS = (
    "alternatives", "ca-certificates", "crypto-policies", "fonts", "group", "host.conf", "hosts", "ld.so.cache",
    "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "nsswitch.conf", "os-release", "passwd",
    "pki/ca-trust/extracted", "pki/tls/cert.pem", "pki/tls/certs", "pki/tls/openssl.cnf", "protocols", "services",
    "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone",
)  # fmt: skip
"""Of /etc: what programs need and what is no secret of this machine, also where root runs them."""
OF_THE_MACHINE = ("acpi", "bus", "fs", "irq", "scsi", "sys", "sysrq-trigger")
"""Of /proc: where root, even without a privilege, changes the machine by writing (a program for crashed processes, say,
which the kernel then starts outside)."""
INSIDE = Path(__file__).resolve().with_name("inside.py")
TMP, SHARED_MEMORY = "/tmp", "/dev/shm"  # noqa: S108 - rooms of the sandbox's own


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder as it is there inside: `source` is where it really lies outside; where it is a symbolic link,
    `link` is what it says."""

    path: str
    source: str = ""
    writable: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """All that is there, in the order in which it is put there: a later place may lie in an earlier one."""

    places: tuple[Place, ...]
    scratch: int
    """Bytes of /tmp and of /dev/shm, each."""


def interpreter() -> Path:
    """The Python that runs inside: the one that our environment was made from, without its packages."""
    plain = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    return plain if plain.exists() else Path(sys.executable).resolve()


def machine_wide(proc: Path) -> list[Path]:
    """What of a /proc must not be written, whoever runs us."""
    return [path for path in (proc / name for name in OF_THE_MACHINE) if path.exists()]


def room_of(command: Command) -> Room:
    """UsageError where a path is not there, or where a writable one holds the whole disk or the person's home."""
    given = [_as_it_is(_there(path)) for path in command.readable]
    ours = [command.folder, *command.writable, *([command.home] if command.home else [])]
    given += [_as_it_is(_guarded(_there(path)), writable=True) for path in ours]
    given.sort(key=lambda place: (len(Path(place.path).parts), place.writable))
    return Room((*_system(), *given), command.limits.scratch)


def _as_it_is(path: Path, *, writable: bool = False) -> Place:
    return Place(str(path), str(path), writable)


def _system() -> Iterator[Place]:
    for path in map(Path, PROGRAMS):
        if path.is_symlink():
            yield Place(str(path), link=str(path.readlink()))
        elif path.is_dir():
            yield _as_it_is(path)
    for path in (Path("/etc", name) for name in SETTINGS):
        if path.exists():
            yield Place(str(path), str(path.resolve()))
    for path in (Path(sys.base_prefix).resolve(), INSIDE):
        if not any(path.is_relative_to(folder) for folder in PROGRAMS):
            yield _as_it_is(path)


def _there(path: Path) -> Path:
    try:
        return path.resolve(strict=True)
    except OSError as error:
        raise UsageError(
            error.strerror or "cannot be used", where=str(path), remedy="Name a file or folder that is there"
        ) from error


def _guarded(path: Path) -> Path:
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 - unlike Path.home, no error for the homeless
    if path == Path("/") or home.is_relative_to(path):
        raise UsageError(
            "a command may not write the whole home", where=str(path), remedy="Give it a folder of its own"
        )
    return path
