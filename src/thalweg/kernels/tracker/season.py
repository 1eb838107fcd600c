"""Which past round is most like this one: the season of the labels.

The normalised difference of the YIN pitch detector: with d_l the discounted mean of
(y_t - y_{t-l})², the season is the l with the least l·d_l / Σ_{m≤l} d_m, if that is
below one; else 1. (The least d_l itself is nearly always l = 1 or 2.)
de Cheveigné & Kawahara (2002), J. Acoust. Soc. Am. 111(4), section II.C.
"""

from numba import njit

from thalweg.kernels.tracker.layout import LAG, LONGEST_SEASON, ROUNDS
from thalweg.kernels.tracker.past import newest

DISCOUNT = 0.9995


# Counts are never zero where they divide; the numpy error model spares the check that
# would keep the loop from being a vector operation.
@njit(cache=True, error_model="numpy")
def find_season(clock, past_y, unlike, y, work):
    """Learn from the label ``y`` of round t, and set the season of round t + 1."""
    t = int(clock[ROUNDS])
    start = newest(clock)
    for i in range(min(t, LONGEST_SEASON)):
        step = y - past_y[start + i]
        unlike[0, i] = DISCOUNT * unlike[0, i] + step * step
        unlike[1, i] = DISCOUNT * unlike[1, i] + 1
        work[i] = unlike[0, i] / unlike[1, i]
    total, least = 0.0, 1.0
    clock[LAG] = 1
    for i in range(min(t // 2, LONGEST_SEASON)):  # two seasons must have been seen
        total += work[i]
        # Compared before dividing: a division only where it may matter.
        here = work[i] * (i + 1)
        if here < least * total:
            least = here / total
            clock[LAG] = i + 1
