"""Secrets known by what stands before them: a key, a flag, a header, a URL, a command.

A pattern is tried only where one of its literals was found; every quantifier in it is bounded, so that a refused try
costs a bounded number of steps. The secret is the group `quoted`, `bare` or `secret`. `judge` says of a match whether
that is a secret: it errs towards yes for a literal in quotes or a setting of the environment, towards no for code.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from typing import NamedTuple

from skillopt_sleep.redact.likeness import is_gap, is_path_of_names, is_prose, is_random, is_wordlike, is_words

Match = re.Match[bytes]


class Context(NamedTuple):
    kind: str
    literals: tuple[str, ...]
    """Lower case; `pattern` is tried where one of them begins."""
    pattern: str
    judge: Callable[[Match], bool]


def secret_group(match: Match) -> str:
    """The group that holds the secret."""
    return match.lastgroup if match.lastgroup in ("quoted", "bare") else "secret"


def _value(match: Match) -> bytes:
    return match[secret_group(match)]


# ---- judges -----------------------------------------------------------------------------------------------------


def _is_setting(match: Match) -> bool:
    """`KEY=value` as in a shell or an .env file: an upper-case key, an equals sign, no blank."""
    return match["key"].isupper() and match["joint"].strip(b"\\\"'") == b"="


def _literal(match: Match) -> bytes:
    """The assigned value; empty where it is a gap, or code after a quote that closed, as in `"token=" + secret`."""
    value = _value(match)
    closed = match["quoted"] is not None and value[:1] in b" ,)]};"
    return b"" if closed or is_gap(value) else value


def _is_password(match: Match) -> bool:
    value = _literal(match)
    if len(value) < 4 or (value[:1] in b"/~" and is_wordlike(value)):
        return False
    if match["tail"]:
        return is_random(value, 12)
    if _is_setting(match):
        return True
    if match["quoted"] is not None:
        return not is_words(value) and not is_prose(value)
    return len(value) >= 6 and not (is_words(value) or is_path_of_names(value) or is_wordlike(value, 1))


def _is_working_folder(value: bytes) -> bool:
    return value[:1] in b"/~.\\" or value[1:2] == b":"


def _is_pwd(match: Match) -> bool:
    value = _literal(match)
    if match.string[max(0, match.start() - 1) : match.start()] == b";":  # in a connection string
        return len(value) >= 3
    return not _is_working_folder(value) and _is_password(match)


def _is_token(match: Match) -> bool:
    value = _literal(match)
    if match["quoted"] is not None or _is_setting(match):
        return is_random(value, 10)
    return (is_random(value, 16) and not value.isalpha()) or _is_parameter(match)


def _is_parameter(match: Match) -> bool:
    """A key of a URL's query, where values are never code."""
    value = _literal(match)
    asked = match.string[max(0, match.start() - 1) : match.start()] in (b"?", b"&")
    return asked and len(value) >= 10 and not value.islower()


def _is_said(match: Match) -> bool:
    """As people write it: "the password is …". What follows must have a digit, and for a token look random."""
    value = _literal(match).rstrip(b".!?")
    if match["word"].lower().startswith(b"pass"):
        return len(value) >= 5 and not is_prose(value) and any(48 <= byte <= 57 for byte in value)
    return is_random(value, 12)


def _is_upper_key(match: Match) -> bool:
    before = match.string[max(0, match.start() - 12) : match.start()]
    return match["key"].isupper() and not before.endswith(b"PUBLIC") and is_random(_literal(match), 12)


_FLAG_BEFORE = re.compile(rb"(?<![\w-])--?(?:[A-Za-z]{1,12}[-_]){0,3}\Z")
_FLAG_TYPES = frozenset(
    b"string str text file path stdin true false none required optional value token secret env".split()
)


def _is_flag(match: Match) -> bool:
    if not _FLAG_BEFORE.search(match.string, max(0, match.start() - 40), match.start()):
        return False
    value = _value(match)
    if len(value) < 3 or is_gap(value) or value.startswith((b"-", b"id=")) or value.lower() in _FLAG_TYPES:
        return False
    if match["quoted"] is not None:
        return not is_prose(value)
    return match["joint"] == b"=" or not is_words(value)


def _is_basic(value: bytes) -> bool:
    """Base64 of `name:password`."""
    try:
        plain = binascii.a2b_base64(value + b"=" * (-len(value) % 4), strict_mode=True)
    except binascii.Error:
        return False
    return b":" in plain and plain.isascii() and plain.decode("ascii").isprintable()


def _is_authorization(match: Match) -> bool:
    value, scheme = _value(match), (match["scheme"] or b"").lower()
    if is_gap(value):
        return False
    if scheme == b"basic":
        return _is_basic(value) or is_random(value, 12)
    return is_random(value, 8 if scheme else 16)


def _is_cookie(match: Match) -> bool:
    pairs = (pair.partition(b"=")[2].strip() for pair in _value(match).split(b";"))
    return any(is_random(value, 8) and not is_gap(value) for value in pairs)


def _is_url_password(match: Match) -> bool:
    value = _value(match)
    return not is_gap(value) and not is_gap(match["name"]) and match["name"] + value != b""


_NO_ARGUMENT = re.compile(rb"ort\W|[0-9]+:[0-9]+\Z")  # -port=…, and the ports of a container


def _is_argument(match: Match) -> bool:
    value = _value(match)
    return not (is_gap(value) or _is_working_folder(value) or _NO_ARGUMENT.match(value) or b"mkdir" in match[0])


def _is_not_gap(match: Match) -> bool:
    return not is_gap(_value(match))


def _is_random_16(match: Match) -> bool:
    return is_random(_value(match), 16) and not is_gap(_value(match))


# ---- patterns ---------------------------------------------------------------------------------------------------

_QUOTE = r"\\{0,7}[\"'`]"
_JOINT = rf"(?P<joint>(?:{_QUOTE})?\]?[ \t]{{0,8}}(?:=>|:=|[:=])[ \t]{{0,8}})"
_FLAG_JOINT = r"(?P<joint>[ \t]{1,4}|=|\\{0,7}[\"'],[ \t]{0,4}(?=\\{0,7}[\"']))"
_QUOTED = rf"(?P<quote>{_QUOTE})(?P<quoted>(?:(?!(?P=quote))(?:\\{{1,7}}[^\r\n]|[^\\\r\n\x00-\x1f])){{1,512}}+)"
_BARE = r"(?P<bare>[^\s\"'`,;&|<>(){}\[\]\\$%=:*\x00-\x1f\x7f][^\s\"'`,;&|<>(){}\[\]\\\x00-\x1f\x7f]{2,511}+)(?![(\[{])"
_OPEN = rf"(?:{_QUOTE})?"
_MAYBE = r"(?:\\{0,7}[\"'])?"
_ARG = _MAYBE + r"(?P<secret>[^\s\"'`|;&<>()\\\x00-\x1f]{3,256}+)"
_ARGS = r"(?:[^\r\n|;&\x00-\x08\x0b-\x1f]{0,200}?[ \t])?"


def _assigned(key: str, tail: str = r"(?P<tail>(?:_[A-Z0-9]{1,16}){0,2}+)") -> str:
    return rf"(?P<key>(?i:{key})){tail}{_JOINT}(?:{_QUOTED}|{_BARE})"


def _flagged(key: str) -> str:
    return rf"(?i:{key}){_FLAG_JOINT}(?:{_QUOTED}|{_BARE})"


_PASSES = r"passw(?:or)?d[0-9]?|pass[-_]?phrase|(?<=[_\"'-])pass"
_KEYED = (
    r"(?:api|access|secret|private|auth|account|sharedaccess|encryption|signing|master|app(?:lication)?|consumer|admin)"
    r"[-_ ]?key|client[-_]?secret|(?:auth|access|refresh|session|bearer|id|api|personal[-_]access)[-_]?token"
)
_KEY_LITERALS = tuple(
    f"{start}{joint}key"
    for start in (
        *("api", "access", "secret", "private", "auth", "account", "sharedaccess"),
        *("encryption", "signing", "master", "app", "application", "consumer", "admin"),
    )
    for joint in ("", "-", "_", " ")
)
_TOKEN_LITERALS = tuple(
    f"{start}{joint}token"
    for start in ("auth", "access", "refresh", "session", "bearer", "id", "api", "personal_access", "personal-access")
    for joint in ("", "-", "_")
)

CONTEXTS: tuple[Context, ...] = (
    Context("password", ("pass",), _assigned(_PASSES), _is_password),
    Context("password", ("pwd",), _assigned(r"(?<![a-zA-Z])pwd|(?<=_)pwd"), _is_pwd),
    Context(
        "key",
        (*_KEY_LITERALS, *_TOKEN_LITERALS, "client_secret", "client-secret", "clientsecret"),
        _assigned(_KEYED),
        _is_password,
    ),
    Context(
        "token",
        ("token", "secret", "credential", "auth"),
        _assigned(r"token|secret|credentials?|auth", "(?P<tail>)"),
        _is_token,
    ),
    Context("key", ("_key",), _assigned(r"_key"), _is_upper_key),
    Context(
        "password",
        ("passw", "passphrase", "token", "secret", "api key"),
        (
            r"(?P<word>(?i:password|passphrase|(?:secret|token)(?: key)?|api key))"
            rf"(?:[ \t]for[ \t][\w@.-]{{1,40}})?[ \t](?:is|was|to)(?:[ \t]|:[ \t])(?:{_QUOTED}|{_BARE})"
        ),
        _is_said,
    ),
    Context(
        "aws",
        ("akia", "asia"),
        r"A[KS]IA[A-Z2-7]{16}[\"']?[,;:|\t ]{1,3}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        lambda match: is_random(_value(match), 40),
    ),
    Context("password", ("pass",), _flagged(r"passw(?:or)?d|pass(?:[-_]?phrase)?"), _is_flag),
    Context("token", ("token", "secret", *_KEY_LITERALS), _flagged(rf"token|secret|{_KEYED}"), _is_flag),
    Context(
        "url",
        ("://",),
        (
            r"://(?P<name>[^\s/?#:@\"'`<>\\()\[\]\x00-\x1f]{0,128}+):"
            r"(?P<secret>[^\s/\"'`<>\\\x00-\x1f]{1,256}|[^\s\"'`<>\\@\x00-\x1f]{1,256})@[^\s@]"
        ),
        _is_url_password,
    ),
    Context("url", ("://",), r"://(?P<secret>[A-Za-z0-9_.~%+-]{16,256}+)(?::[^\s/@\"']{0,64})?@", _is_random_16),
    Context(
        "key",
        ("?key=", "&key=", "?code=", "&code=", "?sig=", "&sig=", "signature="),
        r"(?:[?&](?:key|code|sig)|(?i:signature))=(?P<secret>[A-Za-z0-9%+/=_.~-]{16,511}+)",
        _is_random_16,
    ),
    Context(
        "authorization",
        ("authorization",),
        (
            rf"(?i:authorization){_OPEN}[ \t]{{0,4}}(?:=>|[:=,])[ \t]{{0,4}}{_OPEN}[ \t]?"
            r"(?:(?P<scheme>(?i:bearer|basic|token|apikey|bot|key|negotiate|ntlm))[ \t]{1,4})?"
            r"(?P<secret>[A-Za-z0-9._~+/=:-]{4,511}+)"
        ),
        _is_authorization,
    ),
    Context(
        "authorization",
        ("bearer ", "basic "),
        r"(?P<scheme>(?i:bearer|basic))[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{12,511}+)",
        lambda match: _is_random_16(match) or _is_basic(_value(match)),
    ),
    Context(
        "cookie",
        ("cookie",),
        (
            rf"(?i:cookie){_OPEN}[ \t]{{0,4}}[:=, ][ \t]{{0,4}}{_OPEN}[ \t]?"
            r"(?P<secret>[\w.-]{1,64}=[^\r\n\"'`\\\x00-\x1f]{4,511}+)"
        ),
        _is_cookie,
    ),
    Context(
        "password",
        ("mysql", "mariadb"),
        rf"(?:mysql|mariadb)(?:-?(?:dump|admin|import|check|sh))?[ \t]{_ARGS}-p{_ARG}",
        _is_argument,
    ),
    Context(
        "password",
        ("sshpass", "redis-cli", "mongo", " login ", "ldap", "sqlcmd", "zip ", "-pass", "psftp", "plink"),
        (
            rf"(?:(?:sshpass|plink|psftp|mongo(?:sh|dump|restore|export|import)?| login)[ \t]"
            rf"{_ARGS}-(?:p|pw)[ \t]{{0,2}}"
            rf"|redis-cli[ \t]{_ARGS}-a[ \t]{{1,2}}|ldap\w{{3,8}}[ \t]{_ARGS}-w[ \t]{{0,2}}"
            rf"|(?:sqlcmd|zip)[ \t]{_ARGS}-P[ \t]{{0,2}}|-pass(?:in|out)?[ \t]{{1,4}}{_MAYBE}pass:){_ARG}"
        ),
        _is_argument,
    ),
    Context(
        "password",
        ("curl",),
        rf"curl[ \t]{_ARGS}(?:-u|--user|-U|--proxy-user)[ \t=]{{0,2}}{_MAYBE}[^\s:\"'$\\]{{1,64}}:{_ARG}",
        _is_argument,
    ),
    Context(
        "password",
        ("echo ",),
        (
            rf"echo[ \t]{{1,4}}(?:-n[ \t]{{1,4}})?{_MAYBE}(?P<secret>[^\s\"'|\\]{{4,64}}+){_MAYBE}"
            r"[ \t]{0,4}\|[ \t]{0,4}sudo[ \t]"
        ),
        _is_not_gap,
    ),
    Context(
        "password",
        ("machine", "default"),
        (
            r"(?:machine\s{1,4}[\w.:-]{1,100}|default)(?:\s|\\{1,4}n){1,8}(?:(?:login|account)\s{1,4}[^\s\\]{1,100}(?:\s|\\{1,4}n){1,8}){0,2}"
            r"password\s{1,4}(?P<secret>[^\s\"\\]{1,256}+)"
        ),
        _is_not_gap,
    ),
    Context(
        "password",
        (":5432:", ":3306:"),
        r":(?:5432|3306):[\w*.-]{1,64}:[\w*.-]{1,64}:(?P<secret>[^\s:\"'\\]{3,256}+)",
        _is_not_gap,
    ),
    Context(
        "authorization",
        ("auth",),
        rf"auth{_OPEN}[ \t]{{0,4}}[:=][ \t]{{0,4}}{_OPEN}(?P<secret>[A-Za-z0-9+/]{{8,511}}+={{0,2}})",
        lambda match: _is_basic(_value(match)),
    ),
    Context(
        "private-key",
        ("key-data",),
        rf"key-data{_OPEN}[ \t]{{0,4}}[:=][ \t]{{0,4}}{_OPEN}(?P<secret>[A-Za-z0-9+/]{{40,511}}+={{0,2}})",
        _is_not_gap,
    ),
    Context(
        "private-key",
        ("mnemonic", "seed phrase", "seed_phrase", "recovery phrase", "recovery_phrase"),
        (
            rf"[a-z]{{4,8}}(?:[ _]phrase)?{_OPEN}[ \t]{{0,4}}[:=][ \t]{{0,4}}{_OPEN}"
            r"(?P<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})"
        ),
        _is_not_gap,
    ),
)
