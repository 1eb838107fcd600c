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
def compile_kernel(kernel):
    """Compile a function that only kernels call (kernels/jit.py), to be called here."""
    return njit(lambda *arguments: kernel(*arguments))


class CompiledModule:
    """A module whose functions are compiled when they are first used."""

    def __init__(self, name):
        self._module = import_module(f"thalweg.kernels.tracker.{name}")

    def __getattr__(self, name):
        member = getattr(self._module, name)
        return compile_kernel(member) if inspect.isfunction(member) else member


ridge_experts, solve, seasonality = map(
    CompiledModule, ("ridge_experts", "solve", "seasonality")
)
mixture, diagnostics = map(CompiledModule, ("mixture", "diagnostics"))
prediction_interval = CompiledModule("prediction_interval")
adashare, boa = map(CompiledModule, ("adashare", "boa"))
mlpoly, softmax = map(CompiledModule, ("mlpoly", "softmax"))
