"""harvest_parse.py FOLDER [ROUNDS]: parsing to events, as a multiple of `orjson.loads` over every line.

Reads every loose transcript below FOLDER with the harvesters alone, keeps nothing, and decodes every line of the same
files with orjson, in turn; prints the medians, their ratio and the peak resident memory. Generate a corpus with any
generator of transcripts; real ones show what damage and errors cost.
"""

from __future__ import annotations

import gc
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from skillopt_harvesters import Source, discover_loose, read

ROUNDS = 5


def parse(sources: Sequence[Source]) -> int:
    """Events of all sources."""
    return sum(len(batch.events) for source in sources for batch in read(source))


def decode(sources: Sequence[Source]) -> int:
    """Lines of all sources that are JSON."""
    good = 0
    for source in sources:
        with Path(source.path).open("rb") as file:
            for line in file:
                try:
                    orjson.loads(line)
                except ValueError:
                    continue
                good += 1
    return good


def seconds(work: Callable[[Sequence[Source]], int], sources: Sequence[Source]) -> float:
    gc.collect()
    start = time.perf_counter()
    work(sources)
    return time.perf_counter() - start


def measure(folder: Path, rounds: int) -> dict[str, float]:
    """Medians over the rounds, each of which runs both ways."""
    sources, _, _ = discover_loose([folder])
    lines = [source for source in sources if source.path.endswith(".jsonl")]
    parsed, decoded = [], []
    for _ in range(rounds):
        parsed.append(seconds(parse, lines))
        decoded.append(seconds(decode, lines))
    size = sum(source.size for source in lines)
    return {
        "files": len(lines),
        "megabytes": round(size / 1e6, 1),
        "events": parse(lines),
        "parse_s": round(statistics.median(parsed), 3),
        "orjson_s": round(statistics.median(decoded), 3),
        "ratio": round(statistics.median(p / d for p, d in zip(parsed, decoded, strict=True)), 3),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def main() -> None:
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    print(json.dumps(measure(Path(sys.argv[1]), rounds)))


if __name__ == "__main__":
    main()
