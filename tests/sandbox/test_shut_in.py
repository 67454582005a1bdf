"""A command reaches no network, sees no file that is not its own, and changes nothing outside."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.sandbox.shut import Shut

pytestmark = [pytest.mark.sandbox]

REACH = """
import json, socket
def why(family, address):
    try:
        with socket.socket(family) as s:
            s.settimeout(5)
            s.connect(address)
        return "reached"
    except OSError as problem:
        return type(problem).__name__
def named(name):
    try:
        return socket.getaddrinfo(name, 443) and "reached"
    except OSError as problem:
        return type(problem).__name__
tried = [why(family, tuple(to) if isinstance(to, list) else to) for family, to in %s]
print(json.dumps([*tried, named("example.org")]))
"""


@pytest.fixture
def secret(shut: Shut) -> Path:
    """A file that the same person reads outside, so that its absence inside says something."""
    path = shut.outside / "secret"
    path.write_text("the-secret", encoding="utf-8")
    path.chmod(0o600)
    owner = shut.outside.stat()
    os.chown(path, owner.st_uid, owner.st_gid)
    assert shut.as_same_person("cat", str(path)) == "the-secret"
    return path


@pytest.fixture
def listening(shut: Shut) -> Iterator[list[tuple[int, object]]]:
    """Sockets of this machine that anyone outside could connect to: by loopback, by abstract name, by path."""
    path, name = str(shut.outside / "socket"), f"\0skillopt-sleep-{os.getpid()}"
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as tcp,
        closing(socket.socket(socket.AF_UNIX)) as abstract,
        closing(socket.socket(socket.AF_UNIX)) as bound,
    ):
        for one, address in ((abstract, name), (bound, path)):
            one.bind(address)
            one.listen()
        Path(path).chmod(0o777)
        yield [
            (int(one.family), address) for one, address in ((tcp, tcp.getsockname()), (abstract, name), (bound, path))
        ]


def test_no_network_is_reached(shut: Shut, listening: list[tuple[int, object]]) -> None:
    everywhere = [*listening, (int(socket.AF_INET), ("192.0.2.1", 443)), (int(socket.AF_INET6), ("2001:db8::1", 443))]
    code = REACH % repr([(family, list(to) if isinstance(to, tuple) else to) for family, to in everywhere])
    assert json.loads(shut.as_same_person(*shut.python[-1:], "-c", code))[:3] == ["reached"] * 3
    ran = shut.python_code(code)
    assert ran.status == 0, ran.err
    assert "reached" not in json.loads(ran.out)


def test_a_secret_of_the_home_is_not_there(shut: Shut, secret: Path) -> None:
    (shut.folder / "link").symlink_to(secret)
    ways = [str(secret), "link", "../home/secret", f"/proc/1/root{secret}", f"/proc/{os.getpid()}/root{secret}"]
    ran = shut("cat", *ways, f"/proc/{os.getpid()}/environ", "/proc/1/environ", "/proc/1/mem")
    assert ran.status == 1
    assert ran.out == ""


def test_the_home_is_not_listed_either(shut: Shut, secret: Path) -> None:
    ran = shut("ls", "-A", str(secret.parent), str(Path.home()))
    assert "secret" not in ran.out
    assert str(secret.parent) in ran.err


def test_a_readable_folder_can_be_read_and_not_written(shut: Shut, secret: Path) -> None:
    ran = shut("sh", "-c", f"cat {secret}; echo more >> {secret}; rm -f {secret}", readable=[str(secret.parent)])
    assert ran.out == "the-secret"
    assert ran.status != 0
    assert secret.read_text(encoding="utf-8") == "the-secret"


def test_nothing_outside_is_written(shut: Shut, secret: Path) -> None:
    """Each try would change nothing if it were let through: a test of walls must do no harm where there are none."""
    folders = ["/", "/etc", "/usr", "/proc/sys", str(secret.parent)]
    files = ["/etc/passwd", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", str(secret)]
    code = f"""
import json, os
def why(call, *args):
    try:
        call(*args)
        return "done"
    except OSError as problem:
        return type(problem).__name__
tried = [why(os.open, path, os.O_TMPFILE | os.O_WRONLY) for path in {folders!r}]
tried += [why(os.open, path, os.O_WRONLY) for path in {files!r}]
tried += [why(os.truncate, {str(secret)!r}, 0), why(os.unlink, {str(secret)!r})]
tried += [why(os.chmod, "/usr", os.stat("/usr").st_mode & 0o7777), why(os.mknod, "disk", 0o60600, os.makedev(7, 0))]
print(json.dumps(tried))
"""
    ran = shut.python_code(code, readable=[str(secret.parent)])
    assert ran.status == 0, ran.err
    assert "done" not in json.loads(ran.out)
    assert secret.read_text(encoding="utf-8") == "the-secret"


def test_its_own_rooms_are_written(shut: Shut) -> None:
    ran = shut(
        "sh", "-c", 'for p in . "$HOME" "$TMPDIR" /dev/shm; do echo here > "$p/new" || exit 1; done; pwd; echo $HOME'
    )
    assert (ran.status, ran.out.split()) == (0, [str(shut.folder), "/tmp/home"]), ran.err
    assert (shut.folder / "new").read_text(encoding="utf-8") == "here\n"
    assert not Path("/dev/shm/new").exists()
    assert not Path("/tmp/home").exists()


def test_a_home_that_is_given_is_the_home_and_stays(shut: Shut) -> None:
    ran = shut("sh", "-c", "echo kept > ~/file; pwd", home=str(shut.outside))
    assert ran.out.strip() == str(shut.folder)
    assert (shut.outside / "file").read_text(encoding="utf-8") == "kept\n"


NESTED = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    print(name, "done" if getattr(libc, name)(*args) == 0 else os.strerror(ctypes.get_errno()))
call("unshare", 0x10000000 | 0x00020000)
"""
"""Into namespaces of users and mounts of one's own making, where one has every privilege: over those alone."""


def test_a_mount_cannot_be_made_writable_again(shut: Shut) -> None:
    again = 'call("mount", b"none", b"/usr", None, ctypes.c_ulong(32 | 4096), None)'
    ran = shut.python_code(NESTED + again)
    assert ran.out.splitlines()[0] == "unshare done", "otherwise nothing was tried"
    assert ran.out.splitlines()[1] == "mount Operation not permitted"


def test_behind_our_own_walls_landlock_stands_too(shut: Shut) -> None:
    """It forbids all mounting. Bubblewrap leaves that to whoever makes a namespace; it changes nothing outside."""
    ran = shut.python_code(NESTED + 'call("mount", b"none", b"/tmp", b"tmpfs", ctypes.c_ulong(0), None)')
    refused = "mount Operation not permitted" if shut.walls == "namespaces" else "mount done"
    assert ran.out.splitlines() == ["unshare done", refused]


def test_no_key_of_the_environment_goes_in(shut: Shut) -> None:
    environ = {
        "OPENAI_API_KEY": "k1",
        "AWS_SECRET_ACCESS_KEY": "k2",
        "SSH_AUTH_SOCK": "/x",
        "LANG": "C",
        "HOME": "/root",
    }
    ran = shut("env", environ=environ, given={"NEEDED": "yes"})
    there = dict(line.split("=", 1) for line in ran.out.splitlines())
    assert there == {"PATH": there["PATH"], "LANG": "C", "HOME": "/tmp/home", "TMPDIR": "/tmp", "NEEDED": "yes"}


def test_no_privilege_and_no_process_but_its_own(shut: Shut) -> None:
    ran = shut(
        "sh", "-c", "grep -E '^(Cap|NoNew|Uid)' /proc/self/status; ls /proc | grep -c '^[0-9]'; readlink /proc/1/exe"
    )
    lines = ran.out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith(("CapPrm", "CapEff", "CapBnd"))] == ["0" * 16] * 3
    assert "NoNewPrivs:\t1" in lines
    assert int(lines[-1]) < 6, "only ours are seen, and process 1 lets nobody trace it"


def test_process_1_cannot_be_ended_from_inside(shut: Shut) -> None:
    ran = shut("sh", "-c", "kill -KILL 1; kill -TERM 1; kill -STOP 1; sleep 0.2; echo still here")
    assert (ran.status, ran.out, ran.ended) == (0, "still here\n", "")


def test_nothing_is_typed_to_it_and_no_terminal_is_there(shut: Shut) -> None:
    ran = shut("sh", "-c", "read line || echo end; tty; true < /dev/tty || echo none")
    assert ran.out.splitlines() == ["end", "not a tty", "none"]


def test_a_program_gets_a_terminal_of_its_own_making(shut: Shut) -> None:
    ran = shut.python_code("import os; a, b = os.openpty(); os.write(b, b'x'); print(os.read(a, 1))")
    assert (ran.status, ran.out) == (0, "b'x'\n"), ran.err


@pytest.mark.parametrize("above", ["/", str(Path.home())])
def test_the_whole_home_is_never_given(shut: Shut, above: str) -> None:
    with shut.start("true", writable=[above]) as driver:
        _, err = driver.communicate()
    home = Path.home() if shut.python[0] != "setpriv" else Path("/nonexistent")
    if home.is_relative_to(above):
        assert driver.returncode == 1
        assert "a command may not write the whole home" in err
