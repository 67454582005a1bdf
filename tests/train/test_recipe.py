"""A recipe is read with inheritance and settings, and its mistakes are named by file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.config import Config
from skillopt_sleep.errors import ConfigError, NotFound, UsageError
from skillopt_sleep.train.recipe import Recipe, configured, resolve
from skillopt_sleep.train.recipe_files import DEEPEST


def written(folder: Path, **files: str) -> Path:
    """Files by name without ending; the path of the last one."""
    for name, text in files.items():
        path = folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
    return path


def test_the_nearest_value_wins_over_inherited_ones_and_a_setting_over_all(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    written(tmp_path / "lib", base="epochs: 3\nalpha: 0.1\nrepeats: 5\n", mid="extends: base.yaml\nalpha: 0.2\n")
    recipe = written(tmp_path, own="extends: lib/mid.yaml\nrepeats: 2\n")
    found = resolve(recipe, ["epochs=7"], {"batch_size": 9, "seed": None})
    assert (found.epochs, found.alpha, found.repeats, found.batch_size, found.seed) == (7, 0.2, 2, 9, 0)


def test_an_option_wins_over_a_setting() -> None:
    assert resolve(None, ["epochs=7"], {"epochs": 2}).epochs == 2


def test_the_words_of_the_field_mean_what_they_mean_there(tmp_path: Path) -> None:
    recipe = written(
        tmp_path,
        own="edit_budget: 6\nsuccess_weight: 1\ntoken_efficiency_weight: 0.5\ntool_correctness_weight: 0.25\n"
        "latency_penalty: 0.25\n",
    )
    found = resolve(recipe)
    assert found.schedule().most == found.learning_rate == 6
    assert found.reward().costs == {"tokens": 0.25, "tool_errors": 0.125, "seconds": 0.125}


def test_success_is_never_bought_by_the_other_rewards(tmp_path: Path) -> None:
    """Costs sum to less than the whole whatever their weights, and speak only in a tie (core, Metric)."""
    costs = resolve(None, ["latency_penalty=1000", "token_efficiency_weight=1000"]).reward().costs
    assert sum(costs.values()) < 1


def test_gate_and_rewards_of_the_configuration_hold_where_the_recipe_says_nothing(tmp_path: Path) -> None:
    reward = {"token_efficiency": 0.2, "tool_correctness": 0.1, "latency": 0.3}
    config = Config.model_validate({"gate": {"mode": "strict", "repeats": 5, "metric": "mixed"}, "reward": reward})
    base = configured(config.gate, config.reward)
    costs = resolve(base=base).reward().costs
    assert costs == pytest.approx({"tokens": 0.2 / 1.6, "tool_errors": 0.1 / 1.6, "seconds": 0.3 / 1.6})
    recipe = tmp_path / "r.yaml"
    recipe.write_text("latency_penalty: 0\n")
    assert "seconds" not in resolve(recipe, base=base).reward().costs
    assert resolve(recipe, ["token_efficiency_weight=0"], base=base).reward().costs.keys() == {"tool_errors"}
    assert (resolve(base=base).gate, resolve(base=base).repeats, resolve(base=base).metric) == ("strict", 5, "mixed")
    assert resolve(None, ["repeats=2"], base=base).repeats == 2
    assert resolve(base=configured(Config().gate, Config().reward)) == resolve()


def test_recall_and_dreams_reach_the_schedule() -> None:
    schedule = resolve(settings=["recall_k=3", "dream_factor=2"]).schedule()
    assert (schedule.recall, schedule.dreams) == (3, 2)


def test_words_of_yaml_that_look_like_something_else_stay_words(tmp_path: Path) -> None:
    recipe = resolve(written(tmp_path, own="gate: off\nsplit: 2:1:7\npatience:\n"))
    assert (recipe.gate, recipe.split, recipe.patience) == ("off", (2.0, 1.0, 7.0), None)


def test_a_recipe_as_resolved_is_the_recipe(tmp_path: Path) -> None:
    recipe = resolve(None, ["gate=off", "split=2:1:7", "preferences=['use pnpm', 'no: never']", "alpha=1e-3"])
    assert resolve(written(tmp_path, own=recipe.as_yaml())) == recipe


def test_a_small_edit_budget_is_never_exceeded_by_the_least_one() -> None:
    schedule = resolve(None, ["learning_rate=1", "lr_scheduler=linear"]).schedule()
    assert [step.edit_budget for step in schedule.steps(40)] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("epocs: 3", "own.yaml:1 epocs", "did you mean epochs?"),
        ("epochs: 2\nedit_budgt: 3", "own.yaml:2 edit_budgt", "did you mean edit_budget?"),
        ("epochs: '3'", "own.yaml:1 epochs", '"3" should be a valid integer'),
        ("\n\nalpha: 2", "own.yaml:3 alpha", "less than 1"),
        ("learning_rate: 3\nedit_budget: 4", "own.yaml:2 edit_budget", "says again"),
        ("epochs: 1\nepochs: 2", "own.yaml:2 epochs", "says again"),
        ("lr_scheduler: cos", "own.yaml:1 lr_scheduler", "'cosine'"),
        ("split: 1:2", "own.yaml:1 split", "such as 2:1:7"),
        ("split: 0:1:1", "own.yaml:1 split", "something for train"),
        ("extends: nowhere.yaml", "own.yaml:1 extends", "there is no recipe 'nowhere.yaml'"),
        ("extends: own.yaml", "own.yaml", "own.yaml → own.yaml"),
        ("extends: 3", "own.yaml:1 extends", "path of another recipe"),
        ("epochs: [1", "own.yaml:1", "not valid YAML"),
        ("a: &x 1\nb: *x", "own.yaml", "aliases"),
        ("- epochs", "own.yaml", "keys with values"),
        ("[" * 5000, "own.yaml", ""),
        ("x: !!python/object/apply:os.system [true]", "own.yaml:1", "not valid YAML"),
    ],
)
def test_a_mistake_is_named_by_file_line_and_key(tmp_path: Path, text: str, where: str, said: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        resolve(written(tmp_path, own=text))
    assert wrong.value.where.removeprefix(f"{tmp_path}/").startswith(where)
    assert said in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize("setting", ["epochs", "=3", "epochs=x", "epochs=[", "epoch=3"])
def test_a_setting_that_is_none_is_named(setting: str) -> None:
    with pytest.raises(UsageError) as wrong:
        resolve(None, [setting])
    assert "--set" in str(wrong.value)


def test_a_circle_over_several_files_is_shown(tmp_path: Path) -> None:
    recipe = written(tmp_path, a="extends: c.yaml", b="extends: a.yaml", c="extends: b.yaml")
    with pytest.raises(ConfigError, match=r"c\.yaml → b\.yaml → a\.yaml → c\.yaml"):
        resolve(recipe)


def test_a_chain_without_end_ends(tmp_path: Path) -> None:
    chain = {f"r{n}": f"extends: r{n - 1}.yaml" for n in range(1, DEEPEST + 5)}
    with pytest.raises(ConfigError):
        resolve(written(tmp_path, r0="epochs: 1", **chain))


def test_a_recipe_that_is_not_there_is_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        resolve(tmp_path / "none.yaml")


def test_a_recipe_cannot_choose_to_whom_anything_is_sent() -> None:
    names = " ".join(Recipe.model_fields)
    assert not any(word in names for word in ("backend", "model", "url", "key", "command", "target"))
