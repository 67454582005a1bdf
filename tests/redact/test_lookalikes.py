"""What only looks like a secret stays, and so does the code that speaks of secrets."""

from __future__ import annotations

import base64
import hashlib
import random
import uuid
from collections.abc import Callable

import pytest

from skillopt_sleep.redact import Redactor
from tests.redact.shapes import ALNUM, HEX, URLSAFE, run

WITH = Redactor()
WITHOUT = Redactor(engine=False)


def _icon(rng: random.Random) -> str:
    picture = b"\x89PNG\r\n\x1a\n" + rng.randbytes(600)
    return f'<img src="data:image/png;base64,{base64.b64encode(picture).decode()}">'


def _integrity(rng: random.Random) -> str:
    digest = base64.b64encode(hashlib.sha512(rng.randbytes(9)).digest()).decode()
    return f'"node_modules/a": {{"version": "1.2.3",\n"integrity": "sha512-{digest}"}}'


def _go_sum(rng: random.Random) -> str:
    digest = base64.b64encode(hashlib.sha256(rng.randbytes(9)).digest()).decode()
    return f"github.com/spf13/cobra v1.10.1 h1:{digest}\ngithub.com/spf13/cobra v1.10.1/go.mod h1:{digest}"


def _encrypted_content(rng: random.Random) -> str:
    sealed = base64.urlsafe_b64encode(rng.randbytes(900)).decode()
    return f'{{"type": "reasoning", "summary": [], "encrypted_content": "gAAAAAB{sealed}"}}'


LOOKALIKES: dict[str, Callable[[random.Random], str]] = {
    "commit id": lambda r: f"fixed in {run(HEX, 40)(r)}, see commit {run(HEX, 7)(r)}",
    "uuid": lambda r: f"session {uuid.UUID(int=r.getrandbits(128), version=4)} was resumed",
    "npm integrity": _integrity,
    "go.sum": _go_sum,
    "lock file hash": lambda r: f"    --hash=sha256:{run(HEX, 64)(r)} \\",
    "image digest": lambda r: f"FROM python:3.13-slim@sha256:{run(HEX, 64)(r)}",
    "slug": lambda r: "docs/risk-management-plan.md and the task-sk-learn-migration-plan-2026 of desk-booking",
    "base64 icon": _icon,
    "encrypted content": _encrypted_content,
    "tool call id": lambda r: (
        f'{{"tool_use_id": "toolu_01{run(ALNUM, 22)(r)}", "request_id": "req_011C{run(ALNUM, 20)(r)}"}}'
    ),
    "file path": lambda r: f"/home/ann/.cache/uv/archive-v0/{run(URLSAFE, 21)(r)}/lib/python3.13/site-packages/key.py",
    "test id": lambda r: "tests/api/test_tokens.py::TestToken::test_refresh_token_expires[password-reset-3600-utf8]",
    "version": lambda r: "bumped @scope/auth-token-kit from 10.0.0-rc.12+build.20260803 to ^11.2.0",
    "long identifier": lambda r: (
        "kAudioUnitProperty_SampleRateConverterComplexity2 getSecretKeyFromEnvironmentOrDefault3"
    ),
    "link with a port": lambda r: "open http://localhost:5173/@vite/client?v=3f2a9c1e or ws://127.0.0.1:9229/devtools",
}

CODE = """\
password = getpass.getpass("Password: ")
token = request.headers.get("X-Auth-Token")
if not api_key: raise ValueError("api_key is required, set API_KEY or pass --api-key")
def login(user: str, password: str, *, token: str | None = None) -> Session:
    client = Client(api_key=os.environ["OPENAI_API_KEY"], token=settings.token, secret=config.auth.secret)
const password = user.password; const token = await getToken(user.id);
export GITHUB_TOKEN=$(gh auth token) NPM_TOKEN=${NPM_TOKEN} KEY=$1
curl -H "Authorization: Bearer $TOKEN" -H "X-Api-Key: ${API_KEY}" https://api.example.org
env: { GH_TOKEN: "${{ secrets.GITHUB_TOKEN }}" }
"token": "string", "secret": "<your secret>", "api_key": "YOUR_API_KEY", "auth": "basic", password: ********
headers = {"Authorization": f"Bearer {token}", "Cookie": f"session={session_id}"}
dsn = f"postgres://{user}:{password}@{host}:{port}/{name}"
PASSWORD_RESET_TIMEOUT = 3600
max_tokens: 4096, token_count=1234, "cache_read_input_tokens": 18342
mkdir -p src/mysql && docker run -p 3306:3306 mysql:8.4 && mysql -u root -p app < dump.sql
git push origin HEAD:refs/heads/fix/token-refresh-2 && ssh -i ~/.ssh/id_ed25519 git@github.com
if strings.HasPrefix(s, "-----BEGIN PRIVATE KEY-----") && strings.HasSuffix(s, "-----END PRIVATE KEY-----") {
type Credentials struct { Password string `json:"password"` }
echo "done" | tee log.txt; sudo -n true; login page password reset
the password is required and the token is refreshed by refresh_token_v2; the secret is in config.auth.v2
key = (row.id, row.name); keys = sorted(d, key=lambda k: k.lower()); partition_key="tenant_id"
sk-spinner sk-circle-fade task-list disk-usage risk-register-2026
"""


def test_at_most_one_of_fifteen_lookalikes_is_changed() -> None:
    assert len(LOOKALIKES) == 15
    for redactor in (WITH, WITHOUT):
        changed = {
            name
            for name, draw in LOOKALIKES.items()
            for seed in range(20)
            if redactor.redact(text := draw(random.Random(seed))) != text
        }
        assert len(changed) <= 1, changed


@pytest.mark.parametrize("line", CODE.splitlines())
def test_code_that_speaks_of_secrets_stays(line: str) -> None:
    assert WITHOUT.redact(line) == line
    assert WITH.redact(line) == line


def test_a_message_about_passwords_is_no_password_to_our_own_rules() -> None:
    message = '"password": "Password must have at least 8 characters"'
    assert WITHOUT.redact(message) == message


def test_a_mention_of_key_marks_does_not_take_the_code_between_them() -> None:
    code = (
        'begin = "-----BEGIN RSA PRIVATE KEY-----"\n'
        + "x = compute(x)\n" * 20
        + 'end = "-----END RSA PRIVATE KEY-----"'
    )
    assert WITH.redact(code).count("x = compute(x)\n") == 20
    assert WITHOUT.redact(code) == code
