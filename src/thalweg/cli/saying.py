"""Sentences for the terminal, broken where it ends but never inside a command."""

import re
from textwrap import fill
from typing import Any

from rich.console import Console

COMMAND = re.compile(r"pip install \S+|make \w+|iconv(?: -\w \S+)+|--[a-z]+ \S+")
"""What is to be copied: a program and its arguments, or an option and its value."""
_KEPT = "\ue000"
"""A letter of no script, for a blank at which no line is to end."""


def say(console: Console, sentence: str, first: str = "", **looks: Any) -> None:
    """Print a sentence after ``first``, its lines under each other."""
    kept = COMMAND.sub(lambda found: found[0].replace(" ", _KEPT), sentence)
    text = fill(
        kept,
        console.width,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    ).replace(_KEPT, " ")
    console.print(text, markup=False, highlight=False, soft_wrap=True, **looks)
