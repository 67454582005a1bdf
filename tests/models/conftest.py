"""Keys of nobody for both SDKs, no proxy between us and loopback, and either SDK in turn."""

from __future__ import annotations

import pytest

from tests.models.asking import Make, anthropic, openai


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)


@pytest.fixture(params=[anthropic, openai], ids=["anthropic", "openai"])
def make(request: pytest.FixtureRequest) -> Make:
    return request.param  # type: ignore[no-any-return]
