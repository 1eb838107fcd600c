"""As the lightly pulled, with the last label as one feature more.

It predicts as ``pulled`` does, with one coefficient more.
"""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.tracker.solve import back


@inner_function
def learn(theta, lower):
    """The exact solution of the whole system, whose leading part serves ``pulled``."""
    z, lanes = theta.shape
    back(lower, z, z, lanes, theta)
