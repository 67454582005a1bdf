"""What `gate aa`, `gate power` and `gate simulate` do and print."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from skillopt_core.gate import binomial_interval, units_for
from skillopt_core.gate import power as detectable
from skillopt_sleep.calibrate import Rule, Season, level, operating, so_far
from skillopt_sleep.cli.common import Call
from skillopt_sleep.cli.making import the_store
from skillopt_sleep.clock import iso
from skillopt_sleep.config.model import Gate
from skillopt_sleep.errors import UsageError
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.mining import task_documents
from skillopt_sleep.store.repeats import Clearance, clearances, tokens_an_attempt
from skillopt_sleep.store.repeats import clear as clear_it
from skillopt_sleep.world import chosen_backend

ASKED_EFFECTS: Final = (0.40, 0.25, 0.15, 0.10)


def aa(call: Call) -> None:
    """The A/A process over past nights; a halt and a cache fault are warnings as well."""
    config, alpha = _calibrated(call)
    with the_store(call, read_only=True) as store:
        found, cleared = so_far(store, config), clearances(store, config.mode, alpha)
    state = found.state
    for one in cleared:
        said = f"{one.accepted} of {one.comparisons} comparisons until then were accepted"
        call.view.note(f"{one.by} let it go on at {iso(one.at_ms)} ({said}): {one.why}")
    for night in found.faults:
        call.view.warn(f"{night}: repeats of a noisy agent are identical to the byte, which points to a cache")
    if state.halted_at is not None:
        call.view.warn(
            f"the gate accepts a text against itself more often than {alpha:g} allows (found at comparison "
            f"{state.halted_at}): do not trust its verdicts before the cause is known; once it is mended, "
            '`skillopt-sleep gate aa --clear --why "..."` lets it go on'
        )
    ci95 = binomial_interval(state.accepted, state.comparisons)
    if call.as_json:
        document = {"comparisons": state.comparisons, "accepted": state.accepted, "ci95": list(ci95), "alpha": alpha}
        call.view.document(document | _lifted(cleared, halted=state.halted_at is not None))
    elif not state.comparisons:
        call.view.text(
            "No comparisons yet. The gate is asked about a text and itself where a night attempts tasks more than once "
            "with a noisy agent; recorded replays are deterministic and have nothing to repeat."
        )
    else:
        call.view.table(
            ("mode", "comparisons", "accepted", "95 % interval", "alpha", "evidence against the gate (halts at 20)"),
            [(config.mode, state.comparisons, state.accepted, _interval(ci95), f"{alpha:g}", f"{state.e:.3g}")],
            right=(1, 2, 4, 5),
        )


def _lifted(cleared: Sequence[Clearance], *, halted: bool) -> dict[str, Any]:
    """What the document says of a gate that has ever halted, and nothing of others."""
    rows = [
        {"by": one.by, "at": iso(one.at_ms), "why": one.why, "comparisons": one.comparisons, "accepted": one.accepted}
        for one in cleared
    ]
    return {"halted": halted, "cleared": rows} if halted or rows else {}


def clear(call: Call, why: str) -> None:
    """Let a halted gate go on: its process begins anew. Raises `UsageError` without a reason, and where none halted."""
    if not why.strip():
        remedy = 'Say what was found and mended: --why "the agent answered from a cache; it is off"'
        raise UsageError("a halt is lifted for a reason", where="--why", remedy=remedy)
    config, alpha = _calibrated(call)
    with the_store(call) as store:
        state = so_far(store, config).state
        if state.halted_at is None:
            raise UsageError("the gate has not halted", where="gate aa --clear", remedy="There is nothing to lift")
        redact = call.loaded.config.redact
        said = Redactor((*redact.patterns, *map(re.escape, redact.words))).redact(why.strip())
        now = store.clock.now_ms()
        clear_it(store, Clearance(config.mode, alpha, state.comparisons, state.accepted, _who(), said, now))
    call.view.note("the gate goes on: what it accepts of a text against itself is counted anew from here")


def _calibrated(call: Call) -> tuple[Gate, float]:
    """The gate and the alpha at which it decides. Raises `UsageError` for one that is off."""
    config = call.loaded.config.gate
    if config.mode == "off":
        raise UsageError("the gate is off: there is nothing to calibrate", where="gate.mode", remedy="proof or strict")
    return config, level(config)


def _who() -> str:
    """The account's name, as the machine knows it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"


def power(call: Call, tasks: int | None, repeats: int | None) -> None:
    """What a look over the present gate tasks could detect with 80 % power, and at what price."""
    config = call.loaded.config
    each = repeats or config.gate.repeats
    free = chosen_backend(config, call.home) == "recorded"
    if tasks is None:
        with the_store(call, read_only=True) as store:
            units, tokens = gate_units(task_documents(store, None)), tokens_an_attempt(store)
    else:
        units, tokens = tasks, None
    found = detectable(units, each, config.gate.alpha)
    price = 0 if free else None if tokens is None else round(tokens * found.attempts)
    if call.as_json:
        call.view.document(
            {"tasks": units, "least_p": found.least_p, "discordant_needed": found.discordant_needed,
             "detectable_effect": found.detectable_effect, "tokens": price}
        )  # fmt: skip
        return
    effect = None if found.detectable_effect is None else f"+{found.detectable_effect:.2f}"
    tokens_too = None if price is None else f"{price:,}"
    call.view.table(
        ("gate tasks", "repeats", "alpha", "least p", "must differ", "finds in 80 %", "attempts", "tokens"),
        [(units, each, f"{config.gate.alpha:g}", f"{found.least_p:.1g}", found.discordant_needed, effect,
          found.attempts, tokens_too)],
        right=tuple(range(8)),
    )  # fmt: skip
    call.view.text("")
    call.view.table(
        ("to find", "a look wants"),
        [(f"+{wanted:.2f}", f"{units_for(wanted, each, config.gate.alpha)} tasks") for wanted in ASKED_EFFECTS],
    )


def gate_units(tasks: Iterable[Mapping[str, Any]]) -> int:
    """Gate tasks after twins are merged: one a session and pattern; an imported task is its own."""
    gate = [task for task in tasks if task["split"] == "gate"]
    return len({(task["session"], task["pattern"]["id"]) if task["pattern"] else task["id"] for task in gate})


def simulate(call: Call, seeds: int, tasks_per_night: int, nights: int, repeats: int | None) -> None:
    """Operating characteristics, one row an edit, shape, mode and candidate."""
    config = call.loaded.config.gate
    season = Season("", tasks_per_night, repeats or config.repeats, nights)
    rows = [asdict(row) for row in operating(seeds, season, _rule(config))]
    if call.as_json:
        call.view.document({"seeds": seeds, "rows": rows})
        return
    call.view.text(
        f"SIMULATED: {seeds} candidates a row, on four populations of tasks in turn; {tasks_per_night} new tasks a "
        f"night, {season.repeats} repeats. strict decides in one night, proof in a trial of up to {nights}."
    )
    spends = config.alpha_policy == "spend"
    cells = [
        (row["edit"], f"{row['effect']:+.2f}", row["shape"], _mode(row, spends=spends),
         f"{row['accepted']:.3f} ({_interval(row['ci95'])})", row["median_night"], f"{row['rollouts']:.0f}")
        for row in rows
        if row["candidate"] == 1 or (spends and row["mode"] == "proof")
    ]  # fmt: skip
    call.view.table(("edit", "truth", "shape", "mode", "accepted (95 %)", "night", "attempts"), cells, right=(1, 5, 6))
    if not spends:
        call.view.note("Each trial has an alpha of its own, so later candidates fare as the first does.")


def _mode(row: Mapping[str, object], *, spends: bool) -> str:
    return f"proof t={row['candidate']}" if spends and row["mode"] == "proof" else str(row["mode"])


def _rule(config: Gate) -> Rule:
    return Rule(config.trial_alpha, config.alpha if config.alpha_policy == "spend" else None)


def _interval(ci95: tuple[float, float]) -> str:
    return f"{ci95[0]:.3f} to {ci95[1]:.3f}"
