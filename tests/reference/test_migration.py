"""docs/migration.md: other libraries beside what the page says to write instead."""

import re
from pathlib import Path

import numpy as np
import padasip
import pytest
from sklearn.linear_model import SGDRegressor
from statsmodels.regression.recursive_ls import RecursiveLS

import thalweg as tw

PAGE = Path(__file__).parents[2] / "docs/migration.md"
SAMPLES, TAPS = 300, 4
RNG = np.random.default_rng(11)
X = RNG.normal(size=SAMPLES)
D = np.convolve(X, [1.0, -0.5, 0.25, 0.1])[:SAMPLES] + 0.1 * RNG.normal(size=SAMPLES)
ROWS = padasip.input_from_history(np.concatenate([np.zeros(TAPS - 1), X]), TAPS)
NEWEST_FIRST = ROWS[:, ::-1]


def coefficients(learner, rows=NEWEST_FIRST, start=None):
    model = tw.Online(learner, intercept=False, start=start)
    model.run(rows, D)
    return model.coefficients


def test_the_tap_delay_line_is_theirs_newest_first():
    learner = tw.RecursiveLeastSquares(0.99, ridge=0.1)
    output = tw.adaptive_filter(D, X, taps=TAPS, learner=learner)
    theirs = padasip.filters.FilterRLS(TAPS, mu=0.99, eps=0.1, w="zeros")
    y, e, w = theirs.run(D, NEWEST_FIRST)
    for mine, its in zip(output, (y, e, w), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("mu, eps", [(0.99, 0.1), (0.9, 0.001), (1.0, 1.0)])
def test_padasip_rls(mu, eps):
    start = RNG.normal(size=TAPS)
    theirs = padasip.filters.FilterRLS(TAPS, mu=mu, eps=eps, w=start)
    theirs.run(D, NEWEST_FIRST)
    ours = coefficients(tw.RecursiveLeastSquares(discount=mu, ridge=eps), start=start)
    np.testing.assert_allclose(ours, theirs.w, rtol=1e-8, atol=1e-8)


def test_padasip_lms():
    theirs = padasip.filters.FilterLMS(TAPS, mu=0.05, w="zeros")
    theirs.run(D, NEWEST_FIRST)
    learner = tw.ConstantStepGradient(smoothness=1 / 0.05, domain=tw.Everywhere())
    np.testing.assert_allclose(coefficients(learner), theirs.w, rtol=1e-8)


@pytest.mark.parametrize("lmbd, delta", [(0.999, 10.0), (0.95, 0.5)])
def test_pyroomacoustics_rls(lmbd, delta):
    adaptive = pytest.importorskip("pyroomacoustics.adaptive")
    theirs = adaptive.RLS(TAPS, lmbd=lmbd, delta=delta, dtype=np.float64)
    ours = tw.AdaptiveFilter(TAPS, tw.RecursiveLeastSquares(lmbd, ridge=delta))
    for d, x in zip(D, X, strict=True):
        theirs.update(x, d)
        ours.update(d, x)
    np.testing.assert_allclose(ours.w, theirs.w, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    "alpha, beta, smoothing", [(1.0, 1.0, None), (2.0, 3.0, None), (2.0, 3.0, 0.95)]
)
def test_river_bayesian_linear_regression(alpha, beta, smoothing):
    linear_model = pytest.importorskip("river.linear_model")
    theirs = linear_model.BayesianLinearRegression(alpha, beta, smoothing)
    for row, d in zip(NEWEST_FIRST, D, strict=True):
        theirs.learn_one(dict(enumerate(row)), d)
    if smoothing is None:
        learner = tw.RecursiveLeastSquares(1.0, ridge=alpha / beta)
    else:
        ridge = 1 / (alpha * beta * (1 - smoothing))
        learner = tw.RecursiveLeastSquares(smoothing, ridge=ridge)
    question = RNG.normal(size=TAPS)
    expected = theirs.predict_one(dict(enumerate(question)))
    assert coefficients(learner) @ question == pytest.approx(expected, rel=1e-8)


def test_statsmodels_recursive_ls():
    rows = RNG.normal(size=(SAMPLES, TAPS))
    theirs = RecursiveLS(D, rows).fit().recursive_coefficients.filtered.T
    model = tw.Online(tw.RecursiveLeastSquares(1.0, ridge=0.0), intercept=False)
    trace = model.run(rows, D, record=("theta",))
    # Theirs are those after each row, ours those before it; the first rows alone do
    # not determine them.
    ours = np.vstack([trace.theta[1:], model.coefficients])
    np.testing.assert_allclose(ours[TAPS:], theirs[TAPS:], rtol=1e-8)


def test_scikit_learn_sgd():
    theirs = SGDRegressor(
        penalty=None, learning_rate="constant", eta0=0.02, fit_intercept=False
    )
    for row, d in zip(NEWEST_FIRST, D, strict=True):
        theirs.partial_fit(row[None], [d])
    learner = tw.ConstantStepGradient(smoothness=1 / 0.02, domain=tw.Everywhere())
    np.testing.assert_allclose(coefficients(learner), theirs.coef_, rtol=1e-8)


def matlab_filter(forgetting_factor, initial_inverse_covariance):
    """The equations of MATLAB's pages dsp.RLSFilter and recursiveLS, newest first."""
    w, P = np.zeros(TAPS), initial_inverse_covariance * np.eye(TAPS)
    for u, d in zip(NEWEST_FIRST, D, strict=True):
        gain = P @ u / (forgetting_factor + u @ P @ u)
        w = w + gain * (d - w @ u)
        P = (P - np.outer(gain, u @ P)) / forgetting_factor
    return w


@pytest.mark.parametrize("factor, covariance", [(1.0, 1000.0), (0.98, 1e4)])
def test_the_equations_of_matlab(factor, covariance):
    learner = tw.RecursiveLeastSquares(factor, ridge=1 / covariance)
    theirs = matlab_filter(factor, covariance)
    np.testing.assert_allclose(coefficients(learner), theirs, rtol=1e-8)


def test_the_example_of_the_page_runs_and_cancels_the_echo():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names = {}
    exec(compile(example, str(PAGE), "exec"), names)
    np.testing.assert_allclose(names["w"][-1], names["room"], atol=0.01)
    theirs = padasip.filters.FilterRLS(16, mu=0.999, eps=0.001, w="zeros")
    padded = np.concatenate([np.zeros(15), names["far"]])
    rows = padasip.input_from_history(padded, 16)[:, ::-1]
    y, e, w = theirs.run(names["microphone"], rows)
    for mine, its in zip((names["y"], names["e"], names["w"]), (y, e, w), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-8, atol=1e-8)
    more = names["adaptive"]
    assert more.w.shape == (16,) and np.isfinite(names["output"])
