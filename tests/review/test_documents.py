"""The JSON documents: exactly the keys of the command line's reference, and null for what was not computed."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_sleep.domain.proposals import Adoption, Decision, Target, Written
from skillopt_sleep.review import documents

RUN = {"format", "night", "backend", "evidence", "harvest", "tasks", "budget", "skills"}
RUN |= {"trials", "watch", "warnings", "report"}
HARVEST = {"files", "bytes", "seconds", "sessions", "skipped", "warnings", "unreadable", "pending"}
SKILL = {"skill", "verdict", "metric", "before", "after", "effect", "interval", "p", "e_value", "alpha", "pairs"}
SKILL |= {"coverage", "opened", "understood", "predicate", "stake", "edits", "proposal", "next"}
EDIT = ["n", "op", "anchor", "text", "status", "why", "provenance"]
REVIEW = ["format", "proposal", "skill", "state", "verdict", "headline", "diff", "edits", "evidence", "needs"]
ADOPT = ["format", "adoption", "proposal", "edits", "targets"]
TARGET = ["agent", "path", "state", "before", "after", "why"]


def strict(document: object) -> str:
    return json.dumps(document, allow_nan=False)


def test_a_night_has_the_keys_of_run(sample: ModuleType) -> None:
    night = documents.night_document(sample.night())
    assert set(night) == RUN | {"models"}
    assert list(night["harvest"]) == [
        "files",
        "bytes",
        "seconds",
        "sessions",
        "skipped",
        "warnings",
        "unreadable",
        "pending",
    ]  # type: ignore[call-overload]
    assert list(night["tasks"]) == ["patterns", "mined", "train", "gate", "audit"]  # type: ignore[call-overload]
    assert night["budget"]["tokens"] == {"limit": 200_000, "spent": 0, "exact": True}  # type: ignore[index]
    assert set(night["budget"]) == {"tokens", "calls", "usd", "seconds"}  # type: ignore[call-overload]
    for skill in night["skills"]:  # type: ignore[attr-defined]
        assert set(skill) == SKILL
        for edit in skill["edits"]:
            assert list(edit)[: len(EDIT)] == EDIT
            assert edit["status"] in {"accepted", "dropped", "missed", "refused", "proposed"}
            assert all(list(said) == ["session", "at", "author", "quote"] for said in edit["provenance"])
    assert all(list(t) == ["id", "skill", "e_value", "nights", "state"] for t in night["trials"])  # type: ignore[attr-defined]
    strict(night)


def test_the_figures_of_a_skill_are_those_of_its_verdict(sample: ModuleType) -> None:
    night = documents.night_document(sample.night())
    proven, learned, _ = night["skills"]  # type: ignore[misc]
    assert (proven["verdict"], proven["before"], proven["after"], proven["e_value"]) == ("accept", 0.48, 0.86, 148.0)
    assert (learned["verdict"], learned["e_value"]) == ("supported", 21.7)
    assert learned["predicate"].startswith("an action that names path")
    assert learned["stake"] == {"actions": 58, "output_share": pytest.approx(0.0221), "per_week": pytest.approx(4.9)}
    assert [edit["verdict"] for edit in learned["edits"]] == ["supported"] * 3 + ["abstain", "reject", "no_exposure"]
    assert learned["next"] == f"skillopt-sleep adopt {learned['proposal']}"


def test_what_was_not_computed_is_null(sample: ModuleType) -> None:
    night = sample.night()
    bare = replace(night.documents[0], verdict=None, edits=(), proposal=None)
    skill = documents.night_document(replace(night, documents=(bare,), path=None))["skills"][0]  # type: ignore[index]
    uncomputed = SKILL - {"skill", "edits"}
    assert {key: skill[key] for key in uncomputed} == dict.fromkeys(uncomputed)
    assert documents.night_document(replace(night, path=None))["report"] is None


@pytest.mark.parametrize(
    ("x", "said"), [(None, None), (math.nan, None), (1.5, 1.5), (math.inf, 1.7976931348623157e308)]
)
def test_a_number_is_one_that_json_has(x: float | None, said: float | None) -> None:
    assert documents.finite(x) == said


def test_a_proposal_has_the_keys_of_review(sample: ModuleType) -> None:
    for proposal in sample.proposals():
        document = documents.proposal_document(proposal)
        assert list(document) == REVIEW
        assert [edit["n"] for edit in document["edits"]] == sorted(edit["n"] for edit in document["edits"])  # type: ignore[attr-defined]
        strict(document)


def test_what_is_needed_is_null_where_it_is_proven(made: ModuleType) -> None:
    assert documents.proposal_document(made.proposal())["needs"] is None
    waiting = made.proposal(made.result("- x", "abstain", needs="3 more sessions"))
    assert documents.proposal_document(waiting)["needs"] == "3 more sessions"


def test_an_adoption_has_a_row_for_every_agent(made: ModuleType) -> None:
    target = Target("codex", "/p", "/p/AGENTS.md", "acme", ("copilot-cli",))
    adoption = Adoption("a-1", "p-1", "person", (1, 3), (Written(target, "written", None, b"x"),), "written", 1)
    document = documents.adoption_document(adoption)
    assert list(document) == ADOPT
    rows = document["targets"]
    assert all(list(row) == TARGET for row in rows)  # type: ignore[attr-defined]
    assert [(row["agent"], row["state"], row["before"]) for row in rows] == [  # type: ignore[attr-defined]
        ("codex", "written", None),
        ("copilot-cli", "written", None),
    ]
    assert rows[0]["after"] == documents.digest(b"x")  # type: ignore[index]


def test_a_refusal_is_the_same_document_with_its_error(made: ModuleType) -> None:
    written = Written(made.target(Path("/p"), "CLAUDE.md"), "refused", None, None, why="it is a symbolic link")
    adoption = Adoption("", "p-1", "person", (1,), (written,), "rolled_back", 1)
    document = documents.adoption_document(adoption, {"code": "adoption_refused"})
    assert (document["adoption"], document["error"]) == (None, {"code": "adoption_refused"})
    assert document["targets"][0]["why"] == "it is a symbolic link"  # type: ignore[index]


def test_a_rejection_says_why() -> None:
    document = documents.rejection_document(Decision("p-1", "reject", (1, 2), 5, why="not now"))
    assert list(document)[: len(ADOPT)] == ADOPT
    assert (document["state"], document["why"], document["targets"]) == ("rejected", "not now", [])
