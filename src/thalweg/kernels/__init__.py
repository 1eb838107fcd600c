"""Compiled inner loops."""

from thalweg.kernels.announce import announce
from thalweg.kernels.cache import place_cache

place_cache()
announce()
