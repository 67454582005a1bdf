"""The one way out of a sandbox: a proxy of ours that lets named hosts through, and keeps account of what was asked.

It accepts from a socket that listens on the sandbox's own loopback and was handed out: no other program of the machine
can reach it. `CONNECT host:port` opens a tunnel, whose words are not looked at; a plain `GET http://…` is sent on.
It resolves names itself and connects to the very address that it judged. Addresses of this machine and network are
refused, also under a public name, unless the host was named as private.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from skillopt_sleep.sandbox.hosts import Host, Visit, is_public
from skillopt_sleep.sandbox.requests import Request, read_request

MOST_HEAD = 1 << 16
"""Bytes of a request's head."""
MOST_CONNECTIONS, MOST_VISITS = 64, 256
PATIENCE_S = 30.0
"""For a head to arrive, and for a host to answer. A tunnel may be silent for as long as the command runs."""
CLOSING_S = 2.0
CHUNK = 1 << 16
OTHERS = "(others)"
MALFORMED = "no request to a proxy"
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class Refused(Exception):
    """Why a host was not reached, and the status for it."""

    def __init__(self, why: str, status: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(slots=True)
class Account:
    times: int = 0
    sent: int = 0
    received: int = 0


async def resolve(name: str, port: int) -> Sequence[str]:
    """The addresses of a name, in the system's order. OSError where there are none."""
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class Proxy:
    """Lets `hosts` through as long as its block runs, in a thread of its own. `listener` stays the caller's."""

    def __init__(self, listener: socket.socket, hosts: Iterable[Host], resolving: Resolve = resolve) -> None:
        self._listener = listener
        self._hosts = {(host.name, host.port): host for host in hosts}
        self._resolve = resolving
        self._accounts: dict[tuple[str, int, str], Account] = {}
        self._open = 0
        self._attending: set[asyncio.Task[None] | None] = set()  # asyncio itself holds no task that only waits
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Every connection ends here. A name that is still being looked up is not waited for."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(CLOSING_S)

    def visits(self) -> tuple[Visit, ...]:
        """What was asked for, each host, port and outcome once, in order of the first time."""
        return tuple(
            Visit(name, port, refused, account.times, account.sent, account.received)
            for (name, port, refused), account in self._accounts.items()
        )

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._attend, sock=self._listener.dup(), limit=MOST_HEAD)
        await self._over.wait()
        server.close()

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection. What a stranger sends here may be anything; what is refused is answered with a reason."""
        self._open += 1
        self._attending.add(asyncio.current_task())
        try:
            await self._pass_on(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # either side went away: nobody is left to be told
        finally:
            self._open -= 1
            self._attending.discard(asyncio.current_task())
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request, account = None, Account()
        try:
            request = await self._request(reader)
            upstream = await self._dial(request)
        except Refused as refused:
            self._account(request, str(refused))
            body = f"skillopt-sleep: {refused}\n"
            head = f"HTTP/1.1 {refused.status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write((head + body).encode())
            await writer.drain()
            return
        account = self._account(request, "")
        there_reader, there = upstream
        try:
            if request.onward:
                there.write(request.onward)
                account.sent += len(request.onward)
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(pump(reader, there, account, "sent"), pump(there_reader, writer, account, "received"))
        finally:
            there.close()

    async def _request(self, reader: asyncio.StreamReader) -> Request:
        if self._open > MOST_CONNECTIONS:
            raise Refused("too many connections", "503 Service Unavailable")
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
            return read_request(head)
        except (ValueError, asyncio.LimitOverrunError, TimeoutError) as error:
            raise Refused(MALFORMED, "400 Bad Request") from error

    async def _dial(self, request: Request) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host = self._hosts.get((request.name, request.port))
        if host is None:
            raise Refused("not among the hosts that were named", "403 Forbidden")
        try:
            addresses = await asyncio.wait_for(self._resolve(host.name, host.port), PATIENCE_S)
        except (OSError, UnicodeError) as error:  # TimeoutError is an OSError
            raise Refused("its name is not known", "502 Bad Gateway") from error
        admitted = [address for address in addresses if host.private or is_public(address)]
        if not admitted:
            raise Refused("its address is of this machine or network", "403 Forbidden")
        for address in admitted:
            try:
                return await asyncio.wait_for(asyncio.open_connection(address, host.port), PATIENCE_S)
            except OSError:
                continue
        raise Refused("it does not answer", "502 Bad Gateway")

    def _account(self, request: Request | None, refused: str) -> Account:
        key = (request.name, request.port, refused) if request else ("", 0, refused)
        if key not in self._accounts and len(self._accounts) >= MOST_VISITS:
            key = (OTHERS, 0, refused)
        account = self._accounts.setdefault(key, Account())
        account.times += 1
        return account


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, account: Account, which: str) -> None:
    """One direction, until its source ends; then the other side is told so."""
    while some := await reader.read(CHUNK):
        writer.write(some)
        setattr(account, which, getattr(account, which) + len(some))
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
