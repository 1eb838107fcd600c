"""One round as a learner takes it: shapes and numbers are legal, or it is refused."""

import numpy as np

from thalweg import checks
from thalweg.losses import Loss, Round
from thalweg.losses.base import CheckedRound
from thalweg.types import Block, FloatArray


def check_round(f: Round, theta: FloatArray) -> CheckedRound:
    """The round for a state of this θ; raises ``StreamError`` where it is refused.

    The rules are those of ``checks.check_block``, which decides in doubt: ordinary
    rounds are recognised in a fraction of its time.
    """
    if _is_ordinary(f, theta):
        return CheckedRound._make(f)
    x = None if f.x is None else checks.check_numbers("features", f.x)[None]
    y = checks.check_numbers("target", f.y)[None]
    block = checks.check_block(Block(x, y, [f.weight], [f.elapsed]), f.loss, theta)
    row = None if block.x is None else block.x[0]
    return CheckedRound(f.loss, row, block.y[0], float(f.weight), float(f.elapsed))


def _is_ordinary(f: Round, theta: FloatArray) -> bool:
    """Whether all is plainly legal; False where that takes a closer look."""
    loss, x, y, weight, elapsed = f
    is_plain = (
        type(x) is np.ndarray
        and x.dtype == theta.dtype
        and isinstance(y, float)
        and type(weight) is float
        and type(elapsed) is float
        and type(loss).check_rounds is Loss.check_rounds
    )
    if not is_plain or loss.shapes(theta) != (x.shape, ()):
        return False
    largest = checks.MAX_MAGNITUDE[theta.dtype]
    are_rates = 0 <= weight <= 1 and 0 <= elapsed <= largest
    return are_rates and abs(y) <= largest and checks.is_legal(x)
