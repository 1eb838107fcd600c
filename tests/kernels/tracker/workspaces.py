"""Workspaces for the kernels under test, and a way to call these."""

import functools
import inspect
from importlib import import_module

import numpy as np
from numba import njit

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import Tracker


def new_workspace(n):
    """A workspace of ``n`` features in views; all rules are active."""
    views = layout.WORKSPACE.views(np.zeros(layout.WORKSPACE.size(n=n)), n=n)
    views.rules.rule_mask[:] = layout.RULE_MASK
    views.rules.base_rule_mask[:] = layout.BASE_RULE_MASK
    return views


def new_state(n):
    """A fresh state in views, and a workspace."""
    packed = Tracker().init(np.zeros(n)).packed
    return layout.views(packed, n), new_workspace(n)


def padded(values, fill=0.0):
    """The experts' values, with padding up to a whole SIMD vector."""
    return np.append(np.asarray(values, float), np.full(-len(values) % 8, fill))


@functools.cache
def compiled(kernel):
    """A function that only kernels call (kernels/jit.py), for Python to call."""
    return njit(lambda *given: kernel(*given))


class Compiled:
    """A module of such functions."""

    def __init__(self, name):
        self._module = import_module(f"thalweg.kernels.tracker.{name}")

    def __getattr__(self, name):
        found = getattr(self._module, name)
        return compiled(found) if inspect.isfunction(found) else found


ridge_experts, solve = map(Compiled, ("ridge_experts", "solve"))
seasonality, mixture = map(Compiled, ("seasonality", "mixture"))
prediction_interval = Compiled("prediction_interval")
diagnostics = Compiled("diagnostics")
adashare, boa, mlpoly, softmax = map(Compiled, ("adashare", "boa", "mlpoly", "softmax"))
