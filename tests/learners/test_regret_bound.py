"""The bound of the Tracker's regret is that of docs/derivations/tracker.md."""

import pytest

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker.regret_bound import adashare_regret, interval_regret


def test_the_bound_is_that_of_the_derivation():
    # Δ = 3E²/2 = 6. In a first round ρ = 2, ln(b/a) = 0, and ln(1/π) = ln 3.
    assert adashare_regret(2.0, 1 / 3, 1, 1) == pytest.approx(
        6 * (2 + 3 * 1.0986122886681098)
    )
    # Rounds 2 to 6: ln(b/a) = ln 3, ρ = 3/2 + ln 3, ln(a/π) = ln 6.
    log_3, log_6 = 1.0986122886681098, 1.791759469228055
    rho = 1.5 + log_3
    expected = 6 * (rho + log_6 + rho * log_3 + log_3)
    assert adashare_regret(2.0, 1 / 3, 2, 6) == pytest.approx(expected)


def test_an_expert_that_is_certain_costs_no_more_than_the_gaps_and_the_shares():
    # π = 1 leaves Δ [ρ + ln a + ln(b/a)] = Δ [ρ + ln b]; here ρ = 3/2 + ln 3.
    rho, log_6 = 1.5 + 1.0986122886681098, 1.791759469228055
    assert adashare_regret(2.0, 1.0, 2, 6) == pytest.approx(6 * (rho + log_6))


def test_the_bound_grows_with_the_square_of_the_errors():
    assert adashare_regret(6.0, 0.2, 3, 9) == pytest.approx(
        9 * adashare_regret(2.0, 0.2, 3, 9)
    )


def test_an_unlikely_expert_costs_more():
    bounds = [adashare_regret(1.0, prior, 3, 9) for prior in (0.9, 0.1, 0.01)]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[1] < bounds[2]


def test_the_tracker_pays_for_its_experts_and_for_its_rules():
    # Experts are equal, and the rule of the proof is the first.
    parts = [adashare_regret(2.0, prior, 5, 50) for prior in (1 / 76, 0.1 / 7)]
    assert (layout.EXPERTS, layout.RULE_PRIOR[0]) == (76, pytest.approx(0.1 / 7))
    assert interval_regret(2.0, 5, 50) == pytest.approx(sum(parts))
