"""What marks a database as ours, and the newest format that this version knows."""

from __future__ import annotations

from typing import Final

APPLICATION: Final = 0x534C4550  # "SLEP", PRAGMA application_id
SCHEMA: Final = 3
"""PRAGMA user_version: the number of the newest migration in `migrations/versions`."""
