"""Compiled inner loops."""

from thalweg.kernels.jit import announce_compilation, place_cache

place_cache()
announce_compilation()
