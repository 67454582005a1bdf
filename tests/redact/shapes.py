"""Made-up secrets by shape, drawn at run time so that no literal secret stands in the repository.

A shape is what a vendor or a tool documents, not what our rules look for: lengths are the real ones. `context` is a
format string that may surround the secret; the default is the secret alone.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
LOWER36 = string.ascii_lowercase + string.digits
UPPER36 = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
PASSWORD = ALNUM + "!#^*+-_"


@dataclass(frozen=True)
class Shape:
    name: str
    draw: Callable[[random.Random], str]
    context: str = "{}"
    engine_only: bool = False
    """Only betterleaks knows it."""

    def planted(self, rng: random.Random) -> tuple[str, str]:
        """(the secret, the secret in its context)"""
        secret = self.draw(rng)
        return secret, self.context.format(secret)


def run(alphabet: str, length: int) -> Callable[[random.Random], str]:
    return lambda rng: "".join(rng.choices(alphabet, k=length))


def token(prefix: str, alphabet: str, length: int, suffix: str = "") -> Callable[[random.Random], str]:
    return lambda rng: prefix + "".join(rng.choices(alphabet, k=length)) + suffix


def mixed(alphabet: str, length: int) -> Callable[[random.Random], str]:
    """A run with at least two digits, a lower-case and, where the alphabet has them, an upper-case letter inside."""

    def draw(rng: random.Random) -> str:
        while True:
            text = "".join(rng.choices(alphabet, k=length))
            upper = any(c.isupper() for c in text) or not any(c.isupper() for c in alphabet)
            if sum(c.isdigit() for c in text) >= 2 and any(c.islower() for c in text) and upper and text[0].isalnum():
                return text

    return draw


def _b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _jwt(rng: random.Random) -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    head = part('{"alg":"HS256","typ":"JWT"}')
    subject, issued = "".join(rng.choices(LOWER36, k=12)), rng.randrange(10**9, 2 * 10**9)
    body = part(f'{{"sub":"{subject}","iat":{issued}}}')
    return f"{head}.{body}.{''.join(rng.choices(URLSAFE, k=43))}"


def _pem_lines(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choices(BASE64, k=64)) for _ in range(count)] + ["".join(rng.choices(BASE64, k=34)) + "=="]


def pem(label: str, *, lines: int = 6, joint: str = "\n", end: bool = True) -> Callable[[random.Random], str]:
    def draw(rng: random.Random) -> str:
        rows = [f"-----BEGIN {label}-----", *_pem_lines(rng, lines)]
        return joint.join([*rows, f"-----END {label}-----"] if end else rows)

    return draw


def _pem_tail(rng: random.Random) -> str:
    return "\n".join([*_pem_lines(rng, 4), "-----END RSA PRIVATE KEY-----"])


def _basic(rng: random.Random) -> str:
    return _b64(f"deploy:{mixed(ALNUM, 14)(rng)}".encode())


def _uuid(rng: random.Random) -> str:
    digits = "".join(rng.choices(HEX, k=32))
    return "-".join((digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:]))


def _encoded_github(rng: random.Random) -> str:
    return _b64(("token: " + token("ghp_", ALNUM, 36)(rng)).encode())


def _percent(rng: random.Random) -> str:
    return "%67%68%70%5F" + run(ALNUM, 36)(rng)


SHAPES: tuple[Shape, ...] = (
    # vendor tokens, naked
    Shape("github classic", token("ghp_", ALNUM, 36)),
    Shape("github server", token("ghs_", ALNUM, 36)),
    Shape("github fine-grained", lambda r: "github_pat_" + run(ALNUM, 22)(r) + "_" + run(ALNUM, 59)(r)),
    Shape("gitlab personal", token("glpat-", URLSAFE, 20)),
    Shape("gitlab runner", token("glrt-", URLSAFE, 20)),
    Shape("openai legacy", lambda r: "sk-" + run(ALNUM, 20)(r) + "T3BlbkFJ" + run(ALNUM, 20)(r)),
    Shape("openai project", lambda r: "sk-proj-" + run(URLSAFE, 74)(r) + "T3BlbkFJ" + run(URLSAFE, 74)(r)),
    Shape("anthropic", token("sk-ant-api03-", URLSAFE, 93, "AA")),
    Shape("openrouter", token("sk-or-v1-", HEX, 64)),
    Shape("deepseek", token("sk-", HEX, 32), "DEEPSEEK_API_KEY={}"),
    Shape("aws id alone", token("AKIA", BASE32, 16)),
    Shape("aws session id", token("ASIA", BASE32, 16)),
    Shape("aws secret", run(BASE64, 40), "aws_secret_access_key = {}"),
    Shape("aws secret in JSON", run(BASE64, 40), '{{"SecretAccessKey": "{}", "Version": 1}}'),
    Shape("google api key", token("AIza", URLSAFE, 35)),
    Shape("google oauth secret", token("GOCSPX-", URLSAFE, 28)),
    Shape("google access token", token("ya29.", URLSAFE, 120)),
    Shape("azure client secret", lambda r: run(ALNUM, 3)(r) + "8Q~" + run(ALNUM + "_~.-", 34)(r)),
    Shape(
        "azure storage", token("", BASE64, 86, "=="), "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};E=b"
    ),
    Shape(
        "azure service bus", token("", BASE64, 43, "="), "Endpoint=sb://x.net/;SharedAccessKeyName=n;SharedAccessKey={}"
    ),
    Shape("azure sas", lambda r: run(ALNUM, 41)(r) + "%3D", "https://a.blob.core.windows.net/c?sv=2024-11-04&sig={}"),
    Shape("slack bot", lambda r: f"xoxb-{run(string.digits, 12)(r)}-{run(string.digits, 13)(r)}-{run(ALNUM, 24)(r)}"),
    Shape("slack app", lambda r: f"xapp-1-A{run(UPPER36, 10)(r)}-{run(string.digits, 13)(r)}-{run(HEX, 64)(r)}"),
    Shape(
        "slack webhook",
        lambda r: f"T{run(UPPER36, 8)(r)}/B{run(UPPER36, 10)(r)}/{run(ALNUM, 24)(r)}",
        "https://hooks.slack.com/services/{}",
    ),
    Shape(
        "discord webhook",
        lambda r: f"{run(string.digits, 18)(r)}/{run(URLSAFE, 68)(r)}",
        "https://discord.com/api/webhooks/{}",
    ),
    Shape("telegram", token("AA", URLSAFE, 33), "bot 8123456789:{} polls"),
    Shape("stripe live", token("sk_live_", ALNUM, 24)),
    Shape("stripe restricted", token("rk_live_", ALNUM, 99)),
    Shape("stripe webhook", token("whsec_", ALNUM, 32)),
    Shape("twilio key", token("SK", HEX, 32)),
    Shape("twilio auth token", run(HEX, 32), "TWILIO_AUTH_TOKEN={}"),
    Shape("sendgrid", lambda r: f"SG.{run(URLSAFE, 22)(r)}.{run(URLSAFE, 43)(r)}"),
    Shape("mailgun", token("key-", HEX, 32)),
    Shape("mailchimp", token("", HEX, 32, "-us12"), "MAILCHIMP_API_KEY={}"),
    Shape("npm", token("npm_", ALNUM, 36)),
    Shape("npmrc", _uuid, "//registry.example.org/:_authToken={}"),
    Shape("pypi", token("pypi-AgEIcHlwaS5vcmc", URLSAFE, 120)),
    Shape("rubygems", token("rubygems_", HEX, 48)),
    Shape("docker", token("dckr_pat_", URLSAFE, 27)),
    Shape("huggingface", token("hf_", string.ascii_letters, 34)),
    Shape("groq", token("gsk_", ALNUM, 52)),
    Shape("replicate", token("r8_", ALNUM, 37)),
    Shape("digitalocean", token("dop_v1_", HEX, 64)),
    Shape("databricks", token("dapi", HEX, 32)),
    Shape("vault", token("hvs.", URLSAFE, 95)),
    Shape("terraform cloud", lambda r: run(ALNUM, 14)(r) + ".atlasv1." + run(URLSAFE, 67)(r), "{}", True),
    Shape("doppler", token("dp.pt.", ALNUM, 43)),
    Shape("tailscale", lambda r: f"tskey-auth-{run(ALNUM, 12)(r)}CNTRL-{run(ALNUM, 32)(r)}"),
    Shape("supabase", token("sbp_", HEX, 40)),
    Shape("shopify", token("shpat_", HEX, 32)),
    Shape("square", token("sq0atp-", URLSAFE, 22)),
    Shape("notion", lambda r: "ntn_" + run(string.digits, 11)(r) + run(ALNUM, 35)(r)),
    Shape("linear", token("lin_api_", ALNUM, 40)),
    Shape("figma", token("figd_", URLSAFE, 40)),
    Shape("postman", lambda r: f"PMAK-{run(HEX, 24)(r)}-{run(HEX, 34)(r)}"),
    Shape("grafana", lambda r: f"glsa_{run(ALNUM, 32)(r)}_{run(HEX, 8)(r)}"),
    Shape("sentry", token("sntryu_", HEX, 64)),
    Shape("new relic", token("NRAK-", UPPER36, 27)),
    Shape("datadog", run(HEX, 32), "DD_API_KEY={}"),
    Shape("cloudflare", run(URLSAFE, 40), "CLOUDFLARE_API_TOKEN={}"),
    Shape("heroku", _uuid, "HEROKU_API_KEY={}"),
    Shape("age", token("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    Shape("facebook", token("EAACEdEose0cBA", ALNUM, 120)),
    Shape("dropbox", token("sl.", URLSAFE, 140)),
    Shape("airtable", lambda r: f"pat{run(ALNUM, 14)(r)}.{run(HEX, 64)(r)}"),
    # tokens known by their build
    Shape("jwt", _jwt),
    Shape("private key", pem("RSA PRIVATE KEY")),
    Shape("private key of today", pem("PRIVATE KEY", lines=2)),
    Shape("private key of OpenSSH", pem("OPENSSH PRIVATE KEY")),
    Shape("private key, PGP", pem("PGP PRIVATE KEY BLOCK")),
    Shape("private key, cut off", pem("EC PRIVATE KEY", end=False)),
    Shape("private key, beginning lost", _pem_tail),
    Shape("private key in JSON", pem("PRIVATE KEY", joint="\\n"), '{{"private_key": "{}", "client_id": 1}}'),
    Shape("private key on one line", pem("RSA PRIVATE KEY", joint=" ")),
    # assignments
    Shape("env password", mixed(PASSWORD, 16), "export DB_PASSWORD={}"),
    Shape("env secret, quoted", run(ALNUM, 24), "CLIENT_SECRET='{}'"),
    Shape("env key", mixed(ALNUM, 32), "export STRIPE_KEY={}"),
    Shape("rails", run(HEX, 128), "SECRET_KEY_BASE={}"),
    Shape("JSON password", mixed(PASSWORD, 12), '{{"user": "bob", "password": "{}", "port": 1}}'),
    Shape("JSON password, escaped", mixed(PASSWORD, 12), '{{"body": "{{\\"password\\": \\"{}\\", \\"a\\": 1}}"}}'),
    Shape("YAML api key", run(ALNUM, 32), "api_key: {}\nregion: eu"),
    Shape("INI password", mixed(PASSWORD, 16), "[db]\npassword = {}\nport = 5432"),
    Shape("code constant", mixed(ALNUM, 24), 'const apiKey = "{}";'),
    Shape("bot token in code", mixed(ALNUM, 40), 'token: "{}",'),
    Shape("uuid secret", _uuid, 'client_secret: "{}"'),
    # URLs and connection strings
    Shape("postgres URL", mixed(PASSWORD, 14), "postgres://app:{}@db.example.org:5432/app"),
    Shape("redis URL", mixed(ALNUM, 20), "redis://:{}@cache:6379/0"),
    Shape("mongodb URL", mixed(ALNUM, 16), "mongodb+srv://app:{}@c0.x.mongodb.net/?w=majority"),
    Shape("https URL", mixed(ALNUM, 12), "git clone https://bob:{}@git.example.org/x.git"),
    Shape("https URL, token alone", run(HEX, 40), "https://{}@git.example.org/x.git"),
    Shape("sql server", mixed(ALNUM, 14), "Server=db;Uid=sa;Pwd={};Encrypt=yes"),
    Shape("query parameter", mixed(ALNUM, 32), "GET /v1?access_token={}&page=2"),
    Shape("one-time password", token("", BASE32, 32), "otpauth://totp/ACME:bob?secret={}&issuer=ACME"),
    # as people say it
    Shape("said password", mixed(PASSWORD, 12), "log in as bob, the password is {}\nand try again"),
    Shape("said token", mixed(ALNUM, 32), 'use this: the token for staging is "{}", thanks'),
    Shape("aws secret in a table", mixed(BASE64, 40), "id,secret\nAKIAQWERTYUIOPASDFGH,{}\n"),
    # headers
    Shape("bearer", mixed(ALNUM, 40), "Authorization: Bearer {}"),
    Shape("basic", _basic, "Authorization: Basic {}"),
    Shape("api key header", mixed(ALNUM, 32), "-H 'X-Api-Key: {}'"),
    Shape("cookie", mixed(LOWER36, 26), "Cookie: theme=dark; sessionid={}"),
    Shape("set-cookie", mixed(ALNUM, 32), "set-cookie: sid={}; Path=/; HttpOnly"),
    # command lines
    Shape("flag", mixed(PASSWORD, 10), "tool --user bob --password={} --host db"),
    Shape("flag and blank", mixed(PASSWORD, 10), "tool --password {} --host db"),
    Shape("flag in a list", mixed(PASSWORD, 10), '["tool", "--password", "{}", "--host"]'),
    Shape("token flag", mixed(ALNUM, 20), "vercel deploy --token {}"),
    Shape("mysql", mixed(ALNUM, 10), "mysql -h db -u root -p{} app"),
    Shape("sshpass", mixed(ALNUM, 10), "sshpass -p {} ssh root@host"),
    Shape("curl user", mixed(ALNUM, 10), "curl -s -u bob:{} https://example.org"),
    Shape("docker login", mixed(ALNUM, 12), "docker login -u bob -p {} registry.example.org"),
    Shape("redis-cli", mixed(ALNUM, 12), "redis-cli -h cache -a {} ping"),
    Shape("pgpassword", mixed(ALNUM, 12), "PGPASSWORD={} psql -h db"),
    # files
    Shape("netrc", mixed(ALNUM, 12), "machine api.example.org login bob password {}"),
    Shape("netrc on lines", mixed(ALNUM, 12), "machine api.example.org\n  login bob\n  password {}"),
    Shape("pgpass", mixed(ALNUM, 12), "db.example.org:5432:app:bob:{}"),
    Shape("docker config", _basic, '{{"auths": {{"r.example.org": {{"auth": "{}"}}}}}}'),
    Shape("kubeconfig", token("", BASE64, 160, "=="), "    client-key-data: {}"),
    Shape("wireguard", token("", BASE64, 43, "="), "[Interface]\nPrivateKey = {}"),
    # in another coat
    Shape("base64", _encoded_github, "data: {}"),
    Shape("hex", lambda r: token("ghp_", ALNUM, 36)(r).encode().hex(), "raw {}"),
    Shape("percent", _percent, "next={}"),
)


def traces(secret: str, text: str, width: int = 10) -> list[str]:
    """Pieces of the secret, `width` characters long, that stand in `text`; the marks of a key block are none."""
    lines = [line for line in secret.replace("\\n", "\n").splitlines() if "-----" not in line] or [secret]
    pieces = {line[at : at + width] for line in lines for at in range(max(1, len(line) - width + 1))}
    return sorted(piece for piece in pieces if piece.strip() and piece in text)
