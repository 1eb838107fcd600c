"""Dynamic regret from adaptive regret, against all partitions one by one."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import bounds, regret, streams
from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError
from thalweg.learners import DiscountedGradient, DiscountedNewton
from thalweg.losses import SquaredError, Tracking
from thalweg.types import Block, Trace


def partitions(T):
    """Every partition of rounds 0..T-1 into intervals, as the list of its cuts."""
    for inner in itertools.product((False, True), repeat=T - 1):
        yield [0, *(t + 1 for t, cut in enumerate(inner) if cut), T]


def slow_conversion(variation, interval_regret, pieces):
    T, least = len(variation) + 1, np.inf
    for cuts in partitions(T):
        if len(cuts) - 1 > pieces:
            continue
        cost = 0.0
        for start, stop in itertools.pairwise(cuts):
            length = stop - start
            moved = sum(variation[start : stop - 1])
            cost += interval_regret[length - 1] + 2 * length * moved
        least = min(least, cost)
    return least


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(0, 10**6), st.integers(1, 9))
def test_the_least_over_partitions_is_found(T, seed, pieces):
    rng = np.random.default_rng(seed)
    variation = rng.exponential(size=T - 1) * rng.choice([0, 0.1, 1], T - 1)
    interval_regret = rng.exponential(size=T) * 3
    result = bounds.adaptive_to_dynamic(variation, interval_regret)
    expected = slow_conversion(variation, interval_regret, T)
    assert result == pytest.approx(expected, rel=1e-12, abs=1e-12)
    result = bounds.adaptive_to_dynamic(variation, interval_regret, pieces)
    expected = slow_conversion(variation, interval_regret, pieces)
    assert result == pytest.approx(expected, rel=1e-12, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 30), st.integers(0, 10**6), st.floats(0, 10))
def test_knowing_the_total_only_is_never_better(T, seed, total):
    rng = np.random.default_rng(seed)
    interval_regret = rng.exponential(size=T)
    by_total = bounds.adaptive_to_dynamic_by_total(T, total, interval_regret)
    slow = np.inf
    for k in range(1, T + 1):
        lengths = [len(part) for part in np.array_split(np.arange(T), k)]
        cost = sum(interval_regret[length - 1] for length in lengths)
        slow = min(slow, cost + 2 * max(lengths) * total)
    assert by_total == pytest.approx(slow)
    share = rng.dirichlet(np.ones(T - 1)) if T > 1 else np.zeros(0)
    known = bounds.adaptive_to_dynamic(share * total, interval_regret)
    assert known <= by_total * (1 + 1e-12)


def test_one_regret_for_all_lengths_can_be_a_number():
    assert bounds.adaptive_to_dynamic([0.0, 5.0, 0.0], 1.0) == 2.0  # cut at the change
    assert bounds.adaptive_to_dynamic([0.0, 5.0, 0.0], 1.0, pieces=1) == 1 + 2 * 4 * 5
    assert bounds.adaptive_to_dynamic_by_total(4, 0.0, 1.0) == 1.0


def test_with_logarithmic_interval_regret_the_total_gives_root_tv_log_t():
    T = 10**4
    values = [
        bounds.adaptive_to_dynamic_by_total(T, V, np.log(T)) for V in (1.0, 100.0)
    ]
    expected = 2 * np.sqrt(2 * T * np.array([1.0, 100.0]) * np.log(T))
    assert values == pytest.approx(expected, rel=0.05)


WORLDS = {
    "regression": (
        SquaredError(),
        streams.abrupt(24, 2, noise=0.2, changes=2, seed=5).block,
        DiscountedNewton(0.7, 1.0, 0.1, "hessian", Ball(1.0)),
    ),
    "tracking": (
        Tracking(),
        Block(None, np.repeat([[0.5, 0.1], [-0.6, 0.2], [0.0, 0.7]], 8, axis=0)),
        DiscountedGradient(0.7, "tracking", domain=Ball(1.0)),
    ),
}


@pytest.mark.parametrize("world", WORLDS)
def test_dynamic_regret_stays_below_the_conversion(world):
    loss, block, learner = WORLDS[world]
    domain, T = Ball(1.0), len(block)
    trace = learner.run(learner.init(np.zeros(2)), loss, block)[1]
    worst = np.full(T, 0.0)  # the largest regret on intervals of each length, over S
    for start, stop in itertools.combinations(range(T + 1), 2):
        part = Trace(trace.prediction[start:stop], trace.loss[start:stop])
        total = regret.static(part, block[start:stop], loss, domain).total
        worst[stop - start - 1] = max(worst[stop - start - 1], total)
    variation = regret.functional_variation(block, loss, domain)
    best = regret.minimisers(block, loss, domain).points
    measured = regret.dynamic(trace, block, loss, best).total
    bound = bounds.adaptive_to_dynamic(variation.upper, worst)
    assert 0 < measured <= bound
    total = bounds.adaptive_to_dynamic_by_total(T, variation.high, worst)
    assert bound <= total * (1 + 1e-12)
    one = bounds.adaptive_to_dynamic(variation.upper, worst.max())
    assert bound <= one * (1 + 1e-12)


def test_changes_that_are_not_counted_break_the_conversion():
    """Half of each change, and the bound fails: the test above can fail."""
    loss, block, learner = WORLDS["tracking"]
    trace = learner.run(learner.init(np.zeros(2)), loss, block)[1]
    measured = regret.dynamic(trace, block, loss, block.y).total
    start = float(
        trace.loss[0]
    )  # the only regret on one-round intervals that is forced
    assert measured > start
    assert bounds.adaptive_to_dynamic(np.zeros(len(block) - 1), start) < measured


@pytest.mark.parametrize(
    "call",
    [
        lambda: bounds.adaptive_to_dynamic([-1.0], 1.0),
        lambda: bounds.adaptive_to_dynamic([np.nan], 1.0),
        lambda: bounds.adaptive_to_dynamic([[1.0]], 1.0),
        lambda: bounds.adaptive_to_dynamic([1.0], [1.0]),
        lambda: bounds.adaptive_to_dynamic([1.0], -1.0),
        lambda: bounds.adaptive_to_dynamic([1.0], 1.0, pieces=0),
        lambda: bounds.adaptive_to_dynamic_by_total(0, 1.0, 1.0),
        lambda: bounds.adaptive_to_dynamic_by_total(3, -1.0, 1.0),
    ],
)
def test_what_is_no_variation_or_regret_is_refused(call):
    with pytest.raises(InvalidParameterError, match="Got"):
        call()
