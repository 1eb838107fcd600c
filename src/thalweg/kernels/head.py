"""What every ``memory`` of a model called round by round starts with, and its checks.

    [0] open: 1, or 0 while the state is elsewhere   [1] rounds learnt in this memory
    [2] n   [3] how many features are given; the rest are ones   [4] the largest number
    [5] to [15] settings of the learner, then the features (n) of the round

A kernel keeps hold of the interpreter from its first check to its last number, so
calls from several threads come one after the other; whoever wants the state for longer
closes the memory first, and calls that come meanwhile are refused.
"""

import functools
import math
import threading
from typing import Any

import numpy as np
from numba import njit, types
from numba.core.dispatcher import Dispatcher

OPEN, COUNT, N, GIVEN, LARGEST, SETTINGS = range(6)
HEAD = 16
_ONE_AT_A_TIME = threading.Lock()

# memory, x, y, weight, elapsed, whether to learn. Of x no more is asked than that it
# is one row: read-only and strided ones are as good as others.
_CALL = (
    types.Array(types.float64, 1, "C"),
    types.Array(types.float64, 1, "A", readonly=True),
    *(types.float64,) * 3,
    types.boolean,
)


@functools.cache
def ready(call: Any) -> Any:
    """The kernel, compiled, for calls from Python that nobody looks at any more.

    numba would look up the types of all arguments in every call, which takes as long as
    the rest of it: here the caller answers for them. Compiled not in the decorator,
    which would do so whenever the file is imported.
    """
    if not isinstance(call, Dispatcher):
        return call
    with _ONE_AT_A_TIME:
        if _CALL not in call.overloads:
            call.compile(_CALL)
        return call.overloads[_CALL].entry_point


def start(memory: np.ndarray, n: int, given: int, *settings: float) -> None:
    """Fill the head; the first setting is the largest legal number."""
    memory[:GIVEN] = (1.0, 0.0, n)
    memory[GIVEN : GIVEN + 1 + len(settings)] = (given, *settings)
    memory[HEAD + given : HEAD + n] = 1.0


@njit(cache=True)
def take(memory, x, most):
    """Copy the features into ``memory``; n, or -1 where this is refused."""
    if memory[OPEN] == 0 or x.size != memory[GIVEN]:
        return -1
    for i in range(x.size):
        if not abs(x[i]) <= most:  # nor where it is NaN
            return -1
    for i in range(x.size):
        memory[HEAD + i] = x[i]
    return int(memory[N])


@njit(cache=True)
def most_legal(memory, weight, elapsed):
    """How large a number may be in a round of this weight; NaN: none is legal.

    Kernels work with √w x and √w y, which must be legal as well.
    """
    largest = memory[LARGEST]
    if not (0 <= weight <= largest and 0 <= elapsed <= largest):
        return math.nan
    return largest / max(math.sqrt(weight), 1.0)


@njit(cache=True)
def said(forecast):
    """The answer of a call: NaN would be a refusal, and nothing was refused."""
    return math.inf if math.isnan(forecast) else forecast


@njit(cache=True)
def note_silence(x, quiet):
    """Count for how many rounds each feature has been zero."""
    for i in range(x.size):
        quiet[i] = 0.0 if x[i] != 0 else quiet[i] + 1
