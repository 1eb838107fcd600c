"""The Tracker's kernels against its definition, which ``update`` runs.

Mutations tried, each in the kernels alone, each found by these tests: 0.9 of the clip's
margin, and of its stride; ζ = 1 - 1/(t+2) in AdaShare's share; no quick fade; no power
of weights; BOA's rate with ln K; B of ML-Poly not remembered; the softmax without its
equal part, and with N + 1; a committee that does not learn; season differences counted
without a discount; one lag less when looking back after a delay; moments without W';
spreads of |u| instead of u²; pivots of at least half their diagonal entry; an error
scale over one round more; the error scale of now for late labels; weights capped at
3.9; no restart, and one that leaves the meta-rule's Δ alone. A constant is imported by
the definition from the kernels, so that changing it changes both: the refits from
scratch (tests/kernels/tracker/reference.py), which have their own, find that.
"""

import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.tracker import reference
from tests.learners.tracker_arrays import assert_states_agree
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import Tracker
from thalweg.learners.tracker import (
    definition,
    definition_clipping,
    definition_curvature,
    definition_experts,
    definition_pending,
    definition_replay,
    definition_restart,
    definition_rules,
    definition_season,
    definition_solve,
)
from thalweg.learners.tracker.gap_intervals import error_growth
from thalweg.losses import Round, SquaredError
from thalweg.types import Block

LOSS = SquaredError()


def stream(rounds, n, seed=0, shock=None):
    """A drifting season with jumps, weights and times; features of many scales."""
    rng = np.random.default_rng(seed)
    x = 5 + rng.normal(size=(rounds, n)) * 10.0 ** rng.integers(-2, 3, n)
    if n > 2:
        x[:, 1] = 7.0  # a constant feature
        x[: rounds // 4, 2] = 3.0  # and one that begins to move late
    if n > 4:
        x[:, 4] = x[:, 3] + 1e-3 * x[:, 4]  # two that are all but the same
    theta = np.cumsum(0.05 * rng.normal(size=(rounds, n)), axis=0)
    theta += rng.normal(size=(4, n))[np.arange(rounds) * 4 // rounds]
    season = 2 * np.sin(2 * np.pi * np.arange(rounds) / 7)
    y = 100 + season + (x * theta).sum(axis=1) + 0.1 * rng.normal(size=rounds)
    if shock is not None:
        y[shock] = 1e12
    weight = rng.choice([0.0, 0.3, 1.0, 1.0, 1.0, 4.0], rounds)
    elapsed = rng.choice([0.0, 0.5, 1.0, 1.0, 1.0, 30.0], rounds)
    return Block(x, y, weight, elapsed)


def assert_every_round_agrees(learner, block, rtol=1e-9):
    """Both go on from the kernel's state, so that no rounding adds up over rounds."""
    n = block.x.shape[1]
    state = learner.init(np.zeros(n))
    for t, (x, y, w, elapsed) in enumerate(block.rounds()):
        packed = state.packed.copy()
        views = layout.views(packed, n)
        forecast = definition.predict(views, x).forecast
        np.testing.assert_allclose(learner.predict(state, x), forecast, rtol=rtol)
        definition.observe(views, x, y, w, elapsed)
        state, _ = learner.run(state, LOSS, block[t : t + 1])
        assert_states_agree(state.packed, packed, n, rtol)
    return state


@pytest.mark.sampled(1)
@pytest.mark.parametrize("delay", [0, 1, 7])
@pytest.mark.parametrize("n, information", [(1, "all"), (3, "features"), (8, "all")])
def test_every_round_of_the_kernel_is_that_of_the_definition(n, information, delay):
    learner = Tracker(information, delay=delay)
    # With eight features some experts are 10⁷ times as far off as the others after the
    # shock. A rule's mean f is rounded in units of that range, and f - q counts in BOA
    # down to 1e-9 of it: its digits may differ by 2e-16 / 1e-9 (measured: 2e-8).
    rtol = 1e-9 if n < 8 else 1e-7
    state = assert_every_round_agrees(learner, stream(900, n, shock=60), rtol)
    # It has restarted: 640 rounds after the shock errors are counted again.
    assert 0 < state.packed[layout.CORRECTION_COUNT] < state.packed[layout.ROUNDS] - 500


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n", [1, 3, 8])
def test_a_whole_run_stays_with_the_definition(n):
    """Rounding differs by 1e-16 a round, and what is forgotten takes it along."""
    block = stream(1200, n, seed=1)
    learner = Tracker()
    fast, trace = learner.run(learner.init(np.zeros(n)), LOSS, block)
    packed = learner.init(np.zeros(n)).packed.copy()
    views, forecasts = layout.views(packed, n), []
    for x, y, w, elapsed in block.rounds():
        forecasts.append(definition.predict(views, x).forecast)
        definition.observe(views, x, y, w, elapsed)
    np.testing.assert_allclose(trace.prediction, forecasts, rtol=1e-9)
    assert_states_agree(fast.packed, packed, n, rtol=1e-7)


@pytest.mark.slow
def test_a_feature_out_of_all_proportion_restarts_both():
    block = stream(900, 3, seed=2)
    block.x[60, 0] = 1e12
    state = assert_every_round_agrees(Tracker(), block)
    assert state.packed[layout.CORRECTION_COUNT] < state.packed[layout.ROUNDS] - 500


SCALES = st.sampled_from([1e-120, 1e-30, 1.0, 1e30, 1e120])


@st.composite
def odd_streams(draw):
    """Short streams, many of which are out of the ordinary."""
    n, rounds = draw(st.integers(1, 4)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.normal(size=(rounds, n)) * draw(SCALES)
    y = rng.normal(size=rounds) * draw(SCALES)
    kind = draw(st.sampled_from(["plain", "steps", "calm", "same x", "zero", "shock"]))
    if kind == "steps":
        y = np.round(y / abs(y).max() * 2)
    elif kind == "calm":
        y[rounds // 3 :] = y[0]
    elif kind == "same x":
        x[:] = x[0]
    elif kind == "zero":
        x[:, 0], y[:] = 0.0, 0.0
    elif kind == "shock":
        y[rounds // 2] *= 1e9
    weight = rng.choice(draw(st.sampled_from([[1.0], [0.0, 1.0], [0.0, 1e3]])), rounds)
    elapsed = rng.choice(draw(st.sampled_from([[1.0], [0.0, 1.0, 1e4]])), rounds)
    return Block(x, y, weight, elapsed)


def test_means_of_labels_that_cancel_agree():
    y = np.array([-1.0, 1.0, 2.0, -2.0, -2.0, -1.0, 1.0, 0.0])
    x = 1e-121 * np.arange(1.0, 9.0)[:, None]
    elapsed = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1e4, 1.0, 1.0])
    block = Block(x, y, np.ones(8), elapsed)
    assert_every_round_agrees(Tracker(delay=1), block, rtol=1e-7)


@settings(max_examples=40, deadline=None)
@given(odd_streams(), st.sampled_from([0, 1, 7]), st.booleans())
def test_odd_streams_agree_in_every_round(block, delay, features):
    learner = Tracker("features" if features else "all", delay=delay)
    assert_every_round_agrees(learner, block, rtol=1e-7)


@pytest.mark.parametrize("delay", [0, 3])
def test_updates_and_runs_may_alternate(delay):
    block, learner = stream(200, 3), Tracker(delay=delay)
    whole, trace = learner.run(learner.init(np.zeros(3)), LOSS, block)
    state = learner.init(np.zeros(3))
    for t, (x, y, w, elapsed) in enumerate(block.rounds()):
        prediction = learner.predict(state, x)
        np.testing.assert_allclose(prediction, trace.prediction[t], rtol=1e-9)
        if t // 10 % 2:
            state, _ = learner.run(state, LOSS, block[t : t + 1])
        else:
            state = learner.update(state, Round(LOSS, x, y, w, elapsed))
    assert_states_agree(state.packed, whole.packed, 3)
    np.testing.assert_allclose(state.theta, whole.theta, rtol=1e-9, atol=1e-9)


def test_slope_memory_weights_and_interval_are_those_of_the_definition():
    block, learner = stream(300, 3), Tracker(coverage=0.8)
    state, n = learner.init(np.zeros(3)), 3
    for t in range(len(block)):
        views = layout.views(state.packed, n)
        mixture = definition.predict(views, block.x[t])
        weights = definition.forecast_weights(views)
        recorded = learner.record(state, "weights")
        np.testing.assert_allclose(recorded, weights[: layout.EXPERTS], atol=1e-12)
        memory = definition.effective_memory(views, weights)
        np.testing.assert_allclose(learner.memory(state), memory, rtol=1e-9)
        slope = definition.slope(views, weights)
        np.testing.assert_allclose(state.theta, slope, rtol=1e-9, atol=1e-9)
        down, up = definition.interval_offsets(views, 0.8)
        interval = learner.interval(state, block.x[t], 0.8)
        growth = error_growth(learner, views)  # 1 where no label is missing
        expected = mixture.forecast + growth * np.array([0.0, down, up])
        np.testing.assert_allclose(interval, expected, rtol=1e-9)
        state, _ = learner.run(state, LOSS, block[t : t + 1])


def test_what_is_beyond_float64_is_zero():
    values = np.array([3.0, -1.6e308, 1.7e308, -1.7e308, np.inf, -np.inf, np.nan])
    expected = [3.0, -1.6e308, 0, 0, 0, 0, 0]
    np.testing.assert_array_equal(definition_solve.finite_or_zero(values), expected)


def test_every_expert_is_a_ridge_regression_refitted_from_all_rows():
    """The recursion of the definition against fits from scratch, round by round."""
    block = stream(40, 3, seed=3)
    x, y = block.x, block.y
    packed = Tracker().init(np.zeros(3)).packed.copy()
    views, seasons, anchored = layout.views(packed, 3), [1, 1], np.zeros((2, 10, 3))
    for t in range(len(y)):
        ours = definition.predict(views, x[t]).expert_predictions[: layout.EXPERTS]
        if t > 1:
            q, _ = reference.experts(x[:t], y[:t], x[t], seasons, anchored)
            limits = reference.clip_limits(y[:t], q[: layout.LANES])
            np.testing.assert_allclose(ours, np.clip(q, *limits), rtol=1e-8)
        definition.observe(views, x[t], y[t], 1.0, 1.0)
        if t > 0:
            reference.step_anchored(anchored, x[: t + 1], y[: t + 1])
            seasons.append(reference.season(y[: t + 1]))
            assert views.counters[layout.SEASON] == seasons[-1]


# Functions of the definition whose work the kernels divide otherwise: their docstrings
# or comments say how. ``past_…`` are slices, which kernels index.
WITHOUT_TWIN = {
    "dense_gram", "expert_weights", "feature_factors", "forecast_weights",
    "forward", "fresh_state", "learn_block_loss", "learn_coefficients",
    "learn_predictions", "learn_rules", "light_ridges", "past_features", "past_labels",
    "play_again", "remembered_rounds", "replay", "restart", "solve", "take_over",
}  # fmt: skip


def kernel_names():
    """Names of the functions in kernels/tracker, without underscores and ``set_``."""
    names = set()
    package = import_module("thalweg.kernels.tracker")
    for info in pkgutil.iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{info.name}")
        for name, value in vars(module).items():
            function = getattr(value, "py_func", value)
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                names.add(name.lstrip("_").removeprefix("set_"))
                if name in ("learn", "set_weights"):
                    names |= {f"learn_{info.name}", f"{info.name}_weights"}
    return names


@pytest.mark.parametrize(
    "module",
    [
        definition,
        definition_clipping,
        definition_curvature,
        definition_experts,
        definition_pending,
        definition_replay,
        definition_restart,
        definition_rules,
        definition_season,
        definition_solve,
    ],
)
def test_a_function_of_the_definition_has_the_name_of_its_kernel(module):
    own = {
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    }
    assert own - WITHOUT_TWIN <= kernel_names()
