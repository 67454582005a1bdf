"""In-memory ledgers that keep their own account, for tests of what pays."""

from __future__ import annotations

from skillopt_sleep.domain.ledgers import CompletionKey


class Book:
    """A SpendLedger in memory."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[int, float, bool]] = {}

    def reserve(self, role: str, tokens: int, usd: float) -> int:
        row = len(self.rows) + 1
        self.rows[row] = (tokens, usd, True)
        return row

    def settle(self, row: int, tokens: int, usd: float, *, exact: bool) -> None:
        self.rows[row] = (tokens, usd, exact)

    def spent(self) -> tuple[int, int, float, bool]:
        rows = self.rows.values()
        return sum(r[0] for r in rows), len(self.rows), sum(r[1] for r in rows), all(r[2] for r in rows)


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
