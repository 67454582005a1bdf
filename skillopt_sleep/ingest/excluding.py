"""What a person does not want read: folders and patterns of folders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from fnmatch import translate

from skillopt_sleep.ingest.projects import is_below, tidy


class Excluded:
    """Patterns over the paths of transcripts and over working folders.

    A pattern without `*`, `?` and `[` is a folder and all below it; others are shell patterns over the whole path.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._folders = [tidy(p) for p in patterns if p and not any(c in p for c in "*?[")]
        self._globs = [re.compile(translate(p)) for p in patterns if any(c in p for c in "*?[")]
        joined = "\n".join(sorted(patterns)).encode("utf-8", "surrogatepass")
        self.digest = hashlib.blake2b(joined, digest_size=8).hexdigest()
        """Changes with the patterns: a source that was excluded is looked at again then."""

    def names_path(self, path: str) -> bool:
        """Whether a path is excluded."""
        if any(path == folder or is_below(path, folder) for folder in self._folders):
            return True
        return any(glob.match(path) for glob in self._globs)

    def names_any(self, folders: Sequence[str]) -> bool:
        """Whether one of a session's working folders is excluded."""
        return bool(self._folders or self._globs) and any(self.names_path(tidy(folder)) for folder in folders)
