"""Hosts that a command may reach, and what it asked for."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Self

HTTPS, MOST_PORT = 443, 65535
LOCAL_NAMES = ("localhost",)
EMBEDDED_V4 = ipaddress.IPv6Network("64:ff9b::/96")
"""NAT64 (RFC 6052): the last four bytes are an IPv4 address."""


@dataclass(frozen=True, slots=True)
class Host:
    """One exact host and port, by name or address. `private`: its addresses may be of this machine or network."""

    name: str
    port: int = HTTPS
    private: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """`host`, `host:port`, `[v6]:port`. Whoever writes an address, or localhost, means it, private or not.

        ValueError where it is none of these.
        """
        name, port = split(text, HTTPS)
        return cls(name, port, private=name in LOCAL_NAMES or is_address(name))


@dataclass(frozen=True, slots=True)
class Visit:
    """A host that was asked for. `refused` says why, "" where it was let through; `sent` and `received` are bytes."""

    name: str
    port: int
    refused: str
    times: int
    sent: int
    received: int


def split(text: str, port: int | None = None) -> tuple[str, int]:
    """A lower-case name and its port (`port` where none is said). ValueError where the text is not that."""
    if text.startswith("["):
        name, bracket, rest = text[1:].partition("]")
        ipaddress.IPv6Address(name)
        unwanted, colon, digits = rest.partition(":") if bracket else (text, "", "")
    else:
        unwanted = ""
        name, colon, digits = text.partition(":")
    said = digits if colon else str(port)
    name = name.lower().removesuffix(".")
    if unwanted or not _is_name(name) or not (said.isascii() and said.isdigit() and 0 < int(said) <= MOST_PORT):
        raise ValueError("no host and port")
    return name, int(said)


def _is_name(name: str) -> bool:
    return 0 < len(name) <= 253 and name.isascii() and all(c.isalnum() or c in ".-_:" for c in name)


def is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_public(address: str) -> bool:
    """Whether an address is one of the whole internet: not of this machine, this network, nor one that hides such."""
    seen = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(seen, ipaddress.IPv6Address):
        inner = seen.ipv4_mapped or seen.sixtofour
        if seen in EMBEDDED_V4:
            inner = ipaddress.IPv4Address(seen.packed[-4:])
        if inner is not None:
            return is_public(str(inner))
    return seen.is_global and not seen.is_multicast
