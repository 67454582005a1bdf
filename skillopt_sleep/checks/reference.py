"""docs/checks.md, written from the kinds themselves: `python -m skillopt_sleep.checks.reference docs/checks.md`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from skillopt_sleep.checks.kinds import BUILT_IN
from skillopt_sleep.checks.model import Kind
from skillopt_sleep.domain.answers import Need

_HEAD: Final = """\
# Checks

A task says by checks how its outcome is judged. A check has a `kind`, an `argument`, and a `weight` (1 unless given):

```json
{"id": "brief-1", "prompt": "Write a brief on free tiers.", "checks": [
  {"kind": "section_present", "argument": "Key Risks"},
  {"kind": "regex", "argument": "[Cc]onfidence\\\\s*[:=]", "weight": 2}]}
```

(on one line in the file). An attempt then has two scores: **hard** is 1 if all checks pass, else 0; **soft** is the weight of those that pass over the weight of all. Where a single check cannot be judged, because the agent's tool calls or files were not recorded, the attempt has no score at all: it counts as missing, never as failed.

All checks see the answer in Unicode's form NFC, with line feeds as line ends. Arguments are read and patterns compiled when the tasks are loaded; what means nothing is refused there, with file, line and key. Patterns and schemas match in time linear in the answer's length, so that none can hang a night, and a schema never fetches anything.

The optimizer never sees a check. Of a failed one it is told a sentence: form (a heading, a label, a length, a tool) by an example, content (words of the right answer) not at all. An edit that quotes content, or a pattern, is refused.

A check **of shape alone** can pass without any content. So can a `contains` that asks for no more than a heading (`## Risks`), a label (`Confidence:`) or a code fence. Where all checks of a task are of that sort, `train` and `eval` say so: a hollow skill would do well. So do tasks that an empty answer passes.

Other kinds can be added by a package of one's own: [plugins.md](plugins.md).

| kind | argument | of shape alone | asks for |
|---|---|---|---|
"""  # noqa: E501 - lines of Markdown
_NEEDS: Final = {
    Need.TOOLS: "recorded tool calls",
    Need.FILES: "a working folder",
    Need.SANDBOX: "a sandbox",
    Need.JUDGE: "a judge",
}


def page() -> str:
    """The whole page."""
    kinds = BUILT_IN.values()
    return _HEAD + "".join(map(_row, kinds)) + "".join(map(_section, kinds))


def _row(kind: Kind) -> str:
    needs = ", ".join(_NEEDS[need] for need in sorted(kind.needs)) or "–"
    return f"| [`{kind.name}`](#{kind.name}) | {kind.argument} | {'yes' if kind.shape_only else 'no'} | {needs} |\n"


def _section(kind: Kind) -> str:
    example = {"kind": kind.name} if kind.example is None else {"kind": kind.name, "argument": kind.example}
    shown = json.dumps(example, ensure_ascii=False)
    return f"\n## {kind.name}\n\nArgument: {kind.argument}.\n\n{kind.meaning}\n\n```json\n{shown}\n```\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
