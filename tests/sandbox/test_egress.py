"""A command reaches the hosts that were named, and no other; what it asked for is on record."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.sandbox.shut import Shut

pytestmark = [pytest.mark.sandbox]

NOT_NAMED = "not among the hosts that were named"
ASK = """
import http.client, json, os, socket, urllib.error, urllib.request
PORT = %d
def get(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError as problem:
        return type(problem).__name__
def tunnel(host, port):
    proxy = os.environ["HTTPS_PROXY"].removeprefix("http://")
    line = http.client.HTTPConnection(proxy, timeout=10)
    line.set_tunnel(host, port)
    try:
        line.request("POST", "/told", b"x" * 100_000)
        return line.getresponse().read().decode()
    except OSError as problem:
        return str(problem)
    finally:
        line.close()
def direct(host, port):
    try:
        socket.create_connection((host, port), timeout=10).close()
        return "reached"
    except OSError as problem:
        return type(problem).__name__
"""


class Answers(BaseHTTPRequestHandler):
    """Says which host it was asked as, and how much it was sent."""

    def do_GET(self) -> None:
        body = f"{self.path} for {self.headers['Host']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.path = str(len(self.rfile.read(int(self.headers["Content-Length"]))))
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture
def port() -> Iterator[int]:
    """A server of this machine, on its loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def asks(shut: Shut, code: str, port: int, hosts: list[Any]) -> tuple[Any, list[tuple[str, int, str]], Any]:
    ran = shut.python_code(ASK % port + f"print(json.dumps({code}))", hosts=hosts, limits={"deadline_s": 40.0})
    assert ran.status == 0, ran.err
    return json.loads(ran.out), [(v["name"], v["port"], v["refused"]) for v in ran.visits], ran.visits


def test_a_named_host_is_reached_and_its_bytes_are_counted(shut: Shut, port: int) -> None:
    code = "[get(f'http://localhost:{PORT}/path?q=1'), tunnel('localhost', PORT)]"
    said, names, visits = asks(shut, code, port, [["localhost", port, True]])
    assert said == [f"/path?q=1 for localhost:{port}", f"100000 for localhost:{port}"]
    assert names == [("localhost", port, "")]
    assert visits[0]["times"] == 2
    assert 100_000 < visits[0]["sent"] < 101_000
    assert 200 < visits[0]["received"] < 1_000


def test_any_other_host_is_refused_and_recorded(shut: Shut, port: int) -> None:
    code = "[get(f'http://127.0.0.1.nip.example:{PORT}/'), tunnel('example.org', 443), tunnel('localhost', 22)]"
    said, names, visits = asks(shut, code, port, [["localhost", port, True]])
    assert said[0] == 403
    assert all("403" in one for one in said[1:])
    assert names == [
        ("127.0.0.1.nip.example", port, NOT_NAMED),
        ("example.org", 443, NOT_NAMED),
        ("localhost", 22, NOT_NAMED),
    ]
    assert [visit["sent"] + visit["received"] for visit in visits] == [0, 0, 0]


def test_there_is_no_way_around_the_proxy(shut: Shut, port: int) -> None:
    said, names, _ = asks(
        shut, "[direct('127.0.0.1', PORT), direct('localhost', PORT)]", port, [["localhost", port, True]]
    )
    assert said == ["ConnectionRefusedError"] * 2
    assert names == []


def test_a_name_that_leads_to_this_machine_is_refused_unless_it_was_meant(shut: Shut, port: int) -> None:
    said, names, _ = asks(shut, "tunnel('localhost', PORT)", port, [["localhost", port, False]])
    assert "403" in said
    assert names == [("localhost", port, "its address is of this machine or network")]


def test_without_named_hosts_there_is_no_proxy(shut: Shut) -> None:
    ran = shut("env")
    assert "PROXY" not in ran.out.upper()
    assert ran.visits == []


def test_what_a_command_serves_itself_is_reached_without_the_proxy(shut: Shut) -> None:
    code = """
import http.server, threading
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps("Directory" in get(f"http://127.0.0.1:{server.server_port}/")))
"""
    ran = shut.python_code(ASK % 0 + code, hosts=[["example.org", 443, False]])
    assert ran.out == "true\n", ran.err
    assert ran.visits == []
