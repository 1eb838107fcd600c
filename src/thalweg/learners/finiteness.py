"""What a run leaves behind is finite: predictions, losses and θ."""

import numpy as np

from thalweg.checks import MAX_MAGNITUDE
from thalweg.types import Block, Trace


def limit_losses(trace: Trace, block: Block) -> None:
    """Limit losses to the square of the largest legal number, in place.

    A finite prediction can be so wrong that its squared error is infinite; sums of
    losses stay finite. A round of weight 0 costs 0 all the same.
    """
    loss = trace.loss
    limit = MAX_MAGNITUDE[loss.dtype] ** 2
    if not loss.max() <= limit:
        np.minimum(loss, limit, out=loss)
        if block.weight is not None:
            loss[block.weight == 0] = 0
