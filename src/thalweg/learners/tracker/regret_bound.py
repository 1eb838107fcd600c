"""The proven bound of the Tracker's regret to every expert, on every interval.

Also known as: strongly adaptive, or interval, regret. The proof is in
docs/derivations/tracker.md.
"""

import math

from thalweg.kernels.tracker import tracker_layout as layout


def adashare_regret(max_error: float, prior: float, first: int, last: int) -> float:
    r"""A bound on AdaShare's regret to one expert over rounds ``first`` to ``last``.

    .. math:: \Delta [\rho + \ln(a/\pi) + \rho \ln(1/\pi) + \ln(b/a)], \quad
              \rho = 1 + \ln(b/a) + 1/a, \quad \Delta \le \tfrac32 E^2

    with losses ½(y - p)², a the first and b the last round, π the expert's ``prior``
    probability, one over their number where all are equal, and E ``max_error``, the
    largest error of any of them up to b (times √weight, where rounds are weighted). It
    holds for whatever labels come, if the expert is active from a to b.
    """
    delta, span = 1.5 * max_error**2, math.log(last / first)
    rho, rarity = 1 + span + 1 / first, math.log(1 / prior)
    return delta * (rho + math.log(first) + rarity + rho * rarity + span)


def interval_regret(max_error: float, first: int, last: int) -> float:
    """The same bound for the Tracker, to any of its experts.

    AdaShare over the rules loses little to the rule that is AdaShare over the experts,
    and that one little to the expert. ``max_error`` is the largest of an expert or of
    the corrected committee: no other rule is farther from y than the farthest expert.
    """
    over_experts = adashare_regret(max_error, 1 / layout.EXPERTS, first, last)
    return over_experts + adashare_regret(max_error, layout.RULE_PRIOR[0], first, last)
