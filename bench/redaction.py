"""redaction.py FOLDER [ROUNDS]: redacting the text that a harvest keeps, as a multiple of one plain pass of `re`.

Reads every loose transcript below FOLDER with the harvesters and keeps what the service keeps (words, errors,
arguments, heads), each distinct text once. Each round redacts it all in batches as the service does, one text at a
time, and with our own rules alone, beside one pass of a regular expression of a dozen well-known beginnings over the
same text.
Prints medians in MB/s, how many texts were changed, and the ratios of the times.
"""

from __future__ import annotations

import gc
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from skillopt_harvesters import discover_loose, read
from skillopt_sleep.redact import Redactor, finding

ROUNDS = 5
PLAIN = re.compile(
    r"ghp_\w{36}|glpat-[\w-]{20}|AKIA[A-Z0-9]{16}|sk-[\w-]{20,}|xox[bp]-[\w-]{10,}|AIza[\w-]{35}|eyJ[\w-]{10,}\.[\w.-]+"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----|(?:password|secret|token|api_key)\s*[=:]\s*\S{8,}"
)


def kept(folder: Path) -> list[str]:
    """The distinct texts of all sessions below the folder."""
    sources, _, _ = discover_loose([folder])
    texts: dict[str, None] = {}
    for source in sources:
        for batch in read(source):
            for event in batch.events:
                texts.update(dict.fromkeys((event.text, event.arguments, event.head)))
    return [text for text in texts if text]


def in_batches(texts: Sequence[str]) -> object:
    return Redactor().redact_many(texts)


def one_by_one(texts: Sequence[str]) -> object:
    redactor = Redactor()
    return [redactor.redact(text) for text in texts]


def own_rules(texts: Sequence[str]) -> object:
    return Redactor(engine=False).redact_many(texts)


def plain_pass(texts: Sequence[str]) -> object:
    return [PLAIN.sub("[redacted]", text) for text in texts]


WAYS: tuple[Callable[[Sequence[str]], object], ...] = (plain_pass, in_batches, one_by_one, own_rules)


def seconds(work: Callable[[Sequence[str]], object], texts: Sequence[str]) -> float:
    gc.collect()
    start = time.perf_counter()
    work(texts)
    return time.perf_counter() - start


def measure(folder: Path, rounds: int) -> dict[str, object]:
    """Medians over the rounds, each of which goes all ways in turn."""
    texts = kept(folder)
    size = sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6
    Redactor().redact("a passw loads the engine")
    taken: dict[str, list[float]] = {way.__name__: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            taken[way.__name__].append(seconds(way, texts))
    changed = sum(text != clean for text, clean in zip(texts, Redactor().redact_many(texts), strict=True))
    return {
        "engine": finding().finding,
        "texts": len(texts),
        "megabytes": round(size, 1),
        "changed": changed,
        "megabytes_a_second": {way: round(size / statistics.median(times), 1) for way, times in taken.items()},
        "times_plain_pass": {
            way: round(statistics.median(a / b for a, b in zip(times, taken["plain_pass"], strict=True)), 2)
            for way, times in taken.items()
        },
    }


def main() -> None:
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    print(json.dumps(measure(Path(sys.argv[1]), rounds)))


if __name__ == "__main__":
    main()
