"""The header of a live buffer: the one array of a model that is called round by round.

    [IS_OPEN]     1, or 0 while someone else works on the state: calls are refused
    [COUNT]       rounds learnt in this buffer
    [N]           n, the number of features
    [N_GIVEN]     how many of them a call brings; the rest are constant ones
    [MAX_VALUE]   the largest legal number
    [SETTINGS:]   settings of the learner, up to ``HEADER_SIZE``

Behind the header come the features (n) of the round. A kernel holds the interpreter
lock from its first check to its last number, so that calls from several threads come
one after the other. A caller that needs the state for longer closes the buffer first;
calls in the meantime are refused.

A kernel ``call(buffer, x, y, weight, elapsed, learning)`` returns the prediction of y
at x, or ``REFUSAL``. ``entry_point`` (compiler/jit.py) makes it callable from Python.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel

IS_OPEN, COUNT, N, N_GIVEN, MAX_VALUE, SETTINGS = range(6)
HEADER_SIZE = 24
REFUSAL = math.nan
"""What a kernel returns where it refuses a call, which then has changed nothing: its
arguments are not legal or the buffer is closed. No prediction is ever NaN, so one float
carries both the prediction and the status; test it with ``prediction == prediction``.
``Online`` then takes the checked path, which names what is wrong. A state that is not
finite, to which no rounds lead, predicts NaN or infinity: its calls are refused as well
(``finite_or_refusal``). A pair of status and prediction costs a call 20 ns more, a
status in the header 45 to 120: a call of ``Online.predict`` takes some 400."""


def fill_header(buffer: np.ndarray, n: int, n_given: int, *settings: float) -> None:
    """Open the buffer; the first of the settings is the largest legal number."""
    buffer[:N_GIVEN] = (1.0, 0.0, n)
    buffer[N_GIVEN : N_GIVEN + 1 + len(settings)] = (n_given, *settings)
    buffer[HEADER_SIZE + n_given : HEADER_SIZE + n] = 1.0


@kernel
def copy_features(buffer, x, max_value):
    """Copy the features into ``buffer``; returns n, or -1 where they are refused."""
    if buffer[IS_OPEN] == 0 or x.size != buffer[N_GIVEN]:
        return -1
    for i in range(x.size):
        if not abs(x[i]) <= max_value:  # also refuses NaN
            return -1
    for i in range(x.size):
        buffer[HEADER_SIZE + i] = x[i]
    return int(buffer[N])


@kernel
def max_legal_value(buffer, weight, elapsed):
    """The largest legal number in a round of this weight; NaN if no number is legal.

    Kernels compute with √w x and √w y, which have to be legal as well.
    """
    largest = buffer[MAX_VALUE]
    if not (0 <= weight <= largest and 0 <= elapsed <= largest):
        return math.nan
    return largest / max(math.sqrt(weight), 1.0)


@kernel
def finite_or_refusal(prediction):
    """The prediction, or ``REFUSAL`` where it is not finite."""
    return prediction if abs(prediction) < math.inf else REFUSAL


@kernel
def count_unexcited(x, unexcited_rounds):
    """Count for how many rounds each feature has been zero, and so excited nothing."""
    for i in range(x.size):
        unexcited_rounds[i] = 0.0 if x[i] != 0 else unexcited_rounds[i] + 1
