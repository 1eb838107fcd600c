"""The bound of the Tracker's regret is that of docs/derivations/tracker.md."""

import pytest

from thalweg.kernels.tracker.tracker_layout import EXPERTS, RULES
from thalweg.learners.tracker.regret_bound import adashare_regret, interval_regret


def test_the_bound_is_that_of_the_derivation():
    # Δ = 3E²/2 = 6. In a first round ρ = 2, ln(b/a) = 0, and ln K = ln 3.
    assert adashare_regret(2.0, 3, 1, 1) == pytest.approx(
        6 * (2 + 3 * 1.0986122886681098)
    )
    # Rounds 2 to 6: ln(b/a) = ln 3, ρ = 3/2 + ln 3, ln(aK) = ln 6.
    log_3, log_6 = 1.0986122886681098, 1.791759469228055
    rho = 1.5 + log_3
    expected = 6 * (rho + log_6 + rho * log_3 + log_3)
    assert adashare_regret(2.0, 3, 2, 6) == pytest.approx(expected)


def test_the_bound_grows_with_the_square_of_the_errors():
    assert adashare_regret(6.0, 5, 3, 9) == pytest.approx(
        9 * adashare_regret(2.0, 5, 3, 9)
    )


def test_the_tracker_pays_for_its_experts_and_for_its_rules():
    parts = [adashare_regret(2.0, count, 5, 50) for count in (EXPERTS, RULES)]
    assert interval_regret(2.0, 5, 50) == pytest.approx(sum(parts))
