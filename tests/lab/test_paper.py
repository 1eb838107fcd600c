import numpy as np
import pytest

from thalweg.lab.paper import reproduce, steps


@pytest.fixture(scope="module")
def quick():
    words = []
    return reproduce(True, words.append), words


def test_every_bound_holds_and_the_lower_one_from_below(quick):
    found, _ = quick
    assert len(found.results) == 29
    for result in found.results:
        assert result.tightest <= 1, result.setting


def test_the_bounds_exponents_are_the_predicted_ones_where_one_term_rules(quick):
    """A slope of what was measured may be smaller than the theory's, never larger."""
    found, _ = quick
    for result in found.results:
        if result.growth is not None and not result.lower:
            assert result.growth.low <= result.predicted + 0.1, result.setting


def test_forgetting_less_costs_more_where_theta_jumps_and_less_where_it_stays(quick):
    curve = quick[0].tradeoff
    assert (np.diff(curve.static) < 0).all()
    assert (np.diff(curve.dynamic) > 0).all()


def test_progress_is_told_as_often_as_announced(quick):
    assert len(quick[1]) == steps(True)


def test_the_best_discount_in_hindsight_is_not_beaten_by_much(quick):
    compared = quick[0].contest
    regret = np.array(compared.regret)
    assert regret.shape == (len(compared.kinds), len(compared.learners))
    assert (regret[:, 1:] > 0.5 * regret[:, :1]).all()
