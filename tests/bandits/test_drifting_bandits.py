"""What the bandits page claims, on fewer seeds: benchmarks/drifting_bandits.py."""

import re
from pathlib import Path

import numpy as np
from scipy import stats

from thalweg.bandits import (
    AdaptiveLinUCB,
    DiscountedLinUCB,
    abrupt_environment,
    discount_for_drift,
    regret_bounds,
    simulate,
)

PAGE = Path(__file__).parents[2] / "docs/bandits.md"
SEEDS = 6


def totals(policy, environment):
    return np.array([simulate(policy, environment, seed=s).total for s in range(SEEDS)])


def test_forgetting_loses_less_than_lin_ucb_where_theta_turns_at_once():
    """d = 2, 50 actions, T = 6,000; the difference has a 99.9 % interval below 0."""
    environment = abrupt_environment()
    gamma = discount_for_drift(environment.path_length, 2, 6000)
    assert round(gamma, 4) == 0.9941
    plain = totals(DiscountedLinUCB(1.0, 0.1), environment)
    discounted = totals(DiscountedLinUCB(gamma, 0.1), environment)
    adaptive = totals(AdaptiveLinUCB(0.1), environment)
    for own in (discounted, adaptive):
        difference = own - plain
        width = stats.t.ppf(0.9995, SEEDS - 1) * difference.std(ddof=1) / SEEDS**0.5
        assert difference.mean() + width < 0
        assert own.mean() < 0.35 * plain.mean()
    problem = regret_bounds.LinearBandit(2, 0.1)
    for discount, regret in ((gamma, discounted), (1.0, plain)):
        bound = regret_bounds.discounted_lin_ucb(
            problem, discount, 6000, environment.path_length, environment.changes
        )
        assert regret.max() <= bound


def test_what_the_page_shows_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names = {}
    exec(compile("\n".join(shown), str(PAGE), "exec"), names)
    assert len(names["run"].regret) == 6000 and names["agent"].rounds == 1
    # Less than half of what choosing at random loses.
    environment, arms = names["environment"], names["arms"]
    assert 0 < names["drifting"] < 0.5 * random_regret(environment)
    assert 0 < names["switching"] < 0.5 * arms.gaps.mean(axis=1).sum()


def random_regret(environment):
    blocks = [environment.block(number, 0) for number in range(2)]
    means = np.concatenate([block.means for block in blocks])
    return (means.max(axis=1) - means.mean(axis=1)).sum()
