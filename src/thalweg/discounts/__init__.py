"""How fast to forget: rules from the theory, and conversions to words."""

from thalweg.discounts.grid import grid as grid
from thalweg.discounts.horizon import from_tradeoff as from_tradeoff
from thalweg.discounts.memory import from_half_life as from_half_life
from thalweg.discounts.memory import from_window as from_window
from thalweg.discounts.memory import from_words as from_words
from thalweg.discounts.memory import half_life as half_life
from thalweg.discounts.memory import window as window
from thalweg.discounts.path_length import from_path_length as from_path_length

__all__ = [
    "from_half_life",
    "from_path_length",
    "from_tradeoff",
    "from_window",
    "from_words",
    "grid",
    "half_life",
    "window",
]
