"""What a model would be asked to write tasks from, on a real history: sessions, checks on offer, prompts.

No model is asked and no repository is there, so this says how much there is to ask about, and not what comes of it.

    python bench/tasks_on_history.py                   the shared history (SKILLOPT_SHARED)
    python bench/tasks_on_history.py FOLDER
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

from skillopt_sleep.mine import episodes_of, mine
from skillopt_sleep.mine.requested import Sheet, prompt_of, sheets_of
from skillopt_sleep.mine.requested.outcomes import outcome_of

CHECKOUT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SKILLOPT_SHARED", CHECKOUT.parent / "shared"))
HISTORY = SHARED / "transcripts" / "claude" / "entireio__cli_history"
QUANTILES = (0.5, 0.9, 1.0)


def main(folder: Path) -> None:
    """Read, mine, and count."""
    sys.path.insert(0, str(CHECKOUT))
    from tests.mine.reading import stored_sessions

    episodes = [episode for session in stored_sessions([folder]) for episode in episodes_of(session)]
    found = mine(episodes)
    sheets = sheets_of(found.episodes)
    typed = {episode.session for episode in found.episodes if episode.prompt}
    say(f"{len(typed)} sessions in which a person asked for something, {len(sheets)} with a check on offer")
    say(f"checks on offer: {dict(Counter(mark[0] for sheet in sheets for mark in sheet.offers))} (c command, f file)")
    say(f"sessions with a command that passed at the end: {sum(map(has_command, sheets))}")
    say(f"of those, failed before anything was changed: {sum(map(fails_first, sheets))}")
    sizes = sorted(len(prompt_of(sheet, 3, has_commit=True)) for sheet in sheets)
    told = [f"{share:.0%}: {sizes[min(int(share * len(sizes)), len(sizes) - 1)]:,}" for share in QUANTILES]
    say(f"characters of a prompt: {', '.join(told)}; {sum(sizes):,} in all")


def has_command(sheet: Sheet) -> bool:
    return any(offer.argv for offer in sheet.offers.values())


def fails_first(sheet: Sheet) -> bool:
    return bool(outcome_of(sheet.requests).failed_first & set(outcome_of(sheet.requests).passed))


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HISTORY)
