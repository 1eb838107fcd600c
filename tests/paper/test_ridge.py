"""The choice of ε by case: dynamic regret of mixtures, T = 1000, n = 3, D = 1.

The mean over two seeds, as an audit measured it (the third column for N = 8):

|                    | ε = 1 | 1/(ρ²D²) | 1/(ρ²D²N) |
| case 1, stationary | 27.5  | 4.1      | 8.6       |
| case 1, abrupt     | 32.5  | 21.4     | 16.9      |
| case 3, stationary | 0.84  | 14.2     | 7.2       |
| case 3, abrupt     | 23.5  | 25.8     | 24.5      |
"""

from functools import lru_cache

import numpy as np
import pytest

import thalweg as tw

T, LOSS, DOMAIN = 1000, tw.SquaredError(), tw.Ball(1.0)
KINDS = {"stationary": tw.streams.stationary, "abrupt": tw.streams.abrupt}
AUDIT = {
    (1, "stationary"): (27.5, 4.1, 8.6),
    (1, "abrupt"): (32.5, 21.4, 16.9),
    (3, "stationary"): (0.84, 14.2, 7.2),
    (3, "abrupt"): (23.5, 25.8, 24.5),
}


@lru_cache
def regret(case, kind, choice):
    """Mean dynamic regret of the mixture for one choice of ε."""
    totals = []
    for seed in (0, 1):
        stream = KINDS[kind](T, 3, noise=0.3, seed=seed)
        problem = tw.bounds.Problem.from_loss(LOSS, DOMAIN, stream.block)
        N = len(tw.discounts.grid(T, DOMAIN.radius, static=False))
        ridge = {
            "one": 1.0,
            "paper": tw.bounds.paper_ridge(problem),
            "paper, N": tw.bounds.paper_ridge(problem, experts=N),
            "default": None,
        }[choice]
        constants = LOSS.constants(DOMAIN, stream.block)
        learner = tw.Experts.from_newton_grid(constants, DOMAIN, T, case, ridge)
        trace = learner.run(learner.init(np.zeros(3)), LOSS, stream.block)[1]
        totals.append(tw.regret.dynamic(trace, stream.block, LOSS, stream.truth).total)
    return float(np.mean(totals))


@pytest.mark.parametrize(("case", "kind"), AUDIT)
def test_the_four_rows_of_the_audit(case, kind):
    row = [regret(case, kind, choice) for choice in ("one", "paper", "paper, N")]
    # The audit gives two digits.
    assert row == pytest.approx(AUDIT[case, kind], abs=0.055)


@pytest.mark.parametrize(("case", "kind"), AUDIT)
def test_the_default_is_the_paper_s_where_it_helps_and_one_where_it_harms(case, kind):
    default = regret(case, kind, "default")
    assert default == regret(case, kind, "paper" if case == 1 else "one")
    if case == 1:
        assert default < 0.7 * regret(case, kind, "one")
    else:
        assert default < regret(case, kind, "paper, N") < regret(case, kind, "paper")
