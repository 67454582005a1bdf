"""What a client asks of a proxy (RFC 9112, section 3.2): a tunnel, or one plain request to be sent on."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from skillopt_sleep.sandbox.hosts import split

HTTP = 80
OURS = frozenset({b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive", b"host"})
"""Headers that are between the client and the proxy, or that we write ourselves."""


@dataclass(frozen=True, slots=True)
class Request:
    """A host and port; `onward` is the head that it is sent, empty for a tunnel."""

    name: str
    port: int
    onward: bytes = b""


def read_request(head: bytes) -> Request:
    """ValueError where it is no request to a proxy. The sent-on request asks that the connection be closed after it:
    the next one may be for another host, and is to come to us."""
    line, *headers = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    method, target, version = line.decode("ascii").split(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError("no HTTP/1")
    if method == "CONNECT":
        return Request(*split(target))
    url = urlsplit(target)
    if url.scheme != "http" or any(c.isspace() for c in target):
        raise ValueError("no http address")
    name, port = split(url.netloc.rpartition("@")[2], HTTP)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    kept = [header for header in headers if header.partition(b":")[0].strip().lower() not in OURS]
    ours = [f"{method} {path} {version}".encode(), f"Host: {_authority(name, port)}".encode(), b"Connection: close"]
    return Request(name, port, b"\r\n".join([*ours, *kept, b"", b""]))


def _authority(name: str, port: int) -> str:
    shown = f"[{name}]" if ":" in name else name
    return shown if port == HTTP else f"{shown}:{port}"
