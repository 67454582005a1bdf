"""`gate aa`, `gate power`, `gate simulate`: their documents by cli.md, and what they say to a person."""

from __future__ import annotations

import getpass
import re
from pathlib import Path
from random import Random

import pytest

from skillopt_core.types import Outcome, Score, Trajectory, Verdict
from skillopt_sleep.cli.calibrating import gate_units
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.domain.ledgers import AttemptKey
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store.engine import open_store
from skillopt_sleep.store.ledgers import Attempts
from skillopt_sleep.store.repeats import AGAINST_ITSELF
from skillopt_sleep.store.verdicts import ComparisonFacts, save_comparison
from tests.cli.conftest import Command

ROW = {"mode", "edit", "effect", "shape", "candidate", "tasks_per_night", "repeats", "nights", "accepted", "ci95",
       "median_night", "rollouts"}  # fmt: skip


def attempts(surroundings: Path, nights: int, *, same: bool = False, deterministic: bool = False) -> None:
    """Nights in which a noisy agent attempted eight tasks three times each with the live text."""
    random = Random(3)
    with open_store(surroundings / "state" / "store.db", SystemClock()) as store:
        for n in range(nights):
            night, live = f"n-{n:02}", f"{n:064}"
            facts = ComparisonFacts(f"c-{n}", live, "b" * 64, "proof", night, agent="claude")
            save_comparison(store, facts, Verdict(Outcome.ABSTAIN, "", deterministic=deterministic))
            rows = []
            for task in range(8):
                for draw in range(3):
                    passed = float(random.random() < 0.5)
                    said = "same" if same else f"{task} {draw}"
                    key = AttemptKey(f"c-{n}", f"t{task}", live, draw, "claude")
                    score = Score(passed, passed, objectives={"tokens": 100.0})
                    rows.append((key, Trajectory(f"t{task}", draw, live, score, said)))
            Attempts(store, night, Redacted).save(rows)


def test_simulate_shows_both_modes_on_every_edit(command: Command) -> None:
    found = command("gate", "simulate", "--seeds", "24", "--nights", "30", "--json").document
    assert set(found) == {"format", "seeds", "rows"}
    assert found["seeds"] == 24
    assert all(set(row) == ROW for row in found["rows"])
    cells = {(row["mode"], row["edit"], row["shape"], row["candidate"]) for row in found["rows"]}
    assert len(cells) == len(found["rows"]) == 2 * 3 * 2 * 4
    assert {candidate for *_, candidate in cells} == {1, 5, 10, 30}
    share = {(row["mode"], row["edit"]): row["accepted"] for row in found["rows"] if row["shape"] == "uniform"}
    assert share["strict", "placebo"] > 0.2 > 0.1 > share["proof", "placebo"]
    assert share["proof", "better"] > 0.7
    assert all(row["ci95"][0] <= row["accepted"] <= row["ci95"][1] for row in found["rows"])


def test_simulate_is_seeded_and_says_that_it_is_simulated(command: Command) -> None:
    first = command("gate", "simulate", "--seeds", "8")
    assert first.out == command("gate", "simulate", "--seeds", "8").out
    assert first.out.startswith("SIMULATED")


def test_later_candidates_have_less_where_alpha_is_spent(command: Command, surroundings: Path) -> None:
    config = surroundings / "spend.toml"
    config.write_text('[gate]\nalpha_policy = "spend"\n')
    options = ("--seeds", "80", "--nights", "25", "--config", str(config))
    rows = command("gate", "simulate", *options, "--json").document["rows"]
    found = {r["candidate"]: r["accepted"] for r in rows if (r["mode"], r["edit"]) == ("proof", "better")}
    assert found[1] > found[5] > found[30]
    assert "proof t=30 " in command("gate", "simulate", *options).out


@pytest.mark.parametrize("wrong", [("--seeds", "3"), ("--seeds", "x"), ("--nights", "0"), ("--repeats", "21")])
def test_a_wrong_number_is_refused_in_one_line(command: Command, wrong: tuple[str, str]) -> None:
    found = command("gate", "simulate", *wrong)
    assert (found.code, found.out) == (2, "")
    assert len(found.err.splitlines()) == 1
    assert wrong[0] in found.err


def test_power_says_what_the_present_tasks_could_show(command: Command) -> None:
    found = command("gate", "power", "--tasks", "40", "--json").document
    assert set(found) == {"format", "tasks", "least_p", "discordant_needed", "detectable_effect", "tokens"}
    assert (found["tasks"], found["discordant_needed"], found["least_p"]) == (40, 5, 2**-40)
    assert found["detectable_effect"] == pytest.approx(0.15, abs=0.002)
    few = command("gate", "power", "--tasks", "4", "--json").document
    assert few["detectable_effect"] is None
    assert re.search(r"\+0.15 +40 tasks", command("gate", "power", "--tasks", "12").out)


def test_power_counts_the_gate_tasks_of_the_store(morning: Command) -> None:
    tasks = [line for line in morning("tasks", "--json").lines if line["split"] == "gate"]
    units = {(task["session"], task["pattern"]["id"]) for task in tasks}
    found = morning("gate", "power", "--json").document
    assert found["tasks"] == len(units) > 0
    assert found["tokens"] == 0  # recorded replays


def test_twins_of_one_session_are_one_task() -> None:
    def task(name: str, session: str | None, pattern: str | None, split: str = "gate") -> dict[str, object]:
        return {"id": name, "session": session, "pattern": pattern and {"id": pattern}, "split": split}

    twins = [task("a", "s1", "p"), task("b", "s1", "p"), task("c", "s2", "p"), task("d", "s1", "q")]
    imported = [task("e", None, None), task("f", None, None), task("g", "s9", "p", "train")]
    assert gate_units([*twins, *imported]) == 5


def test_aa_has_nothing_to_say_of_recorded_replays(morning: Command) -> None:
    found = morning("gate", "aa", "--json").document
    assert found == {"format": 1, "comparisons": 0, "accepted": 0, "ci95": [0.0, 1.0], "alpha": 0.01}
    assert "deterministic" in morning("gate", "aa").out


def test_aa_compares_a_text_with_itself_out_of_past_attempts(command: Command, surroundings: Path) -> None:
    attempts(surroundings, 12)
    found = command("gate", "aa", "--json")
    assert set(found.document) == {"format", "comparisons", "accepted", "ci95", "alpha"}
    assert (found.document["comparisons"], found.document["accepted"]) == (12, 0)
    assert "halts" in command("gate", "aa").out
    assert "warning" not in found.err


def test_aa_halts_a_gate_that_takes_any_higher_mean(command: Command, surroundings: Path) -> None:
    attempts(surroundings, 30)
    config = surroundings / "strict.toml"
    config.write_text('[gate]\nmode = "strict"\n')
    found = command("gate", "aa", "--config", str(config), "--json")
    assert found.document["accepted"] > 5
    assert "do not trust its verdicts" in found.err
    config.write_text('[gate]\nmode = "off"\n')
    assert command("gate", "aa", "--config", str(config)).code == 2


def test_aa_names_a_cache_and_leaves_deterministic_agents_out(command: Command, surroundings: Path) -> None:
    attempts(surroundings, 2, same=True)
    assert "n-00: repeats of a noisy agent are identical" in command("gate", "aa").err
    other = surroundings / "other"
    attempts(other, 3, deterministic=True)
    found = command("gate", "aa", "--home", str(other / "state"), "--json")
    assert found.document["comparisons"] == 0


def halted(surroundings: Path, first: int = 0) -> None:
    """Nine real comparisons of a text with itself, all of them accepted."""
    with open_store(surroundings / "state" / "store.db", SystemClock()) as store:
        for n in range(first, first + 9):
            facts = ComparisonFacts(f"c-{n}", "a" * 64, "a" * 64, "proof", f"n-{n}", family=AGAINST_ITSELF)
            save_comparison(store, facts, Verdict(Outcome.ACCEPT, "better", pairs=36))


def test_a_person_lets_a_halted_gate_go_on_and_that_stays_written(command: Command, surroundings: Path) -> None:
    halted(surroundings)
    assert command("gate", "aa", "--json").document["halted"]
    assert "--clear --why" in command("gate", "aa").err
    unsaid = command("gate", "aa", "--clear", "--json")
    assert (unsaid.code, unsaid.document["error"]["where"]) == (2, "--why")
    why = "it answered from a cache; key sk-ant-api03-" + "aB3" * 30
    done = command("gate", "aa", "--clear", "--why", why, "--json")
    assert done.code == 0, done.err
    assert (done.document["halted"], done.document["comparisons"]) == (False, 0)
    (one,) = done.document["cleared"]
    assert (one["by"], one["comparisons"], one["accepted"]) == (getpass.getuser(), 9, 9)
    assert one["why"].startswith("it answered from a cache")
    assert "aB3aB3" not in one["why"]
    assert "let it go on" in command("gate", "aa").err
    assert command("verify", "--json").code == 0, "the evidence log has it"
    halted(surroundings, 9)
    assert command("gate", "aa", "--json").document["halted"], "what comes after is counted anew, and may halt it again"


def test_a_gate_that_has_not_halted_has_nothing_to_lift(command: Command, surroundings: Path) -> None:
    attempts(surroundings, 2)
    done = command("gate", "aa", "--clear", "--why", "just so")
    assert done.code == 2
    assert "has not halted" in done.err


def test_another_level_of_the_gate_is_another_record(command: Command, surroundings: Path) -> None:
    halted(surroundings)
    assert command("gate", "aa", "--clear", "--why", "mended", "--json").code == 0
    config = surroundings / "other.toml"
    config.write_text("[gate]\ntrial_alpha = 0.02\n")
    assert command("gate", "aa", "--config", str(config), "--json").document["halted"]
