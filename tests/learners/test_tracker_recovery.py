"""After a shock the Tracker is soon as good as one that begins where it ended."""

import numpy as np
import pytest

from tests.learners.tracker_arrays import assert_states_agree
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import Tracker
from thalweg.learners.tracker import definition
from thalweg.losses import SquaredError
from thalweg.models import Online
from thalweg.types import Block

LOSS = SquaredError()
BEFORE, AFTER, N = 1000, 2000, 3


def calm_stream(kind, rounds, n=3, seed=0):
    """Features of size 1 and labels of size 3."""
    rng = np.random.default_rng(seed)
    x, noise, t = (
        rng.normal(size=(rounds, n)),
        rng.normal(size=rounds),
        np.arange(rounds),
    )
    theta = np.full(n, 3 / np.sqrt(n))
    if kind == "linear":
        return x, x @ theta + 0.5 * noise
    if kind == "season":
        return x, 4 * np.sin(2 * np.pi * t / 24) + x @ theta / 3 + 0.5 * noise
    theta = theta + np.cumsum(0.03 * rng.normal(size=(rounds, n)), axis=0)
    return x, (x * theta).sum(
        axis=1
    ) + 0.5 * noise  # the coefficients are a random walk


def squared_errors(x, y, delay=0):
    learner = Tracker(delay=delay)
    start = learner.init(np.zeros(x.shape[1]))
    state, trace = learner.run(start, LOSS, Block(x, y))
    return (y - trace.prediction) ** 2, state


def excess(x, y, delay=0):
    """The error 1,000 to 2,000 rounds after the shock, over that of a fresh Tracker."""
    errors, _ = squared_errors(x, y, delay)
    fresh, _ = squared_errors(x[-AFTER:], y[-AFTER:], delay)
    return errors[-AFTER // 2 :].mean() / fresh[-AFTER // 2 :].mean()


SHOCKS = [(300, 0), (600, 0), (300, 100), (600, 200)]


@pytest.mark.parametrize("kind", ["linear", "season", "walk"])
def test_250_rounds_of_300_or_600_among_labels_of_3_are_forgotten(kind):
    ratios = []
    for label, feature in SHOCKS:
        x, y = calm_stream(kind, BEFORE + 250 + AFTER)
        shock = slice(BEFORE, BEFORE + 250)
        y[shock] = label
        x[shock] += feature
        ratios.append(excess(x, y))
    assert max(ratios) <= 1.5, ratios


@pytest.mark.parametrize("size", [30, 100, 1000])
@pytest.mark.parametrize("target", ["labels", "features", "both"])
def test_shocks_of_all_sizes_are_forgotten(size, target):
    ratios = []
    for kind in ("linear", "season", "walk"):
        for duration in (10, 250):
            x, y = calm_stream(kind, BEFORE + duration + AFTER, seed=1)
            signs = np.resize([1.0, -1.0], duration)
            if target != "features":
                y[BEFORE : BEFORE + duration] += 3 * size * signs
            if target != "labels":
                x[BEFORE : BEFORE + duration] += size * signs[:, None]
            ratios.append(excess(x, y))
    assert max(ratios) <= 1.5, ratios
    assert np.exp(np.log(ratios).mean()) <= 1.15, ratios


@pytest.mark.parametrize("delay", [1, 20])
def test_a_shock_is_forgotten_though_labels_are_late(delay):
    x, y = calm_stream("season", BEFORE + 250 + AFTER)
    y[BEFORE : BEFORE + 250] = 300
    assert excess(x, y, delay) <= 1.5


@pytest.mark.parametrize("factor", [2.0**-100, 2.0**70])
def test_whether_a_shock_is_forgotten_does_not_depend_on_units(factor):
    x, y = calm_stream("season", BEFORE + 250 + AFTER)
    y[BEFORE : BEFORE + 250] = 300
    errors, _ = squared_errors(x, y)
    scaled, _ = squared_errors(x, factor * y)
    np.testing.assert_allclose(scaled / factor**2, errors, rtol=1e-6, atol=1e-9)


def heavy_tailed_streams():
    """Streams whose shocks are part of them: none is a reason to forget the rest."""
    for seed in range(2):
        rng, rounds = np.random.default_rng(seed), 10_000
        x = rng.normal(size=(rounds, 3))
        signal, noise = x @ [1.0, -2.0, 0.5], 0.5 * rng.normal(size=rounds)
        for degrees in (1.5, 2, 3):
            yield x, signal + 0.5 * rng.standard_t(degrees, rounds)
        wild = rng.standard_t(2, size=(rounds, 3))
        yield wild, wild @ [1.0, -2.0, 0.5] + noise
        for size in (30, 90):  # 10 and 30 times the labels
            spikes = size * rng.choice([-1, 1], rounds) * (rng.random(rounds) < 1e-3)
            yield x, signal + noise + spikes
        yield x, np.where(rng.random(rounds) < 0.02, rng.lognormal(2, 1, rounds), 0.0)
        yield x, np.exp(signal / 2 + 2 * noise)


def test_heavy_tails_and_rare_spikes_are_not_forgotten():
    for x, y in heavy_tailed_streams():
        _, state = squared_errors(x, y)
        assert state.packed[layout.TOTAL_WEIGHT] == len(y) - 1


def test_a_square_wave_is_forgotten_at_most_twice_in_8192_rounds():
    x, y = calm_stream("linear", 9000)
    y += 300.0 * (np.arange(9000) // 1500 % 2)
    learner, total, restarts = Tracker(), 0.0, 0
    state = learner.init(np.zeros(3))
    for first in range(0, 9000, 128):
        here = slice(first, first + 128)
        state, _ = learner.run(state, LOSS, Block(x[here], y[here]))
        restarts += state.packed[layout.TOTAL_WEIGHT] < total
        total = state.packed[layout.TOTAL_WEIGHT]
    assert 1 <= restarts <= 2


def shocked_stream(rounds, duration=250, label=300):
    x, y = calm_stream("linear", rounds)
    y[BEFORE : BEFORE + duration] = label
    return x, y


@pytest.mark.parametrize(
    "delay, information", [(0, "all"), (7, "all"), (0, "features")]
)
@pytest.mark.parametrize("duration, label, taken", [(250, 300, True), (1, 60, False)])
def test_a_replay_of_the_kernel_is_that_of_the_definition(
    delay, information, duration, label, taken
):
    learner = Tracker(information, delay=delay)
    x, y = shocked_stream(2600, duration, label)
    slots = layout.pending_slots(delay)
    dimensions = {"n": N, "hinges": layout.HINGES, "slots": slots}
    debt = layout.STATE.offsets(**dimensions).rules.meta + layout.REPLAY_DEBT
    state = learner.init(np.zeros(N))
    for t in range(len(y)):
        before = state
        state, _ = learner.run(state, LOSS, Block(x[t : t + 1], y[t : t + 1]))
        if state.packed[debt] > 0:
            break
    else:
        pytest.fail("no replay")
    assert (state.packed[layout.TOTAL_WEIGHT] == 511) == taken
    packed = before.packed.copy()
    definition.observe(layout.views(packed, N), x[t], y[t], 1.0, 1.0)
    assert_states_agree(state.packed, packed, N, rtol=1e-7)


def test_a_run_with_a_replay_can_be_cut_anywhere_and_played_call_by_call():
    x, y = shocked_stream(2600)
    learner = Tracker()
    whole, trace = learner.run(learner.init(np.zeros(N)), LOSS, Block(x, y))
    assert whole.packed[layout.TOTAL_WEIGHT] < len(y) - 1
    state, model = learner.init(np.zeros(N)), Online(learner, intercept=False)
    for cut in (
        slice(0, 1791),
        slice(1791, 1792),
        slice(1792, 1793),
        slice(1793, None),
    ):
        state, _ = learner.run(state, LOSS, Block(x[cut], y[cut]))
    np.testing.assert_array_equal(state.packed, whole.packed)
    predictions = []
    for features, label in zip(x, y, strict=True):
        predictions.append(model.predict(features))
        model.update(features, label)
    np.testing.assert_array_equal(predictions, trace.prediction)
