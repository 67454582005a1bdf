"""Text that is safe to show: what steers a terminal or misleads a reader is taken out."""

from __future__ import annotations

import re

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # CSI: colours, cursor, screen
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x80-\x9f]*+(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*+[0-~]"  # the short ones
)
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # bidi controls, zero-width, annotations
    "\U000e0000-\U000e007f]"  # tags: letters that nobody sees
)
_LINE_BREAK = re.compile("\r\n|[\u0085\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` without control sequences, control characters (tab and newline stay), bidi controls and hidden letters.

    Other line breaks become a newline, a lone surrogate U+FFFD. Linear in the length of the text.
    """
    text = _LINE_BREAK.sub("\n", text)
    return _SURROGATE.sub("\ufffd", _UNSHOWN.sub("", _SEQUENCE.sub("", text)))
