"""Static regret: against the best fixed point in hindsight."""

from dataclasses import dataclass

import numpy as np

from thalweg.domains import Domain
from thalweg.losses import Loss
from thalweg.regret.best_point import EVERYWHERE, best_fixed_point
from thalweg.regret.comparators import (
    check_hindsight_block,
    comparator_losses,
    trace_losses,
)
from thalweg.types import Block, FloatArray, Trace


@dataclass(frozen=True, eq=False)
class Regret:
    """The loss of a trace beyond that of a comparator."""

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
    block = check_hindsight_block(block, loss)
    total = float(trace_losses(trace, block).sum())
    point, gap = best_fixed_point(block, loss, domain)
    points = np.broadcast_to(point, (len(block), *point.shape))
    comparator_loss = float(comparator_losses(block, loss, points).sum())
    return Regret(total - comparator_loss, point, comparator_loss, 0.0, gap)
