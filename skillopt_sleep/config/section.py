"""What every section of sleep.toml shares: its strictness, and the kinds of value that keys have."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Word = Annotated[str, Field(min_length=1, max_length=2000)]
Count = Annotated[int, Field(ge=1)]
Amount = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(gt=0, lt=1)]
Weight = Annotated[float, Field(ge=0)]


class Section(BaseModel):
    """One table of sleep.toml: unknown keys are errors, types are not guessed, nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
