"""Hosts as a person writes them."""

from __future__ import annotations

import pytest

from skillopt_sleep.sandbox import Host
from skillopt_sleep.sandbox.environment import environment


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("api.example.com", Host("api.example.com", 443)),
        ("API.example.com.:8443", Host("api.example.com", 8443)),
        ("localhost:11434", Host("localhost", 11434, private=True)),
        ("192.168.1.5:8000", Host("192.168.1.5", 8000, private=True)),
        ("[::1]:8000", Host("::1", 8000, private=True)),
    ],
)
def test_a_host_is_a_name_and_a_port_and_an_address_is_meant(text: str, host: Host) -> None:
    assert Host.parse(text) == host


@pytest.mark.parametrize(
    "text", ["", ":443", "a:", "a:0", "a:65536", "a:b", "*.example.com", "http://a", "a b", "a:1:2", "[::1", "é.com"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Host.parse(text)


def test_loopback_goes_by_the_proxy_where_a_host_there_was_named() -> None:
    outside = environment({}, {}, [Host("api.example.com")])
    assert outside["NO_PROXY"] == outside["no_proxy"] == "localhost,127.0.0.1,::1"
    assert environment({}, {}, [Host("localhost", 11434, private=True)])["NO_PROXY"] == ""
