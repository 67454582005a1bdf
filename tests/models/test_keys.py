"""Where keys are looked for, which are refused, and that none is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.models.keys import Key, find_key, without_keys

SECRET = "sk-not-to-be-shown-0123456789"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(f"{SECRET}\n")
    path.chmod(0o600)
    return path


def test_the_environment_comes_before_a_credential_and_the_first_name_before_the_second(tmp_path: Path) -> None:
    (tmp_path / "B").write_text("of-the-credential\n")
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert find_key(("A", "B"), None, {}) is None
    assert find_key(("A", "B"), None, environ) == Key("of-the-credential", "the credential B")
    assert find_key(("A", "B"), None, {**environ, "B": "of-the-environment"}) == Key("of-the-environment", "B")
    assert find_key(("A", "B"), None, {**environ, "A": "of-another"}) == Key("of-another", "A")


def test_what_is_named_is_taken_and_nothing_else(file: Path, tmp_path: Path) -> None:
    assert find_key(("A",), "MINE", {"A": "a", "MINE": "m"}) == Key("m", "MINE")
    assert find_key(("A",), str(file), {"A": "a"}) == Key(SECRET, str(file))
    with pytest.raises(NotSignedIn, match="MINE"):
        find_key(("A",), "MINE", {"A": "a"})
    with pytest.raises(NotSignedIn, match="cannot be read"):
        find_key(("A",), str(tmp_path / "none"), {"A": "a"})


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620, 0o611])
def test_a_file_that_others_may_touch_is_refused_with_its_remedy(mode: int, file: Path) -> None:
    file.chmod(mode)
    with pytest.raises(NotSignedIn) as refused:
        find_key((), str(file), {})
    assert refused.value.remedy == f"chmod 600 {file}"


def test_a_link_is_judged_by_what_it_leads_to(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(file)
    assert find_key((), str(link), {}) == Key(SECRET, str(link))
    file.chmod(0o644)
    with pytest.raises(NotSignedIn):
        find_key((), str(link), {})


@pytest.mark.parametrize(
    "text", ["", "\n", "two words", "a\r\nX-Injected: yes", "ключ", "k" * 20_000, "\x00"], ids=range(7)
)
def test_what_is_no_key_is_refused_and_not_quoted(text: str, file: Path) -> None:
    file.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(NotSignedIn) as refused:
        find_key((), str(file), {})
    assert not text.strip() or text.strip()[:5] not in str(refused.value)


def test_a_folder_or_a_pipe_is_no_key(tmp_path: Path) -> None:
    with pytest.raises(NotSignedIn, match="is no file"):
        find_key((), str(tmp_path), {})


def test_a_name_leads_to_no_file_beside_the_credentials(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "OUTSIDE").write_text("stolen")
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path / "inside")}
    assert find_key(("../OUTSIDE",), None, environ) is None


def test_a_key_does_not_print_itself(file: Path) -> None:
    assert SECRET not in repr(find_key((), str(file), {}))


def test_a_child_that_needs_no_key_gets_none() -> None:
    keys = {"OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "GH_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "APIKEY"}
    kept = {"PATH", "HOME", "DBUS_SESSION_BUS_ADDRESS", "KEYBOARD", "CREDENTIALS_DIRECTORY", "TOKENS_SEEN"}
    assert set(without_keys(dict.fromkeys(keys | kept, "x"))) == kept
