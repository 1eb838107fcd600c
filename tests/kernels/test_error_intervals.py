import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.kernels.error_intervals import (
    ERROR_WINDOW,
    WARM_UP_SHARE,
    interval_offsets,
)

COVERAGES = st.sampled_from([0.01, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
SIZES = st.floats(-1e300, 1e300) | st.sampled_from([0.0, 1.0, -1.0, 1e-300, 3.0])


def offsets_of(errors, coverage=0.9, known=None):
    """What the kernel gives for one target: after all errors, or after so many."""
    errors = np.array(errors, float).reshape(-1, 1)
    counts = np.array([len(errors)] if known is None else known)
    offsets = np.empty((len(counts), 1, 2))
    interval_offsets(errors, counts, coverage, offsets)
    return offsets[:, 0].tolist() if known is not None else offsets[0, 0].tolist()


def slow_offsets(errors, coverage):
    """The definition: scores in units of the scale before each error, sorted."""
    errors = [float(error) for error in errors][-ERROR_WINDOW:]
    if not errors:
        return [-math.inf, math.inf]
    scores, scale, quick, slow = [], 0.0, 0.0, 0.0
    for i, error in enumerate(errors, start=1):
        ratio = min(abs(error) / scale, 1e6) if scale else 1.0
        scores.append(math.copysign(ratio, error) if error else 0.0)
        quick += (abs(error) - quick) / min(i, 8)
        slow += (abs(error) - slow) / min(i, 32)
        scale = math.sqrt(quick) * math.sqrt(slow)
    ordered = sorted(scores[len(scores) // WARM_UP_SHARE :])
    outside = math.floor((1 - coverage) / 2 * (len(ordered) + 1))
    below, above = ordered[max(outside - 1, 0)], ordered[-max(outside, 1)]
    return [min(0.0, scale * below), max(0.0, scale * above)]


@given(st.lists(SIZES, max_size=60), COVERAGES)
def test_offsets_are_those_of_the_definition(errors, coverage):
    assert offsets_of(errors, coverage) == slow_offsets(errors, coverage)


@given(st.integers(0, 2**32), st.integers(400, 700), COVERAGES)
def test_offsets_of_a_full_window_are_those_of_the_definition(seed, count, coverage):
    rng = np.random.default_rng(seed)
    errors = rng.standard_t(2.5, size=count) * np.exp(rng.normal(size=count).cumsum())
    errors[rng.random(count) < 0.2] = 0.0
    assert offsets_of(errors, coverage) == slow_offsets(errors, coverage)


def test_nothing_is_known_before_the_first_error():
    assert offsets_of([]) == [-math.inf, math.inf]


def test_errors_older_than_the_window_do_not_count():
    errors = np.random.default_rng(0).normal(size=ERROR_WINDOW)
    assert offsets_of(np.append(1e9, errors)) == offsets_of(errors)
    assert offsets_of(np.append(errors, 1e9)[1:]) != offsets_of(errors)


def test_offsets_have_the_unit_of_the_errors():
    errors = np.random.default_rng(1).normal(size=200)
    expected = [4.0 * offset for offset in offsets_of(errors)]
    assert offsets_of(4.0 * errors) == expected
    low, high = offsets_of(errors)
    assert offsets_of(-errors) == [-high, -low]


def test_each_round_knows_the_errors_before_it_only():
    errors = np.random.default_rng(2).normal(size=40)
    known = [0, 0, 1, 1, 3, 20, 20, 40]
    assert offsets_of(errors, known=known) == [offsets_of(errors[:m]) for m in known]


def test_each_target_has_its_own_errors():
    errors = np.random.default_rng(3).normal(size=(700, 3)) * [1.0, 10.0, 0.1]
    offsets = np.empty((1, 3, 2))
    interval_offsets(errors, np.array([700]), 0.8, offsets)
    assert offsets[0].tolist() == [offsets_of(column, 0.8) for column in errors.T]


def test_errors_that_grow_widen_the_interval_at_once():
    calm = np.random.default_rng(4).normal(size=400)
    storm = np.append(calm, 20 * calm[:8])
    low, high = offsets_of(calm)
    assert offsets_of(storm)[1] > 5 * high and offsets_of(storm)[0] < 5 * low
