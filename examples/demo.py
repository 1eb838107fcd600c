"""Forecast two real series that ship with statsmodels, and print who did how well.

Each learner predicts a round before it sees it. Error is the mean squared error of
the scored rounds over that of persistence, which says again what was last seen: below
1 a learner was worth running.
"""

import numpy as np
from statsmodels.datasets import co2, macrodata

import thalweg as tw

BURN_IN = 40


def lagged(series, lags):
    """(x, y): each value of the series, and those ``lags`` rounds before it."""
    longest = max(lags)
    columns = [series[longest - lag : len(series) - lag] for lag in lags]
    return np.column_stack(columns), series[longest:]


def streams():
    """Name, features and target of each stream, features known before the target."""
    series = co2.load_pandas().data["co2"].interpolate().to_numpy()
    yield "CO₂ at Mauna Loa, weekly, from lags 1, 2, 52", *lagged(series, (1, 2, 52))
    macro = macrodata.load_pandas().data
    features = macro[["m1", "realgdp", "tbilrate"]].to_numpy()
    last = macro["cpi"].to_numpy()
    yield (
        "US consumer prices, quarterly, from money, output, interest and lag 1",
        np.column_stack([features[1:], last[:-1]]),
        last[1:],
    )


def standardised(x):
    """In units of the burn-in rounds, so that nothing later is known too early."""
    return (x - x[:BURN_IN].mean(axis=0)) / x[:BURN_IN].std(axis=0)


def learners():
    """What is compared: every memory by itself, and those that choose."""
    yield "Tracker, nothing to choose", tw.Tracker()
    for discount in (1.0, 0.99, 0.95, 0.9):
        learner = tw.RecursiveLeastSquares(discount, floor=0.01, pull=True)
        yield f"least squares, discount {discount}", learner
    bank = tuple(
        tw.RecursiveLeastSquares(discount, floor=0.01, pull=True)
        for discount in tw.discounts.grid(1000, 1.0)
    )
    # λ = 1/4 suits residuals of up to two units: half squares are then ¼-exp-concave.
    yield f"the paper's mixture of {len(bank)} discounts", tw.Experts(bank, 0.25)
    yield "sliding window of 100 rounds", tw.SlidingWindow(100, ridge=0.01)
    yield "persistence", tw.LastValue()


def main():
    """Print one table a stream, best first."""
    for title, features, target in streams():
        x, y = standardised(features), standardised(target)
        errors = {}
        for name, learner in learners():
            trace = tw.Online(learner).run(x, y)
            errors[name] = 2 * trace.loss[BURN_IN:].mean()
        print(f"\n{title}: {len(y)} rounds")
        print(f"  {'learner':<44}{'error / persistence':>20}")
        for name, error in sorted(errors.items(), key=lambda item: item[1]):
            print(f"  {name:<44}{error / errors['persistence']:>20.3f}")


if __name__ == "__main__":
    main()
