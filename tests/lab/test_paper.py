import numpy as np
import pytest

from thalweg.lab.paper import count_steps, reproduce


@pytest.fixture(scope="module")
def quick():
    messages = []
    return reproduce(True, messages.append), messages


def test_every_bound_holds_and_the_lower_one_from_below(quick):
    reproduction, _ = quick
    assert len(reproduction.results) == 29
    for result in reproduction.results:
        assert result.max_ratio() <= 1, result.setting


def test_measured_exponents_do_not_exceed_the_predicted_ones(quick):
    """A measured slope may be smaller than the theory's, never larger."""
    reproduction, _ = quick
    for result in reproduction.results:
        if result.growth is not None and not result.is_lower_bound:
            assert result.growth.low <= result.predicted + 0.1, result.setting


def test_a_longer_memory_costs_more_where_theta_jumps_and_less_where_it_is_constant(
    quick,
):
    curve = quick[0].tradeoff
    assert (np.diff(curve.static) < 0).all()
    assert (np.diff(curve.dynamic) > 0).all()


def test_progress_is_reported_as_often_as_announced(quick):
    assert len(quick[1]) == count_steps(True)


def test_the_best_discount_in_hindsight_is_not_beaten_by_much(quick):
    regrets = quick[0].rivals
    regret = np.array(regrets.regret)
    assert regret.shape == (len(regrets.kinds), len(regrets.learners))
    assert (regret[:, 1:] > 0.5 * regret[:, :1]).all()
