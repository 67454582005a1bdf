"""New transcripts are noticed as they are written; where the system refuses to watch, by looking now and then.

Nothing depends on it: a night reads what is there. It keeps the store ahead of agents that delete their files.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

REFUSED = {errno.ENOSPC, errno.EMFILE, errno.ENFILE}
"""inotify's limits: watches, instances, descriptors. "No space left" has nothing to do with the disk here."""
POLL_SECONDS = 60.0
SUFFIXES = (".jsonl", ".json", ".zst")


class _Changes(FileSystemEventHandler):
    def __init__(self, changed: threading.Event) -> None:
        self._changed = changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        names = (str(event.src_path), str(event.dest_path))
        if event.event_type in {"created", "modified", "moved"} and any(n.endswith(SUFFIXES) for n in names):
            self._changed.set()


class Watch:
    """Sets `changed` when a transcript below one of the roots was written. Roots may appear later: see `look_again`."""

    def __init__(
        self,
        roots: Callable[[], Iterable[Path]],
        warn: Callable[[str], None],
        *,
        observer: Callable[[], BaseObserver] = Observer,
    ) -> None:
        self.changed = threading.Event()
        self.polling = False
        self._roots = roots
        self._warn = warn
        self._handler = _Changes(self.changed)
        self._observer = observer()
        self._watched: set[Path] = set()

    def start(self) -> None:
        try:
            self._observer.start()
        except OSError as error:
            self._poll(error)
        self.look_again()

    def look_again(self) -> None:
        """Also watch roots that were not there before. Cheap; called now and then."""
        for root in self._roots():
            if root in self._watched or not root.is_dir():
                continue
            self._watched.add(root)
            try:
                self._observer.schedule(self._handler, str(root), recursive=True)
            except OSError as error:
                if self.polling:
                    raise
                self._poll(error)
                return

    def stop(self) -> None:
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join(10)

    def _poll(self, error: OSError) -> None:
        if error.errno not in REFUSED:
            raise error
        self._warn("the system watches no more files (inotify limit); looking once a minute instead")
        self.stop()
        self.polling = True
        self._observer = PollingObserver(timeout=POLL_SECONDS)
        self._watched.clear()
        self._observer.start()
        self.look_again()
