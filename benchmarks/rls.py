"""Time recursive least squares side by side with peers, and print ratios.

Every peer gets the same stream; before it is timed its predictions are compared with
ours. Repetitions are interleaved, so that a busy machine slows all of them alike;
figures are medians. Only the ratios mean anything on another machine.
"""

import argparse
import statistics
import time

import numpy as np
import padasip
from plain_rls import plain_rls
from river.linear_model import BayesianLinearRegression, LinearRegression

import thalweg as tw

DISCOUNT, RIDGE = 0.99, 1.0


def learner():
    """The settings under test."""
    return tw.RecursiveLeastSquares(DISCOUNT, RIDGE)


def ours_whole(x, y):
    """One call for the whole stream."""
    return tw.Online(learner(), intercept=False).run(x, y).prediction


def ours_single(x, y):
    """predict, then update, for every round."""
    model, out = tw.Online(learner(), intercept=False), np.empty(len(y))
    for t, (row, target) in enumerate(zip(x, y, strict=True)):
        out[t] = model.predict(row)
        model.update(row, target)
    return out


def plain_loop(x, y):
    """benchmarks/plain_rls.py: compiled, no safeguards."""
    out = np.empty(len(y))
    plain_rls(np.zeros(x.shape[1]), np.eye(x.shape[1]) / RIDGE, DISCOUNT, x, y, out)
    return out


def numpy_loop(x, y):
    """The textbook recursion in bare NumPy."""
    n, out = x.shape[1], np.empty(len(y))
    theta, cov = np.zeros(n), np.eye(n) / RIDGE
    for t, (row, target) in enumerate(zip(x, y, strict=True)):
        out[t] = row @ theta
        cov_x = cov @ row
        gain = cov_x / (DISCOUNT + row @ cov_x)
        theta += gain * (target - out[t])
        cov = (cov - np.outer(gain, cov_x)) / DISCOUNT
    return out


def padasip_run(x, y):
    """padasip's own loop over the stream."""
    peer = padasip.filters.FilterRLS(x.shape[1], DISCOUNT, RIDGE, w="zeros")
    return peer.run(y, x)[0]


def river_bayesian(x, y):
    """River's discounted regression, a dictionary a round."""
    # River's prior is not ours: agreement is looked for once it is forgotten.
    return river(BayesianLinearRegression(smoothing=DISCOUNT), x, y)


def river_sgd(x, y):
    """River's gradient descent: another algorithm, for its cost only."""
    return river(LinearRegression(), x, y)


def river(model, x, y):
    """Predictions of a River model, the making of dictionaries not left out."""
    out = np.empty(len(y))
    for t, (row, target) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        features = dict(enumerate(row))
        out[t] = model.predict_one(features)
        model.learn_one(features, target)
    return out


WHOLE = {"thalweg run": ours_whole, "plain compiled loop": plain_loop}
SINGLE = {
    "thalweg predict + update": ours_single,
    "NumPy loop": numpy_loop,
    "padasip run": padasip_run,
    "River Bayesian, smoothing": river_bayesian,
    "River LinearRegression (SGD)": river_sgd,
}


def microseconds(call, x, y):
    """How long one round takes."""
    start = time.perf_counter()
    call(x, y)
    return (time.perf_counter() - start) / len(y) * 1e6


def medians(calls, x, y, repeats):
    """µs a round of each call, in turn and then again."""
    times = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            times[name].append(microseconds(call, x, y))
    return {name: statistics.median(found) for name, found in times.items()}


def main():
    """Print a table for each number of features."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--features", type=int, nargs="*", default=[2, 4, 8, 16, 32, 64]
    )
    parser.add_argument("--repeats", type=int, default=5)
    wanted = parser.parse_args()
    rng = np.random.default_rng(0)
    for n in wanted.features:
        x = rng.normal(size=(50_000, n))
        y = x[:, 0] + 0.1 * rng.normal(size=len(x))
        reference = ours_whole(x[:2000], y[:2000])
        for name, call in (WHOLE | SINGLE).items():
            if call is river_sgd:
                continue
            gap = np.abs(call(x[:2000], y[:2000]) - reference)[-100:].max()
            if gap > 1e-6:
                print(f"n = {n}: {name} disagrees by {gap:.1g}")
        times = medians(WHOLE, x, y, wanted.repeats)
        times |= medians(SINGLE, x[:2000], y[:2000], wanted.repeats)
        ours = times["thalweg run"]
        print(f"\nn = {n}\n  {'':<32}{'µs a round':>12}{'/ thalweg run':>16}")
        for name, spent in sorted(times.items(), key=lambda item: item[1]):
            print(f"  {name:<32}{spent:>12.3f}{spent / ours:>16.1f}")


if __name__ == "__main__":
    main()
