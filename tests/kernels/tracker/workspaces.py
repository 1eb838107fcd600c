"""Workspaces for the kernels under test, and a way to call these."""

import functools
import inspect
from importlib import import_module

import numpy as np
from numba import njit

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import Tracker


def new_workspace(n, hinges=layout.HINGES):
    """A workspace of ``n`` features in views; all rules are active and trusted."""
    size = layout.WORKSPACE.size(n=n, hinges=hinges)
    views = layout.WORKSPACE.views(np.zeros(size), n=n, hinges=hinges)
    views.rules.rule_mask[:] = layout.RULE_MASK
    views.rules.base_rule_mask[:] = layout.BASE_RULE_MASK
    views.rules.full_confidence[:] = 1.0
    views.curvature.candidate_mask[:] = layout.CANDIDATE_MASK
    return views


def new_state(n, **settings):
    """A fresh state in views, and a workspace."""
    packed = Tracker(**settings).init(np.zeros(n)).packed
    workspace = new_workspace(n, int(packed[layout.HINGE_COUNT]))
    return layout.views(packed, n), workspace


def padded(values, fill=0.0):
    """The experts' values, with padding up to a whole SIMD vector."""
    return np.append(np.asarray(values, float), np.full(-len(values) % 8, fill))


@functools.cache
def compile_kernel(kernel):
    """Compile a function that only kernels call (kernels/compiler/jit.py)."""
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
autoregressive, distributed_lag = map(
    CompiledModule, ("autoregressive", "distributed_lag")
)
mixture, diagnostics, curvature = map(
    CompiledModule, ("mixture", "diagnostics", "curvature")
)
prediction_interval, clipping, tracker_round = map(
    CompiledModule, ("prediction_interval", "clipping", "round")
)
adashare, boa, cauchy = map(CompiledModule, ("adashare", "boa", "cauchy"))
mlpoly, softmax = map(CompiledModule, ("mlpoly", "softmax"))
restart = CompiledModule("restart")
