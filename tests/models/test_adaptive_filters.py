"""Adaptive filters beside a textbook loop over samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg as tw
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.models import AdaptiveFilter, adaptive_filter

SAMPLES = 90
RNG = np.random.default_rng(5)
X = RNG.normal(size=SAMPLES)
ECHO = np.array([0.8, 0.0, -0.5, 0.2])
D = np.convolve(X, ECHO)[:SAMPLES] + 0.01 * RNG.normal(size=SAMPLES)


def textbook_filter(d, x, taps, discount, ridge):
    """Haykin's exponentially weighted RLS, sample by sample; P is his inverse."""
    w, P, line = np.zeros(taps), np.eye(taps) / ridge, np.zeros(taps)
    y, coefficients = [], []
    for desired, sample in zip(d, x, strict=True):
        line = np.array([sample, *line[:-1]])
        gain = P @ line / (discount + line @ P @ line)
        y.append(w @ line)
        coefficients.append(w)
        w = w + gain * (desired - w @ line)
        P = (P - np.outer(gain, line @ P)) / discount
    return np.array(y), np.array(coefficients), w


@pytest.mark.parametrize("taps", [1, 4, 7])
@pytest.mark.parametrize("discount, ridge", [(0.999, 0.001), (0.95, 0.1)])
def test_it_is_the_textbook_filter(taps, discount, ridge):
    learner = tw.RecursiveLeastSquares(discount, ridge)
    adaptive = AdaptiveFilter(taps, learner)
    y, e, w = adaptive.run(D, X)
    expected_y, expected_w, last = textbook_filter(D, X, taps, discount, ridge)
    np.testing.assert_allclose(y, expected_y, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(w, expected_w, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(adaptive.w, last, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(e, D - y)


def test_by_default_it_forgets_by_a_thousandth_and_identifies_the_echo():
    y, e, w = adaptive_filter(D, X, taps=4)
    expected_y, _, _ = textbook_filter(D, X, 4, 0.999, 0.001)
    np.testing.assert_allclose(y, expected_y, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(w[-1], ECHO, atol=0.02)
    assert np.abs(e[20:]).max() < 0.1


@settings(max_examples=20)
@given(st.sets(st.integers(1, SAMPLES - 1), max_size=4).map(sorted), st.booleans())
def test_pieces_and_single_samples_give_what_one_run_gives(cuts, is_tracker):
    learner = tw.Tracker(curvature=False) if is_tracker else None
    whole = AdaptiveFilter(5, learner)
    expected = whole.run(D, X)
    pieces, outputs = AdaptiveFilter(5, learner), []
    for k, (a, b) in enumerate(zip([0, *cuts], [*cuts, SAMPLES], strict=True)):
        if k % 2 == 0:
            outputs.append(pieces.run(D[a:b], X[a:b], history=False).y)
            continue
        for d, x in zip(D[a:b], X[a:b], strict=True):
            forecast = pieces.predict(x)
            outputs.append([pieces.update(d, x)])
            assert outputs[-1] == [forecast]
    np.testing.assert_array_equal(np.concatenate(outputs), expected.y)
    np.testing.assert_array_equal(pieces.w, whole.w)


def test_rows_may_be_given_as_they_are():
    rows = RNG.normal(size=(50, 3))
    d = rows @ [1.0, 2.0, 3.0]
    y, e, w = adaptive_filter(d, rows)
    model = tw.Online(tw.RecursiveLeastSquares(0.999, ridge=0.001), intercept=False)
    trace = model.run(rows, d, record=("theta",))
    np.testing.assert_array_equal(y, trace.prediction)
    np.testing.assert_array_equal(w, trace.theta)
    np.testing.assert_array_equal(e, d - y)


def test_the_history_of_coefficients_can_be_left_out():
    assert adaptive_filter(D, X, taps=3, history=False).w is None


def test_it_starts_from_given_coefficients():
    adaptive = AdaptiveFilter(4, start=ECHO)
    np.testing.assert_array_equal(adaptive.w, ECHO)
    assert adaptive.predict(X[0]) == ECHO[0] * X[0]
    np.testing.assert_array_equal(AdaptiveFilter(4).w, np.zeros(4))


def test_a_refused_sample_leaves_the_line_as_it_was():
    adaptive, other = AdaptiveFilter(3), AdaptiveFilter(3)
    for each in (adaptive, other):
        each.run(D[:20], X[:20])
    for d, x in [(np.nan, 1.0), (1.0, np.nan), (1.0, 1e200)]:
        with pytest.raises(StreamError):
            adaptive.update(d, x)
    with pytest.raises(StreamError):
        adaptive.run([1.0, np.nan], [1.0, 2.0])
    assert adaptive.update(D[20], X[20]) == other.update(D[20], X[20])


@pytest.mark.parametrize("taps", [0, -1, 2.5, True, "4"])
def test_taps_must_be_a_whole_number_from_one_on(taps):
    with pytest.raises(InvalidParameterError, match="'taps' parameter of AdaptiveF"):
        AdaptiveFilter(taps)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(StreamError, match=r"needs 'taps', or rows.*shape \(90,\)"):
        adaptive_filter(D, X)
    with pytest.raises(StreamError, match=r"one input signal.*\(90, 1\)"):
        adaptive_filter(D, X[:, None], taps=2)
    with pytest.raises(StreamError):
        adaptive_filter(D[:5], X, taps=2)
    with pytest.raises(StreamError, match="input signal x must hold numbers"):
        adaptive_filter(D, X + 1j, taps=2)
