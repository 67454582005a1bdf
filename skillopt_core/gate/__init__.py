"""What it takes to believe a change (gate.md): looks, evidence, recorded replays, and the modes built of them."""

from __future__ import annotations

from skillopt_core.gate.aa import (
    Calibration,
    against_itself,
    against_repeats,
    cache_fault,
    calibrated,
    pseudo_pairs,
    unless_halted,
)
from skillopt_core.gate.attribution import attribute, carried
from skillopt_core.gate.evidence import (
    BETS,
    HARM,
    NOISY_BETS,
    aa_evidence,
    e_bh,
    e_reverse,
    e_value,
    interval,
    needed,
    projected,
    spent,
    trial_over,
)
from skillopt_core.gate.exact import binomial_interval, binomial_tail, sign_flip_p
from skillopt_core.gate.looks import Boundaries, boundaries, least_units, proven, settled
from skillopt_core.gate.metric import HARD, Metric
from skillopt_core.gate.modes import EvidenceGate, LookGate, OffGate, ProofGate, StrictGate
from skillopt_core.gate.observed import Observed, Session, observed
from skillopt_core.gate.pairing import compare
from skillopt_core.gate.power import power, units_for
from skillopt_core.gate.protection import protect, works
from skillopt_core.gate.recorded import RecordedGate, Recurrence, standing_out

__all__ = [
    "BETS",
    "HARD",
    "HARM",
    "NOISY_BETS",
    "Boundaries",
    "Calibration",
    "EvidenceGate",
    "LookGate",
    "Metric",
    "Observed",
    "OffGate",
    "ProofGate",
    "RecordedGate",
    "Recurrence",
    "Session",
    "StrictGate",
    "aa_evidence",
    "against_itself",
    "against_repeats",
    "attribute",
    "binomial_interval",
    "binomial_tail",
    "boundaries",
    "cache_fault",
    "calibrated",
    "carried",
    "compare",
    "e_bh",
    "e_reverse",
    "e_value",
    "interval",
    "least_units",
    "needed",
    "observed",
    "power",
    "projected",
    "protect",
    "proven",
    "pseudo_pairs",
    "settled",
    "sign_flip_p",
    "spent",
    "standing_out",
    "trial_over",
    "units_for",
    "unless_halted",
    "works",
]
