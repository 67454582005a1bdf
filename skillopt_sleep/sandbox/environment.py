"""What of our environment a command is given: names that are on a list, and nothing that could be a key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skillopt_sleep.sandbox.hosts import LOCAL_NAMES, Host, is_address

ALLOWED = frozenset(
    {"PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ", "TERM", "COLUMNS", "NO_COLOR"}
)
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HOME = "/tmp/home"  # noqa: S108 - a room of the sandbox's own
PROXY_PORT = 3128
"""Where the proxy listens inside. The loopback there is the sandbox's own, so that no other port can be in the way."""


def environment(
    environ: Mapping[str, str], given: Mapping[str, str], hosts: Iterable[Host] = (), home: str = HOME
) -> dict[str, str]:
    """The environment of a command: what is allowed of `environ`, our own places, the proxy, and `given` as it is."""
    ours = {"PATH": PATH, "LANG": "C.UTF-8", **{k: v for k, v in environ.items() if k in ALLOWED}}
    return {**ours, "HOME": home, "TMPDIR": "/tmp", **_proxy(tuple(hosts)), **given}  # noqa: S108


def _proxy(hosts: tuple[Host, ...]) -> dict[str, str]:
    """In both spellings: some programs read only one. What a command serves itself is reached without the proxy,
    unless it was named as a host outside."""
    if not hosts:
        return {}
    named = {host.name for host in hosts}
    url = f"http://127.0.0.1:{PROXY_PORT}"
    direct = ",".join(name for name in (*LOCAL_NAMES, "127.0.0.1", "::1") if name not in named and not _loops(named))
    pairs = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "NO_PROXY": direct}
    return {**pairs, **{name.lower(): value for name, value in pairs.items()}}


def _loops(named: set[str]) -> bool:
    return any(name in LOCAL_NAMES or (is_address(name) and name.startswith(("127.", "::1"))) for name in named)
