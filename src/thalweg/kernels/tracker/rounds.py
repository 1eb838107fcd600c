"""Rounds of the Tracker: predict, then learn. Inner loop of learners/tracker."""

import math

from numba import njit

from thalweg.kernels.tracker import errors, mixture, report, room
from thalweg.kernels.tracker.clip import clip, widen
from thalweg.kernels.tracker.deviations import look, reveal
from thalweg.kernels.tracker.kinds import labelled, pulled, unpulled
from thalweg.kernels.tracker.layout import (
    LABELLED,
    LARGEST_LOSS,
    LAST,
    PULLED,
    ROUNDS,
    STEP,
    TOTAL_WEIGHT,
    UNPULLED,
    WAITED,
    unpack,
)
from thalweg.kernels.tracker.moments import learn_moments, learn_spread, set_ridge
from thalweg.kernels.tracker.past import push
from thalweg.kernels.tracker.restart import note_steps, restart_if_outgrown
from thalweg.kernels.tracker.season import find_season
from thalweg.kernels.tracker.solve import factorise


@njit(cache=True)
def rounds(
    packed, x, y, weight, elapsed, level, out, theta, weights, memory, interval
):  # fmt: skip
    """Play the rounds (x, y), updating ``packed`` in place; without y only predict.

    Shapes: x (T, n), y (T,) or empty, weight and elapsed (T,) or empty for all ones,
    out (T,); of each round, before y is seen, theta (T, n), weights (T, EXPERTS),
    memory (T,) and interval (T, 2) at coverage ``level``, each of these or empty.
    """
    n = x.shape[1]
    s, sums, votes = unpack(packed, n), room.for_sums(n), room.for_votes()
    for t in range(len(x)):
        out[t] = predict(s, x[t], sums, votes)
        if len(theta) or len(weights) or len(memory):
            mixture.combine(votes.top, votes.shares, votes.final)
        if len(theta):
            report.slope(s.experts, votes.final, theta[t])
        if len(weights):
            weights[t] = votes.final
        if len(memory):
            memory[t] = report.memory(s.clock, votes.final)
        if len(interval):
            below, above = errors.reach(s.clock, s.recent, level)
            interval[t, 0], interval[t, 1] = out[t] + below, out[t] + above
        if len(y):
            w = weight[t] if len(weight) else 1.0
            e = elapsed[t] if len(elapsed) else 1.0
            learn(s, x[t], y[t], w, e, out[t], sums, votes)


@njit(cache=True)
def one_round(packed, given, largest, learning):
    """One call: given holds x (n,), y, weight, elapsed and room for the forecast.

    Predicts, and learns if asked to; False, and nothing done, if a number is illegal.
    """
    n = given.size - 4
    x, y, w, elapsed = given[:n], given[n], given[n + 1], given[n + 2]
    if learning and not (0 <= w <= largest and 0 <= elapsed <= largest):
        return False
    # Kernels work with √w x and √w y, which must be legal as well.
    most = largest / math.sqrt(w) if learning and w > 1 else largest
    for i in range(n):
        if not abs(x[i]) <= most:  # nor where it is NaN
            return False
    if learning and not abs(y) <= most:
        return False
    s, sums, votes = unpack(packed, n), room.for_sums(n), room.for_votes()
    given[n + 3] = predict(s, x, sums, votes)
    if learning:
        learn(s, x, y, w, elapsed, given[n + 3], sums, votes)
    return True


@njit(cache=True)
def predict(s, x, sums, votes):
    """What is said of y at ``x``; leaves in the rooms what ``learn`` builds on."""
    t = s.clock[ROUNDS]
    if t == 0:
        return 0.0
    said, u, origin, known = votes.said, sums.deviation, sums.origin, s.experts
    look(s.clock, s.past_x, s.past_y, known.mean, x, u, origin)
    pulled.predict(known.pulled, u, origin, said[PULLED:])
    pulled.predict(known.unpulled, u, origin, said[UNPULLED:])
    pulled.predict(known.labelled, u, origin, said[LABELLED:])
    last_y = origin[STEP]
    said[LAST] = last_y
    clip(s.clock, last_y, said)
    vote(s.born, t, votes.active, votes.following)
    mixture.weigh(s.rules, votes)
    return mixture.mix(said, votes.active, votes.shares, votes.top, votes.mixes)


@njit(cache=True)
def learn(s, x, y, w, elapsed, forecast, sums, votes):
    """Learn that ``y`` came at ``x``, with weight ``w``, after ``forecast`` was said.

    A round of weight zero is not seen; the time it took counts to the next.
    """
    clock = s.clock
    clock[WAITED] += elapsed
    if w == 0:
        return
    if clock[ROUNDS] > 0:
        largest = mixture.learn(s.rules, votes, forecast, y, w, clock[ROUNDS])
        clock[LARGEST_LOSS] = max(clock[LARGEST_LOSS], largest)
        errors.learn_error(clock, s.recent, y - forecast)
        clock[TOTAL_WEIGHT] += w
        share = w / clock[TOTAL_WEIGHT]
        learn_experts(s.experts, x, y, w, clock[WAITED], share, sums)
        note_steps(s.longest, sums.deviation)
    widen(clock, sums.origin[STEP], y)
    clock[WAITED] = 0.0
    find_season(clock, s.past_y, s.unlike, y, sums.season)
    push(clock, s.past_x, s.past_y, x, y)
    restart_if_outgrown(s, votes, sums.late)


@njit(cache=True)
def learn_experts(known, x, y, w, elapsed, share, sums):
    """Moments, their factors, and from them every kind's coefficients."""
    u, gain, lower = sums.deviation, sums.gain, sums.lower
    reveal(known.weight, known.mean, y, w, elapsed, u, sums.origin, gain, sums.decay)
    last_y = sums.origin[STEP]
    learn_spread(known.centre, known.spread, x, last_y, u, share)
    learn_moments(known.moments, u, gain, sums.decay)
    set_ridge(known.spread, sums.ridge)
    factorise(known.moments, sums.ridge, u, lower, sums.scaled, sums.entry)
    pulled.learn(known.pulled, lower)
    unpulled.learn(known.unpulled, u, gain, lower, sums.solved)
    labelled.learn(known.labelled, lower)


@njit(cache=True)
def vote(born, t, active, following):
    """Who votes in round t, and who in the next."""
    for k in range(born.size):
        active[k] = 1.0 if born[k] <= t else 0.0
        following[k] = 1.0 if born[k] <= t + 1 else 0.0
