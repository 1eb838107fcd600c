"""Compiled inner loops."""

from thalweg.kernels.announce import announce

announce()
