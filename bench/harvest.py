"""harvest.py [--sessions N,N] [--rounds R] [FOLDER…]: what a harvest costs, as multiples of simpler work.

For each corpus (FOLDERs of loose transcripts, and generated ones of N sessions) it prints one JSON line:

- `parse`      the harvesters alone, nothing kept        / `orjson.loads` over every line
- `cold`       discover, read, redact, store             / `orjson.loads` over every line
- `unchanged`  discover and harvest again, nothing new    / the bare stat walk
- `grown`      bytes read after one session among all grew, beyond the new ones (generated corpora)
- `rss_mb`     peak resident memory of a process that did the cold harvest; first of all on a file with a 60 MB line

Times are the least of the interleaved rounds, of wall and of processor time: the latter holds on a machine that others
use too. The unit and the stat walk are those of `limits.py` beside the generator of corpora (SKILLOPT_SHARED); it needs
orjson.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from skillopt_harvesters import Source, discover, discover_loose, read
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.ingest import harvest
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.engine import Store, open_store

SHARED = Path(os.environ.get("SKILLOPT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
LONG_LINE = 60 << 20


def limits() -> ModuleType:
    """The shared script whose `orjson.loads` over every line is the unit."""
    spec = importlib.util.spec_from_file_location("limits", SHARED / "bench" / "limits.py")
    if spec is None or spec.loader is None:
        raise SystemExit("SKILLOPT_SHARED names no folder with bench/limits.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def sources_of(folder: Path) -> list[Source]:
    """A generated corpus is a HOME, whose files are known by their place; loose ones are known by their content."""
    if (folder / ".claude").is_dir():
        return discover(folder, {})[0]
    return discover_loose([folder])[0]


def parse(folder: Path) -> int:
    """Every file once, as a harvest reads them: a hard link is the same file."""
    once = {source.inode: source for source in sources_of(folder)}
    return sum(len(batch.events) for source in once.values() for batch in read(source))


def cold(folder: Path, home: Path) -> None:
    with open_store(home / "store.db", SystemClock()) as store:
        harvest(store, sources_of(folder), read, Redactor(), SystemClock())


def child(*argv: str) -> dict[str, Any]:
    """The figures of one measurement in a process of its own."""
    done = subprocess.run([sys.executable, __file__, *argv], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure_cold(folder: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        open_store(Path(home) / "store.db", SystemClock()).close()
        wall, cpu = timed(lambda: cold(folder, Path(home)))
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"wall": wall, "cpu": cpu, "rss_mb": round(rss, 1)}


def measure_again(folder: Path, walk: Callable[[], object], rounds: int, ours: bool) -> dict[str, Any]:
    """The unchanged pass beside the stat walk, in processor time; of a corpus that may be written to also the grown."""
    with tempfile.TemporaryDirectory() as home:
        cold(folder, Path(home))
        with open_store(Path(home) / "store.db", SystemClock()) as store:
            redactor = Redactor()

            def again() -> None:
                harvest(store, sources_of(folder), read, redactor, SystemClock())

            def listed() -> None:
                harvest(store, sources, read, redactor, SystemClock())

            sources = sources_of(folder)
            passes = [(timed(walk)[1], timed(again)[1], timed(listed)[1]) for _ in range(rounds)]
            grown = {"grown": measure_grown(store, folder)} if ours else {}
        stat, whole, alone = (min(column) for column in zip(*passes, strict=True))
        return {"unchanged": round(whole / stat, 2), "unchanged_beyond_discovery": round(alone / stat, 2), **grown}


def measure_grown(store: Store, folder: Path) -> dict[str, int]:
    """Append a line to the largest session of a corpus of ours that is in the store; count what is then read."""
    largest = max((s for s in sources_of(folder) if s.path.endswith(".jsonl")), key=lambda s: s.size)
    path = Path(largest.path)
    line = path.read_bytes().splitlines()[-1] + b"\n"
    with path.open("ab") as file:
        file.write(line)
    sources = sources_of(folder)
    got, restore = counting_reads()
    harvest(store, sources, read, Redactor(), SystemClock())
    restore()
    return {"sources": len(sources), "new_bytes": len(line), "read_beyond": got[0] - len(line)}


def counting_reads() -> tuple[list[int], Callable[[], None]]:
    got: list[int] = [0]
    real: dict[str, Callable[..., bytes]] = {"pread": os.pread, "read": os.read}

    def counted(name: str) -> Callable[..., bytes]:
        def call(*of: Any) -> bytes:
            content = real[name](*of)
            got[0] += len(content)
            return content

        return call

    def restore() -> None:
        for name, call in real.items():
            setattr(os, name, call)

    for name in real:
        setattr(os, name, counted(name))
    return got, restore


def measure_long_line() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        record = {"type": "user", "uuid": "u1", "sessionId": "s1", "cwd": "/w", "timestamp": "2026-01-05T10:00:00.000Z"}
        path = Path(place) / "corpus" / "s1.jsonl"
        path.parent.mkdir()
        with path.open("w", encoding="utf-8") as file:
            for text, times in (("hello", 1), ("x" * 1024, LONG_LINE // 1024), ("bye", 1)):
                row = json.dumps(record | {"uuid": text[:5], "message": {"role": "user", "content": text}})
                before, after = row.split(text) if times > 1 else (row, "")
                file.write(before)
                file.writelines(text for _ in range(times if times > 1 else 0))
                file.write(after + "\n")
        cold(path.parent, Path(place) / "home")
    return {"rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)}


def ratios(folder: Path, rounds: int, ours: bool = False) -> dict[str, Any]:
    lim = limits()
    import orjson

    files = lim.walk(str(folder))
    units, parses, colds = [], [], []
    for _ in range(rounds):
        units.append(timed(lambda: lim.lines(files, orjson.loads)))
        parses.append(timed(lambda: parse(folder)))
        colds.append(child("--cold", str(folder)))
    unit = [min(column) for column in zip(*units, strict=True)]
    parsed = [min(column) for column in zip(*parses, strict=True)]
    stored = [min(one[kind] for one in colds) for kind in ("wall", "cpu")]
    return {
        "corpus": folder.name,
        "files": len(files),
        "mb": round(sum(map(os.path.getsize, files)) / 1e6, 1),
        "orjson_s": round(unit[0], 3),
        "parse": {kind: round(parsed[i] / unit[i], 2) for i, kind in enumerate(("wall", "cpu"))},
        "cold": {kind: round(stored[i] / unit[i], 2) for i, kind in enumerate(("wall", "cpu"))},
        "rss_mb": max(one["rss_mb"] for one in colds),
        **measure_again(folder, lambda: lim.walk(str(folder)), max(rounds, 5), ours),
    }


def generated(sessions: int, place: Path) -> Path:
    out = place / f"{sessions}-sessions"
    share = {"--claude": sessions * 7 // 10, "--codex": sessions // 5, "--copilot": sessions // 10}
    argv = [sys.executable, str(SHARED / "bench" / "gen_transcripts.py"), "--out", str(out)]
    subprocess.run(
        [*argv, *(str(word) for pair in share.items() for word in pair)], check=True, stdout=subprocess.DEVNULL
    )
    return out


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("folders", nargs="*", type=Path)
    asked.add_argument("--sessions", default="")
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--cold", type=Path)
    asked.add_argument("--long-line", action="store_true")
    given = asked.parse_args()
    if given.cold:
        print(json.dumps(measure_cold(given.cold)))
    elif given.long_line:
        print(json.dumps(measure_long_line()))
    else:
        print(json.dumps({"long_line": child("--long-line")}), flush=True)
        for folder in given.folders:
            print(json.dumps(ratios(folder, given.rounds)), flush=True)
        with tempfile.TemporaryDirectory() as place:
            for sessions in filter(None, given.sessions.split(",")):
                print(json.dumps(ratios(generated(int(sessions), Path(place)), given.rounds, ours=True)), flush=True)


if __name__ == "__main__":
    main()
