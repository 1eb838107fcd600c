"""Room for the kernels under test."""

import numpy as np

from thalweg.kernels.tracker import layout
from thalweg.learners.tracker import Tracker


def room(n):
    """Sums and Votes of ``n`` features."""
    return layout.rooms(np.zeros(sum(layout.room_lengths(n))), n)


def opened(n):
    """A fresh state in views, with room to compute in."""
    packed = Tracker().init(np.zeros(n)).packed
    return layout.views(packed, n), *room(n)


def padded(values, fill=0.0):
    """The experts' values, and nobody's up to a whole vector."""
    return np.append(np.asarray(values, float), np.full(-len(values) % 8, fill))
