"""Room for the kernels under test, and a way to call them."""

import functools
import inspect
from importlib import import_module

import numpy as np
from numba import njit

from thalweg.kernels.tracker import layout
from thalweg.learners.tracker import Tracker


def workspace(n):
    """Sums and Votes of ``n`` features; all rules vote."""
    expert_workspace, rule_workspace = layout.workspaces(
        np.zeros(sum(layout.workspace_lengths(n))), n
    )
    rule_workspace.rule_mask[:], rule_workspace.base_rule_mask[:] = (
        layout.RULE_MASK,
        layout.BASE_RULE_MASK,
    )
    return expert_workspace, rule_workspace


def opened(n):
    """A fresh state in views, with room to compute in."""
    packed = Tracker().init(np.zeros(n)).packed
    return layout.views(packed, n), *workspace(n)


def padded(values, fill=0.0):
    """The experts' values, and nobody's up to a whole vector."""
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


deviations, errors, mixture = map(Compiled, ("deviations", "errors", "mixture"))
moments, past, report = map(Compiled, ("moments", "past", "report"))
season, solve = map(Compiled, ("season", "solve"))
adashare, boa = Compiled("rules.adashare"), Compiled("rules.boa")
mlpoly, softmax = Compiled("rules.mlpoly"), Compiled("rules.softmax")
