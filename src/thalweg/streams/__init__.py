"""Synthetic streams: seeded, with known drift; and lower-bound constructions."""

from thalweg.streams.base import Stream as Stream
from thalweg.streams.generators import LABEL_BOUND as LABEL_BOUND
from thalweg.streams.generators import Adversary as Adversary
from thalweg.streams.generators import abrupt as abrupt
from thalweg.streams.generators import adversarial as adversarial
from thalweg.streams.generators import gradual as gradual
from thalweg.streams.generators import mixed as mixed
from thalweg.streams.generators import random_walk as random_walk
from thalweg.streams.generators import rotating as rotating
from thalweg.streams.generators import seasonal as seasonal
from thalweg.streams.generators import stationary as stationary
from thalweg.streams.lower_bound import coin_blocks as coin_blocks
from thalweg.streams.lower_bound import coin_flips as coin_flips

__all__ = [
    "Adversary",
    "LABEL_BOUND",
    "Stream",
    "abrupt",
    "adversarial",
    "coin_blocks",
    "coin_flips",
    "gradual",
    "mixed",
    "random_walk",
    "rotating",
    "seasonal",
    "stationary",
]
