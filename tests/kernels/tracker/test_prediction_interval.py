from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.tracker.workspaces import prediction_interval
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import definition


def test_the_sorted_row_is_the_ring_sorted():
    rng = np.random.default_rng(0)
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    for t in range(2 * layout.RECENT_ERRORS + 30):
        error = rng.choice([-1.0, 0.0, 0.5, rng.normal()])
        prediction_interval.learn_error(
            counters, recent_errors, error, counters[layout.ERROR_SCALE]
        )
        count = min(t + 1, layout.RECENT_ERRORS)
        if t % 50 == 0 or count == layout.RECENT_ERRORS:
            np.testing.assert_array_equal(
                recent_errors[1, :count], np.sort(recent_errors[0, :count])
            )


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.99])
def test_errors_of_one_kind_are_covered_as_often_as_asked(level):
    rng = np.random.default_rng(1)
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    inside = []
    for error in rng.exponential(size=6000) - 1:
        below, above = prediction_interval.interval_offsets(
            counters, recent_errors, level
        )
        inside.append(below <= error <= above)
        prediction_interval.learn_error(
            counters, recent_errors, error, counters[layout.ERROR_SCALE]
        )
    assert np.mean(inside[500:]) == pytest.approx(level, abs=0.015)


def test_the_interval_grows_with_the_errors():
    rng = np.random.default_rng(2)
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    widths = []
    for t in range(1500):
        below, above = prediction_interval.interval_offsets(
            counters, recent_errors, 0.9
        )
        widths.append(above - below)
        error = (1 if t < 1000 else 20) * rng.normal()
        prediction_interval.learn_error(
            counters, recent_errors, error, counters[layout.ERROR_SCALE]
        )
    assert np.median(widths[1200:]) > 10 * np.median(widths[800:1000])


def test_before_any_error_the_interval_is_infinite():
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    for level in (0.01, 0.9, 0.999):
        ends = prediction_interval.interval_offsets(counters, recent_errors, level)
        assert ends == (-np.inf, np.inf)


def test_after_errors_of_zero_the_interval_has_no_width():
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    for _ in range(50):
        prediction_interval.learn_error(
            counters, recent_errors, 0.0, counters[layout.ERROR_SCALE]
        )
    ends = prediction_interval.interval_offsets(counters, recent_errors, 0.9)
    assert ends == (0.0, 0.0)
    prediction_interval.learn_error(
        counters, recent_errors, -3.0, counters[layout.ERROR_SCALE]
    )
    assert counters[layout.ERROR_SCALE] > 0
    assert np.isfinite(
        prediction_interval.interval_offsets(counters, recent_errors, 0.9)
    ).all()


def test_the_interval_follows_the_size_of_errors_within_16_rounds():
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    widths = []
    for t in range(416):
        error = (-1.0) ** t * (1 if t < 400 else 10)
        prediction_interval.learn_error(
            counters, recent_errors, error, counters[layout.ERROR_SCALE]
        )
        below, above = prediction_interval.interval_offsets(
            counters, recent_errors, 0.5
        )
        widths.append(above - below)
    assert widths[415] > 5 * widths[399]


def late_coverage(errors, delay, level):
    """How often intervals hold errors that are known ``delay`` rounds later, and after
    the first 1,000."""
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    counters[layout.DELAY] = delay
    inside, scales = [], []
    for t, error in enumerate(errors.tolist()):
        below, above = prediction_interval.interval_offsets(
            counters, recent_errors, level
        )
        inside.append(below <= error <= above)
        scales.append(counters[layout.ERROR_SCALE])
        if t >= delay:
            prediction_interval.learn_error(
                counters, recent_errors, errors[t - delay], scales[t - delay]
            )
    return np.mean(inside[1000:])


@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize("delay", [12, 48])
def test_errors_that_overlap_are_covered_as_often_as_asked(delay, level):
    # The errors of the last value known, on random walks: neighbours are nearly equal.
    steps = np.random.default_rng(3).normal(size=(8, 10_000 + delay + 1))
    walks = steps.cumsum(axis=1)
    errors = walks[:, delay + 1 :] - walks[:, : -delay - 1]
    covered = np.mean([late_coverage(walk, delay, level) for walk in errors])
    assert covered == pytest.approx(level, abs=0.02)


def test_a_late_error_is_measured_by_what_was_known_in_time():
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    prediction_interval.learn_error(counters, recent_errors, 4.0, 2.0)
    assert recent_errors[0, 0] == 2.0
    assert counters[layout.ERROR_SCALE] == 4.0


def test_of_few_errors_the_ends_are_those_that_the_coverage_asks_for():
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    for error in (3.0, -7, 5, 0, -2, 6, -5, 1, 7, -6, 4, -1, -3, 2, -4):
        prediction_interval.learn_error(counters, recent_errors, error, 1.0)
    # The next error falls into each of 16 gaps alike: 3/4 leaves two on either side.
    below, above = prediction_interval.interval_offsets(counters, recent_errors, 0.75)
    scale = counters[layout.ERROR_SCALE]
    assert (below, above) == (-6 * scale, 6 * scale)
    below, above = prediction_interval.interval_offsets(counters, recent_errors, 0.875)
    assert (below, above) == (-7 * scale, 7 * scale)
    # More cannot be known from 15 errors.
    below, above = prediction_interval.interval_offsets(counters, recent_errors, 0.99)
    assert (below, above) == (-7 * scale, 7 * scale)


def learn_all(errors, delay=0):
    """The counters and the window after these errors, by the kernel."""
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    counters[layout.DELAY] = delay
    for error in errors:
        prediction_interval.learn_error(
            counters, recent_errors, error, counters[layout.ERROR_SCALE]
        )
    return counters, recent_errors


@pytest.mark.parametrize("delay", [0, 7, 8, 48])
def test_the_window_holds_the_first_512_errors_then_every_so_manieth(delay):
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    counters[layout.DELAY] = delay
    count = layout.RECENT_ERRORS + 3000
    errors = np.random.default_rng(4).normal(size=count)
    for error in errors:
        prediction_interval.learn_error(counters, recent_errors, error, 1.0)
    later = errors[layout.RECENT_ERRORS :][:: 1 + delay // 8]
    expected = np.append(errors[: layout.RECENT_ERRORS], later)[-layout.RECENT_ERRORS :]
    np.testing.assert_array_equal(recent_errors[1], np.sort(expected))


@pytest.mark.parametrize("delay, quick", [(0, 8), (1, 16), (48, 32)])
def test_the_scale_is_the_geometric_mean_of_a_quick_and_a_slow_mean(delay, quick):
    errors = np.random.default_rng(5).standard_t(3, size=700)
    means = []
    for memory in (quick, 32):
        mean = np.mean(abs(errors[:memory]))  # a plain mean as long as that is shorter
        for error in errors[memory:]:
            mean = (1 - 1 / memory) * mean + abs(error) / memory
        means.append(mean)
    counters, _ = learn_all(errors, delay)
    assert counters[layout.ERROR_SCALE] == pytest.approx(
        np.sqrt(np.prod(means)), rel=1e-12
    )


@pytest.mark.parametrize(
    "seen, delay, outside",
    [  # a quarter of 513 - (r - 1) on either side, r = 512 (1 + d/2) / reach
        (511, 48, 128), (512, 0, 128), (512, 48, 122), (1024, 48, 125), (5000, 48, 127),
    ],
)  # fmt: skip
def test_late_errors_in_a_full_window_are_taken_for_fewer(seen, delay, outside):
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    (
        counters[layout.DELAY],
        counters[layout.ERROR_COUNT],
        counters[layout.ERROR_SCALE],
    ) = delay, seen, 1.0
    count = min(seen, layout.RECENT_ERRORS)
    recent_errors[1, :count] = np.arange(count) - count // 2
    ends = prediction_interval.interval_offsets(counters, recent_errors, 0.5)
    ordered = recent_errors[1, :count]
    assert ends == (ordered[outside - 1], ordered[-outside])


def test_where_late_errors_tell_next_to_nothing_the_ends_are_the_largest():
    counters, recent_errors = (
        np.zeros(layout.COUNTERS),
        np.zeros((2, layout.RECENT_ERRORS)),
    )
    counters[layout.DELAY], counters[layout.ERROR_SCALE] = 3000, 1.0
    counters[layout.ERROR_COUNT] = layout.RECENT_ERRORS
    recent_errors[1] = np.arange(layout.RECENT_ERRORS) - 256
    ends = prediction_interval.interval_offsets(counters, recent_errors, 0.5)
    assert ends == (-256.0, 255.0)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_errors_near_the_limits_of_float64_have_a_scale(size):
    counters, _ = learn_all(size * np.array([1.0, -1.0, 1.0]))
    assert counters[layout.ERROR_SCALE] == pytest.approx(size, rel=1e-12)


@given(
    st.lists(st.sampled_from([0.0, 1e-9, -0.5, 1.0, -3.0, 1e8]), max_size=60),
    st.integers(0, 600),
    st.sampled_from([0, 1, 8, 48]),
    st.floats(0.01, 0.99),
)
def test_the_kernel_equals_the_definition(shocks, calm, delay, level):
    rng = np.random.default_rng(calm)
    errors = [*rng.normal(size=calm), *shocks, *rng.normal(size=30)]
    counters, recent_errors = learn_all(errors, delay)
    s = SimpleNamespace(
        counters=np.zeros(layout.COUNTERS),
        recent_errors=np.zeros((2, layout.RECENT_ERRORS)),
    )
    s.counters[layout.DELAY] = delay
    for error in errors:
        definition.learn_error(s, error, float(s.counters[layout.ERROR_SCALE]))
    np.testing.assert_allclose(counters, s.counters, rtol=1e-9)
    np.testing.assert_allclose(recent_errors, s.recent_errors, rtol=1e-9)
    expected = definition.interval_offsets(s, level)
    ends = prediction_interval.interval_offsets(counters, recent_errors, level)
    np.testing.assert_allclose(ends, expected, rtol=1e-9)
    assert ends[0] <= 0 <= ends[1]


@given(st.integers(1, 700), st.sampled_from([0, 12]), st.floats(0.01, 0.99))
def test_intervals_have_the_unit_of_the_errors_and_mirror_them(count, delay, level):
    errors = np.random.default_rng(count).standard_t(2, size=count)
    below, above = prediction_interval.interval_offsets(
        *learn_all(errors, delay), level
    )
    other = prediction_interval.interval_offsets(
        *learn_all(-1e3 * errors, delay), level
    )
    np.testing.assert_allclose(other, [-1e3 * above, -1e3 * below], rtol=1e-9)
