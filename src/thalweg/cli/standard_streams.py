"""Standard streams and the terminal's width, whatever a process is started with."""

import codecs
import io
import os
import sys

MIN_COLUMNS = 20
"""A narrower terminal shows no word whole; the usual 80 columns are better."""
SUBSTITUTES = {
    "•": "*", "·": "*", "×": "x", "−": "-", "–": "-", "—": "-", "…": "...", "±": "+/-",
    "≤": "<=", "≥": ">=", "≈": "~", "→": "->", "√": "sqrt", "²": "^2", "⁶": "^6",
    "³": "^3", "‖": "|", "’": "'", "“": '"', "”": '"', "α": "alpha", "β": "beta",
    "γ": "gamma", "ε": "epsilon", "η": "eta", "θ": "theta", "λ": "lambda", "μ": "mu",
    "µ": "u",
}  # fmt: skip
"""What stands for characters of ours in an encoding that lacks them, such as ASCII."""


def prepare_streams() -> None:
    """Let results be written in any encoding and at any width."""
    codecs.register_error("thalweg", _substitute)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None where it is closed
            stream.reconfigure(errors="thalweg")
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) < MIN_COLUMNS:
        del os.environ["COLUMNS"]


def _substitute(error: UnicodeError) -> tuple[str | bytes, int]:
    """What stands for characters that cannot be encoded; names of users are escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text, end = error.object, error.start + 1
    if text[error.start] in SUBSTITUTES:
        return SUBSTITUTES[text[error.start]], end
    first = UnicodeEncodeError(error.encoding, text, error.start, end, error.reason)
    return codecs.backslashreplace_errors(first)
