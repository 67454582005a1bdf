"""The proxy by itself: whatever is said to it, it connects to a named host with an address that it judged, or not."""

from __future__ import annotations

import errno
import gc
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pytest

from skillopt_sleep.sandbox.hosts import Host, Visit
from skillopt_sleep.sandbox.proxy import MALFORMED, MOST_CONNECTIONS, OTHERS, Proxy

PRIVATE = "its address is of this machine or network"


@pytest.fixture
def echo() -> Iterator[int]:
    """A server on loopback that says everything back, and ends when the other side does."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def serve() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(line,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def answer(line: socket.socket) -> None:
    with line:
        while some := line.recv(65536):
            line.sendall(some)


@contextmanager
def proxy(*hosts: Host, addresses: Sequence[str] = ("127.0.0.1",)) -> Iterator[tuple[Proxy, socket.SocketType]]:
    async def resolve(name: str, port: int) -> Sequence[str]:
        return addresses

    with closing(socket.create_server(("127.0.0.1", 0))) as listener, Proxy(listener, hosts, resolve) as running:
        yield running, listener


def say(listener: socket.SocketType, words: bytes, *, end: bool = True) -> bytes:
    """All that comes back."""
    with closing(socket.create_connection(listener.getsockname(), timeout=20)) as line:
        line.sendall(words)
        if end:
            line.shutdown(socket.SHUT_WR)
        heard = b""
        while some := line.recv(65536):
            heard += some
        return heard


def test_a_tunnel_is_transparent_and_counted(echo: int) -> None:
    words = bytes(range(256)) * 4000
    with proxy(Host("model.example", echo, private=True)) as (running, listener):
        heard = say(listener, f"CONNECT MODEL.example.:{echo} HTTP/1.1\r\nHost: x\r\n\r\n".encode() + words)
    head, _, body = heard.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert body == words
    assert running.visits() == (Visit("model.example", echo, "", 1, len(words), len(words)),)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",  # noqa: S104
     "224.0.0.1", "::1", "fe80::1",
     "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1", "::"],
)  # fmt: skip
def test_a_public_name_with_a_private_address_is_not_connected_to(echo: int, address: str) -> None:
    with proxy(Host("model.example", echo), addresses=[address]) as (running, listener):
        assert b"403" in say(listener, f"CONNECT model.example:{echo} HTTP/1.1\r\n\r\n".encode())
    assert running.visits() == (Visit("model.example", echo, PRIVATE, 1, 0, 0),)


def test_a_plain_request_is_sent_on_as_to_its_host_and_asks_to_be_the_last(echo: int) -> None:
    ask = (
        f"GET http://user:pw@model.example:{echo}/a?b=c HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: key\r\n"
        "Connection: keep-alive\r\nAccept: text/plain\r\n\r\nbody"
    )
    with proxy(Host("model.example", echo, private=True)) as (_, listener):
        heard = say(listener, ask.encode())
    assert heard.decode().split("\r\n") == [
        "GET /a?b=c HTTP/1.1", f"Host: model.example:{echo}", "Connection: close", "Accept: text/plain", "", "body",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [b"", b"hello", b"\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"CONNECT model.example HTTP/1.1\r\n\r\n",
     b"CONNECT a:99999 HTTP/1.1\r\n\r\n", b"CONNECT \xff:443 HTTP/1.1\r\n\r\n", b"GET ftp://a/ HTTP/1.1\r\n\r\n",
     b"CONNECT [::1:443 HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00", b"x" * 200_000, b"CONNECT a b c d\r\n\r\n",
     b"GET http://[x]/ HTTP/1.1\r\n\r\n", b"CONNECT a\x00b:443 HTTP/1.1\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_request_gets_nowhere(echo: int, words: bytes) -> None:
    with proxy(Host("model.example", echo, private=True)) as (running, listener):
        try:
            heard = say(listener, words)
        except OSError as error:
            if error.errno not in {errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN}:
                raise
            heard = b""  # it hung up before it had heard all of it
        assert heard == b"" or heard.startswith(b"HTTP/1.1 400 ")
        assert say(listener, f"CONNECT model.example:{echo} HTTP/1.1\r\n\r\nstill".encode()).endswith(b"still")
    assert [visit for visit in running.visits() if visit.refused not in {"", MALFORMED}] == []


def test_a_connection_that_only_waits_for_its_host_is_kept() -> None:
    """Its client has said all: then asyncio holds nothing of it, and the collector would take it away."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def late() -> None:
            line, _ = server.accept()
            with line:
                while line.recv(65536):
                    pass
                for _ in range(5):
                    time.sleep(0.05)
                    gc.collect()
                line.sendall(b"late")

        threading.Thread(target=late, daemon=True).start()
        port = server.getsockname()[1]
        with proxy(Host("model.example", port, private=True)) as (_, listener):
            assert say(listener, f"CONNECT model.example:{port} HTTP/1.1\r\n\r\nasked".encode()).endswith(b"late")


def test_a_host_that_does_not_answer_is_said_to() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as nobody:
        free = nobody.getsockname()[1]
    with proxy(Host("model.example", free, private=True)) as (running, listener):
        assert b"502" in say(listener, f"CONNECT model.example:{free} HTTP/1.1\r\n\r\n".encode())
    assert running.visits()[0].refused == "it does not answer"


def test_the_record_is_bounded(echo: int) -> None:
    with proxy(Host("model.example", echo, private=True)) as (running, listener):
        for n in range(300):
            say(listener, f"CONNECT host{n}.example:443 HTTP/1.1\r\n\r\n".encode())
    visits = running.visits()
    assert len(visits) == 257
    assert (visits[-1].name, visits[-1].times) == (OTHERS, 44)


def test_no_more_connections_at_once_than_it_can_hold(echo: int) -> None:
    with proxy(Host("model.example", echo, private=True)) as (_, listener):
        silent = [socket.create_connection(listener.getsockname()) for _ in range(MOST_CONNECTIONS)]
        try:
            assert b"503" in say(listener, b"", end=False)
        finally:
            for line in silent:
                line.close()


def test_open_tunnels_end_with_the_proxy(echo: int) -> None:
    with (
        proxy(Host("model.example", echo, private=True)) as (_, listener),
        closing(socket.create_connection(listener.getsockname(), timeout=20)) as line,
    ):
        line.sendall(f"CONNECT model.example:{echo} HTTP/1.1\r\n\r\nword".encode())
        while not line.recv(65536).endswith(b"word"):
            pass
    with closing(line):
        assert not any(thread.name == "proxy" for thread in threading.enumerate())
