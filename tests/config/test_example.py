from __future__ import annotations

import re
import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.config import Config, example, keys, load
from skillopt_sleep.config.example import toml
from skillopt_sleep.config.lines import key_lines
from skillopt_sleep.config.model import lookback_ms, sections

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    TEXT | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
)


def test_the_shipped_file_is_what_the_model_yields(checkout: Path):
    shipped = (checkout / "sleep.toml").read_text(encoding="utf-8")
    assert shipped == example(), "write skillopt_sleep.config.example() to sleep.toml"


def test_the_shipped_file_changes_nothing(tmp_path):
    (tmp_path / "sleep.toml").write_text(example(), encoding="utf-8")
    got = load(tmp_path / "sleep.toml", cwd=tmp_path, environ={})
    assert got.config == Config()
    assert set(got.origins.values()) == {"default"}


def uncommented() -> str:
    return re.sub(r"(?m)^#(?! )", "", example())


def test_every_line_may_be_uncommented(tmp_path):
    (tmp_path / "sleep.toml").write_text(uncommented(), encoding="utf-8")
    got = load(tmp_path / "sleep.toml", cwd=tmp_path, environ={})
    assert "default" not in got.origins.values()
    plain = Config().model_dump()
    for key, value, _ in got.rows():
        section, _, name = key.partition(".")
        if plain[section][name] not in (None, (), {}):
            assert value == Config().model_dump(mode="json")[section][name], key


def test_every_key_is_found_on_its_line():
    text, section = uncommented(), ""
    expected: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if head := re.fullmatch(r"\[(\w+)\]", line):
            section = head[1]
        elif key := re.match(r"(\w+) = ", line):
            expected[section, key[1]] = number
    found = key_lines(text)
    assert {path: line for path, line in found.items() if len(path) == 2} == expected
    assert [".".join(path) for path in expected] == list(keys())


def test_every_section_and_key_is_described():
    for name, section in sections().items():
        assert section.__doc__, name
        for key, field in section.model_fields.items():
            assert (field.description or "").endswith("."), f"{name}.{key}"
            assert field.default is not None or field.examples, f"{name}.{key} shows no value"


def test_the_sections_are_those_of_the_interface():
    promised = (
        "harvest mine split evolve gate reward health preferences models agents "
        "budget targets adopt schedule redact notify"
    )
    assert list(sections()) == promised.split()


def test_given_values_are_set_and_the_rest_is_shown():
    text = example({"harvest.projects": ['/w/ä "b"\x7f'], "adopt.auto": False})
    assert tomllib.loads(text)["harvest"] == {"projects": ['/w/ä "b"\x7f']}
    assert tomllib.loads(text)["adopt"] == {"auto": False}


@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_a_value_reads_back_as_it_was(values):
    text = "".join(f"{toml(key)} = {toml(value)}\n" for key, value in values.items())
    assert tomllib.loads(text) == values
    assert {path[0]: line for path, line in reversed(key_lines(text).items())} == {
        key: n for n, key in enumerate(values, start=1)
    }


def test_a_look_back_is_hours_days_or_weeks():
    assert [lookback_ms(text) for text in ("all", "72h", "3d", "2w")] == [None, 259_200_000, 259_200_000, 1_209_600_000]


def test_the_same_values_have_the_same_digest():
    assert Config().digest() == Config().digest() != Config.model_validate({"adopt": {"auto": True}}).digest()
