"""Regret against the best point that hindsight could have stayed at."""

from dataclasses import dataclass

import numpy as np

from thalweg.domains import Domain
from thalweg.losses import Loss
from thalweg.regret.comparators import checked, incurred, losses_of
from thalweg.regret.fixed import EVERYWHERE, best_fixed
from thalweg.types import Block, FloatArray, Trace


@dataclass(frozen=True, eq=False)
class Regret:
    """What a trace lost beyond a comparator."""

    total: float  # Σ trace.loss - comparator_loss
    comparator: FloatArray  # (n,) or (n, k) a fixed point; (T, n) or (T, n, k) a path
    comparator_loss: float
    path_length: float  # V: 0 for a fixed point
    gap: float = 0.0  # the least possible comparator_loss may be this much lower


def static(
    trace: Trace, block: Block, loss: Loss, domain: Domain = EVERYWHERE
) -> Regret:
    """Σ f_t(θ_t) - min Σ f_t(θ) over the domain.

    The trace may be any forecaster's; ``domain`` binds the comparator alone. For
    squared losses the minimum is exact up to rounding, for others Newton's steps end
    at a gap of about rounding, certified on a bounded domain, or raise above 1e-8.
    """
    block = checked(block, loss)
    lost = float(incurred(trace, block).sum())
    point, gap = best_fixed(block, loss, domain)
    points = np.broadcast_to(point, (len(block), *point.shape))
    least = float(losses_of(block, loss, points).sum())
    return Regret(lost - least, point, least, 0.0, gap)
