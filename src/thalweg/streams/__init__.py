"""Synthetic streams with known concept drift, and lower-bound constructions."""

from thalweg.lazy import exported_names
from thalweg.streams.synthetic import LABEL_BOUND as LABEL_BOUND
from thalweg.streams.synthetic import Adversary as Adversary
from thalweg.streams.synthetic import Stream as Stream
from thalweg.streams.synthetic import abrupt as abrupt
from thalweg.streams.synthetic import adversarial as adversarial
from thalweg.streams.synthetic import biased_coins as biased_coins
from thalweg.streams.synthetic import coin_blocks as coin_blocks
from thalweg.streams.synthetic import coin_flips as coin_flips
from thalweg.streams.synthetic import coin_noise_jumps as coin_noise_jumps
from thalweg.streams.synthetic import gradual as gradual
from thalweg.streams.synthetic import mixed as mixed
from thalweg.streams.synthetic import random_walk as random_walk
from thalweg.streams.synthetic import rotating as rotating
from thalweg.streams.synthetic import seasonal as seasonal
from thalweg.streams.synthetic import stationary as stationary

__all__ = exported_names(__name__)
