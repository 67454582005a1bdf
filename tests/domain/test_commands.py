"""Shell text as agents write it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.domain.commands import bare, canonical, find_run, flags, has_run, head, paths, split, starts_with


def words_of(command: str) -> list[tuple[str, ...]]:
    return [s.words for s in split(command)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls -la", [("ls", "-la")]),
        ("a | b && c || d; e & f\ng", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",), ("g",)]),
        ("FOO=1 BAR='x y' make test", [("make", "test")]),
        ("echo 'a && b' \"c | d\" e\\ f", [("echo", "a && b", "c | d", "e f")]),
        ("go test ./... 2>&1 | tail -5", [("go", "test", "./..."), ("tail", "-5")]),
        ("make > out.txt 2> err.txt &> all", [("make",)]),
        ("(cd a && make) && ls", [("cd", "a"), ("make",), ("ls",)]),
        ("if test -f x; then cat x; else ls; fi", [("test", "-f", "x"), ("cat", "x"), ("ls",)]),
        ("for f in *.go; do gofmt -w $f; done", [("gofmt", "-w", "$f")]),
        ("case $x in a) ls;; b|c) pwd;; esac; date", [("ls",), ("pwd",), ("date",)]),
        ("ls # not && this\npwd", [("ls",), ("pwd",)]),
        ("[[ -f a && -d b ]] && ls", [("[[", "-f", "a", "&&", "-d", "b", "]]"), ("ls",)]),
        ("bash -lc 'cd x && go vet'", [("cd", "x"), ("go", "vet")]),
        ("git \\\n  status", [("git", "status")]),
        ("echo $((1 + (2 * 3))) ${x:-(y)}", [("echo", "$((1 + (2 * 3)))", "${x:-(y)}")]),
        ("diff <(sort a) <(sort b)", [("sort", "a"), ("sort", "b"), ("diff", "<(sort a)", "<(sort b)")]),
        ("echo `date +%s`", [("date", "+%s"), ("echo", "`date +%s`")]),
        ("echo 'open", [("echo", "open")]),
        ('echo "open $(ls', [("ls",), ("echo", "open $(ls")]),
        ("", []),
        (") ; ) && (", []),
        ("echo a#b", [("echo", "a#b")]),
    ],
)
def test_a_text_is_cut_into_its_simple_commands(command: str, expected: list[tuple[str, ...]]) -> None:
    assert words_of(command) == expected


def test_a_heredoc_inside_a_substitution_does_not_leak_its_words() -> None:
    command = "git commit -m \"$(cat <<'EOF'\nDon't break ) && rm -rf /\nEOF\n)\" && git push"
    assert words_of(command)[0] == ("cat",)
    assert [w[:2] for w in words_of(command)[1:]] == [("git", "commit"), ("git", "push")]
    assert split(command)[0].stdin == "Don't break ) && rm -rf /\n"
    assert split(command)[0].inside
    assert not split(command)[1].inside


def test_a_heredoc_before_a_pipe_belongs_to_its_own_command() -> None:
    first, second, third = split("cat <<EOF | tee x\nbody\nEOF\nls")
    assert (first.words, first.stdin, second.words, second.stdin) == (("cat",), "body\n", ("tee", "x"), "")
    assert third.words == ("ls",)


def test_cd_is_known_to_what_follows_and_ends_with_its_subshell() -> None:
    found = {s.words[0]: s.cwd for s in split("cd web && (cd src && make) && ls; cd /abs; pwd")}
    assert (found["make"], found["ls"], found["pwd"]) == ("web/src", "web", "/abs")


def test_joints_assignments_and_redirections_are_kept_aside() -> None:
    first, second = split("A=1 make >log || true")
    assert (first.env, first.redirects, second.joint) == (("A=1",), ((">", "log"),), "||")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("go test ./... -run X", "go test"),
        ("git -C /x --no-pager commit -m y", "git commit"),
        ("npm run build -- --watch", "npm run build"),
        ("npm --prefix web run lint", "npm run lint"),
        ("sudo -u me timeout 30 /usr/bin/git push", "git push"),
        ("python3 -m pytest -q", "python3 -m pytest"),
        (".venv/bin/python x.py", ".venv/bin/python"),
        ("ls src", "ls"),
        ("cat foo", "cat"),
        ("zubble frob --x", "zubble frob"),
        ("xargs -n 1 grep foo", "grep"),
        ("env A=b C=d make all", "make all"),
        ("docker compose up -d", "docker compose up"),
    ],
)
def test_the_head_is_program_and_sub_command(command: str, expected: str) -> None:
    assert " ".join(head(split(command)[0].words)) == expected


def test_flags_stop_at_the_double_dash_and_lose_their_values() -> None:
    assert flags(split("go test -run=X --count 1 -- -v")[0].words) == ("-run", "--count")


def test_paths_are_what_looks_like_a_file() -> None:
    words = split("grep -rn 'a/b c' src/x.go README.md https://e.org/x --file=conf/a.toml '*.go' word")[0].words
    assert paths(words) == ("src/x.go", "README.md", "conf/a.toml")


def test_prefixes_and_runs_are_of_whole_words() -> None:
    words = ("git", "-C", "x", "push", "--force")
    assert starts_with(words, ("git", "push"))
    assert not starts_with(("git", "pushes"), ("git", "push"))
    assert not starts_with(words, ())
    assert has_run(("a", "b", "c"), ("b", "c"))
    assert not has_run(("a", "bc"), ("b", "c"))
    assert find_run(("a", "b", "a", "c"), ("a", "c")) == 2
    assert bare(()) == canonical(()) == head(()) == ()


ALPHABET = "ab \n'\"\\$`|&;()<>#{}[]=EOF-/"


@settings(max_examples=300)
@given(st.text(alphabet=ALPHABET, max_size=80))
def test_any_text_is_read_without_fail(command: str) -> None:
    for simple in split(command):
        assert simple.words
        head(simple.words), flags(simple.words), paths(simple.words)
        assert 0 <= simple.start <= simple.end <= len(command)


@pytest.mark.parametrize(
    "piece", ["$(", "(", "'", '"', "`", "${", "$((", "<<E\n", "a&&", "\\", "$(`", '"$(', "case ", "<("]
)
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    def seconds(n: int) -> float:
        began = time.perf_counter()
        split(piece * n)
        return time.perf_counter() - began

    seconds(100)
    assert seconds(20_000) < 2.0
