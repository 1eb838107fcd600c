"""The column that a user may have meant by a name that no column has.

Names are compared without case, accents, brackets, blanks and marks: ``last kwh`` is
``Last [kWh]``, and ``Groesse`` is ``Größe``. Then a name that begins with the one that
was given, or is contained in it, and then the most similar one.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable

_SPELLINGS = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"}
"""Letters with other common spellings; ß is ss without its case."""
MIN_PART = 2
"""Letters that a part of a name needs to be recognised."""


def closest_name(name: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that is most like ``name``; None if none is."""
    wanted = _spellings(name)
    spellings = {other: _spellings(other) for other in names}
    for other, forms in spellings.items():
        if wanted & forms:
            return other
    for is_like in (str.startswith, str.__contains__):
        for other, forms in spellings.items():
            if _is_part(wanted, forms, is_like) or _is_part(forms, wanted, is_like):
                return other
    by_form = {form: other for other, forms in spellings.items() for form in forms}
    for form in sorted(wanted):
        near = difflib.get_close_matches(form, by_form, n=1)
        if near:
            return by_form[near[0]]
    return None


def _is_part(parts: set[str], wholes: set[str], is_like: object) -> bool:
    assert callable(is_like)
    return any(
        len(part) >= MIN_PART and bool(is_like(whole, part))
        for part in parts
        for whole in wholes
    )


def _spellings(name: str) -> set[str]:
    """The name in bare small letters: with accents left out, and spelt out."""
    small = unicodedata.normalize("NFC", name).casefold()
    spelt = "".join(_SPELLINGS.get(letter, letter) for letter in small)
    bare = unicodedata.normalize("NFKD", small)
    forms = {re.sub(r"[\W_]", "", form) for form in (spelt, _without_marks(bare))}
    return {form for form in forms if form} or {small}


def _without_marks(text: str) -> str:
    return "".join(letter for letter in text if not unicodedata.combining(letter))
