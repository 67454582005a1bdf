"""The open model that `model pull` gets, as data: its public home, its size and its digest."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillopt_sleep.errors import UsageError


@dataclass(frozen=True, slots=True)
class Pin:
    """A released file that is accepted with exactly this size (bytes) and SHA-256, wherever it comes from."""

    name: str
    file: str
    url: str
    size: int
    sha256: str
    licence: str


MODEL: Final = Pin(
    name="qwen2.5-coder-0.5b-instruct",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    url="https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    licence="Apache-2.0",
)
"""Half a billion parameters in four bits: it runs on one core in 0.8 GB."""


def pulled(folder: Path, pin: Pin = MODEL) -> Path | None:
    """The pulled model, None where it is not there in its full size."""
    path = folder / pin.file
    return path if path.is_file() and path.stat().st_size == pin.size else None


def runs_here() -> bool:
    """Whether the runtime for local models is installed."""
    return importlib.util.find_spec("xllamacpp") is not None


def model_file(named: str | None, folder: Path, role: str, pin: Pin = MODEL) -> Path:
    """The file of a local model: a path as it is, the pulled one by its name or where none is named.

    Raises `UsageError` where that one was not pulled.
    """
    if named is not None and named not in {pin.name, pin.file}:
        return Path(named).expanduser()
    if (path := pulled(folder, pin)) is not None:
        return path
    remedy = f"Use --{role}-model FILE (GGUF), or get one: skillopt-sleep model pull"
    raise UsageError(f"no {role} model is named for the backend local", where=f"models.{role}", remedy=remedy)
