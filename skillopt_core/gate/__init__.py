"""What it takes to believe a change (gate.md): looks, evidence, recorded replays, and the modes built of them."""

from __future__ import annotations

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
from skillopt_core.gate.exact import binomial_tail, sign_flip_p
from skillopt_core.gate.looks import boundaries, least_units
from skillopt_core.gate.metric import HARD, Metric
from skillopt_core.gate.modes import EvidenceGate, LookGate, OffGate, ProofGate, StrictGate
from skillopt_core.gate.pairing import compare
from skillopt_core.gate.recorded import RecordedGate, Recurrence

__all__ = [
    "BETS",
    "HARD",
    "HARM",
    "NOISY_BETS",
    "EvidenceGate",
    "LookGate",
    "Metric",
    "OffGate",
    "ProofGate",
    "RecordedGate",
    "Recurrence",
    "StrictGate",
    "aa_evidence",
    "binomial_tail",
    "boundaries",
    "compare",
    "e_bh",
    "e_reverse",
    "e_value",
    "interval",
    "least_units",
    "needed",
    "projected",
    "sign_flip_p",
    "spent",
    "trial_over",
]
