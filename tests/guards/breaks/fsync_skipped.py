"""An adopted file is renamed before its bytes are on the disk."""

import os
from typing import Any

from skillopt_sleep.review import place


class _Lazy:
    """`os`, but for one call."""

    def __getattr__(self, name: str) -> Any:
        return (lambda *_: None) if name == "fsync" else getattr(os, name)


place.os = _Lazy()  # type: ignore[attr-defined]
