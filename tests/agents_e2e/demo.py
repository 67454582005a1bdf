"""`./dev demo --native`: a night on the shipped sample in which the real Claude Code attempts, with a scripted model.

    python -m tests.agents_e2e.demo BIN_FOLDER

It needs no key and reaches nobody: the product, the agent and its model run in namespaces that have loopback alone. The
sample's project gets a repository whose linter refuses what the sample's linter refused; the model opens the learned
skill first, and takes the time from where the rule says once it was shown the rule.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from skillopt_sleep.cli.demonstration import lay_out
from tests.agents_e2e.agents import ClaudeCode
from tests.agents_e2e.box import Ran
from tests.agents_e2e.runs import Stage
from tests.bench import loading

SKILL = "shop-lessons"
PATIENCE = 600.0
LINT = """\
grep -n 'Date.now' src/*.ts >/dev/null || exit 0
echo "$PWD/src/shop.ts"
echo "  14:9  error  'Date.now' is restricted from being used. Use clock.now() instead  no-restricted-properties"
exit 1
"""
FILES = {
    "package.json": '{"name": "shop", "private": true, "scripts": {"lint": "sh lint.sh"}}\n',
    "lint.sh": LINT,
    "src/shop.ts": "export {};\n",
    "config/app.yaml": "currency: EUR\n",
}
BEFORE = "2026-09-01T00:00:00Z"
"""When the repository was made: before the first session of the sample."""
SETTINGS = "[agents]\ndeterministic = true\n[gate]\ntrials = 1\n"
"""The model answers the same question the same way, and one rule is attempted: the one with most at stake."""


def night(folder: Path, bin_folder: Path) -> Ran:
    """What `run` says of the sample's home."""
    _, project = lay_out(folder)
    stage = Stage(ClaudeCode(), folder, bin_folder, script(), project)
    begun_at(folder / "home", repository(project))
    (folder / "sleep.toml").write_text(SETTINGS, encoding="utf-8")
    words = ["run", "--target-backend", "claude", "--budget-tokens", "2000000", "--project", str(project)]
    argv = [sys.executable, "-m", "skillopt_sleep.cli", *words, "--home", str(folder / "state")]
    with stage.box as box:
        environ = {**stage.environ, "NO_COLOR": "1", "COLUMNS": "118"}
        return box.run([*argv, "--config", str(folder / "sleep.toml")], project, environ, PATIENCE)


def script() -> dict[str, list[dict[str, Any]]]:
    """What the model does, whatever it is asked: the rule alone makes a difference."""
    stamp = "echo 'row.changedAt = {}.now();' >> src/shop.ts; npm run lint"
    opened = {"tool": "Skill", "arguments": {"skill": SKILL}}
    obeys = {
        "if": "write `clock.now()`",
        "then": {"shell": stamp.format("clock")},
        "else": {"shell": stamp.format("Date")},
    }
    steps = [opened, obeys, {"text": "Done."}]
    return dict.fromkeys(loading.script("make_sample").REQUESTS, steps)


def repository(project: Path) -> str:
    """The project as the sessions found it; gives its commit."""
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    dated = {"GIT_AUTHOR_DATE": BEFORE, "GIT_COMMITTER_DATE": BEFORE}
    environ = {**os.environ, **dated, **{f"GIT_{who}_{what}": "shop@example.com" for who in ("AUTHOR", "COMMITTER")
                                         for what in ("NAME", "EMAIL")}}  # fmt: skip
    for words in (["add", "."], ["commit", "-qm", "The shop"]):
        subprocess.run(["git", "-C", str(project), *words], check=True, env=environ)
    head = ["git", "-C", str(project), "rev-parse", "HEAD"]
    return subprocess.run(head, check=True, capture_output=True, text=True).stdout.strip()


def begun_at(home: Path, commit: str) -> None:
    """Let the sample's sessions have begun at this commit: the one that they name is nowhere."""
    for path in home.rglob("*.jsonl"):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r'("(?:commit_hash|headCommit)":")[0-9a-f]{40}', rf"\g<1>{commit}", text))


def thrown_away(bin_folder: Path) -> Ran:
    """That night in a folder of its own, with a short name: of what a command said the first 256 characters are kept,
    paths among them."""
    with tempfile.TemporaryDirectory(prefix="skillopt-sleep-demo-") as folder:
        return night(Path(folder).resolve(), bin_folder)


def main() -> int:
    ran = thrown_away(Path(sys.argv[1]))
    sys.stderr.write(ran.err)
    sys.stdout.write(ran.out)
    return ran.code


if __name__ == "__main__":
    sys.exit(main())
