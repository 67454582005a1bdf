"""Is a value a secret, a word, a name in a program, or a place to fill in? Judged on its letters alone."""

from __future__ import annotations

import re

_PIECE = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|.", re.DOTALL)
_JOINTS = b"_-./: "
_LONGEST_WORD, _LONGEST_NUMBER = 24, 4
_ACRONYM = 5
_CLUSTER = re.compile(rb"[bcdfghjklmnpqrstvwxz]{5}", re.IGNORECASE)
_VOWEL = re.compile(rb"[aeiouy]", re.IGNORECASE)
_LETTERS = re.compile(rb"[A-Za-z]+(?:[ _./:'-]+[A-Za-z]+)*[.!?:]?")
_WORD = re.compile(rb"(?<![^ ])[A-Za-z]{2,}(?![^ ,.!?])")
_NAMES = re.compile(rb"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+")
_GAP = re.compile(
    rb"[$<{]|%[({A-Za-z]|\#\{|@[A-Z_]+@"  # a variable, a tag, a template
    rb"|(?:\.+|x{3,}|X{3,}|_+|-+)\W{0,8}\Z"  # a row of fillers
    rb"|(?i:your|my|the|some|example|placeholder|change[_-]?me|insert|todo)(?:[_. -]|\Z)"
    rb"|\W?(?i:redacted|masked|hidden|filtered)"
)
_FILLED = re.compile(rb"xxxx|XXXX|\*\*\*|\.\.\.|\$\{|\{\{|#\{|%\(|\$\(|\{[A-Za-z_][\w.]{0,40}\}")


def is_gap(value: bytes) -> bool:
    """A place for a secret, not a secret: `$TOKEN`, `${{ secrets.X }}`, `<password>`, `****`, `YOUR_KEY`."""
    return _GAP.match(value) is not None or _FILLED.search(value) is not None


def is_words(value: bytes) -> bool:
    """Letters and what joins words, no digit: a sentence, a label, a name in a program."""
    return _LETTERS.fullmatch(value) is not None


def is_prose(value: bytes) -> bool:
    """A sentence: three words or more, set apart by blanks."""
    return value.count(b" ") >= 2 and len(_WORD.findall(value)) >= 3


def _is_word(piece: bytes) -> bool:
    """Could one of these letters be a word? It has a vowel and no five consonants in a row, or is a short acronym."""
    if piece.isupper():
        return (
            2 <= len(piece) <= _ACRONYM
            or (len(piece) <= _LONGEST_WORD and _VOWEL.search(piece) is not None)
            or piece in b"AI"
        )
    if len(piece) > _LONGEST_WORD or _VOWEL.search(piece) is None or _CLUSTER.search(piece):
        return False
    return len(piece) > 1 or piece == b"a"


def is_wordlike(value: bytes, most_numbers: int = 2) -> bool:
    """Made of words, few numbers of up to four digits, and joints: a slug, a path, an identifier."""
    numbers = 0
    for piece in _PIECE.findall(value):
        if piece.isalpha():
            if not _is_word(piece):
                return False
        elif piece.isdigit():
            numbers += 1
            if numbers > most_numbers or len(piece) > _LONGEST_NUMBER:
                return False
        elif piece not in _JOINTS:
            return False
    return True


def is_path_of_names(value: bytes) -> bool:
    """What a program looks up, such as `config.db.password2`: names joined by dots, arrows or colons."""
    return _NAMES.fullmatch(value) is not None and is_wordlike(value.replace(b"->", b"."))


def is_random(value: bytes, least: int) -> bool:
    """At least `least` bytes, with a digit or changing case, and not made of words."""
    return len(value) >= least and not value.isalpha() | value.isdigit() and not is_wordlike(value)
