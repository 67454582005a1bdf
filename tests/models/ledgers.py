"""In-memory ledgers that keep their own account, for tests of what pays."""

from __future__ import annotations

from dataclasses import replace

from skillopt_sleep.domain.ledgers import CompletionKey, Limits, Spend


class Book:
    """A SpendLedger in memory."""

    def __init__(self) -> None:
        self.rows: dict[int, Spend] = {}

    def reserve(self, role: str, tokens: int, usd: float, seconds: float = 0.0) -> int:
        row = len(self.rows) + 1
        self.rows[row] = replace(Spend.whole(tokens, usd), exact=True)
        return row

    def grow(self, row: int, tokens: int, usd: float, seconds: float = 0.0) -> None:
        self.rows[row] = replace(self.rows[row].plus(Spend.whole(tokens, usd)), exact=True)

    def settle(self, row: int, spend: Spend) -> None:
        self.rows[row] = spend

    def spent(self) -> tuple[int, Spend]:
        whole = Spend()
        for spend in self.rows.values():
            whole = replace(whole.plus(spend), exact=whole.exact and spend.exact)
        return len(self.rows), whole

    def leaves(self, limits: Limits) -> Limits:
        return limits


class Replies:
    """A CompletionLedger in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.failed: list[str] = []

    def reply(self, key: CompletionKey) -> str | None:
        return self.kept.get(key.digest)

    def save(self, key: CompletionKey, prompt: str, reply: str | None, status: str) -> None:
        if reply is None:
            self.failed.append(status)
        else:
            self.kept[key.digest] = reply
