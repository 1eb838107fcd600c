"""Rounds of the Tracker: predict, then learn. Inner loop of learners/tracker."""

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import WIDTH, above, load, store
from thalweg.kernels.tracker import errors, mixture
from thalweg.kernels.tracker.clip import clip, widen
from thalweg.kernels.tracker.deviations import look, reveal
from thalweg.kernels.tracker.kinds import labelled, pulled, unpulled
from thalweg.kernels.tracker.late import fetch, wait
from thalweg.kernels.tracker.layout import (
    ALL_RULES,
    DELAY,
    HIGH,
    LABELLED,
    LARGEST_LOSS,
    LAST,
    LOW,
    PULLED,
    ROUNDS,
    SCALE,
    SEASONAL,
    SINGLES,
    STEP,
    TOTAL_WEIGHT,
    UNPULLED,
    WAITED,
)
from thalweg.kernels.tracker.moments import learn_moments, learn_spread, set_ridge
from thalweg.kernels.tracker.past import push
from thalweg.kernels.tracker.restart import is_time, note_steps, restart_if_outgrown
from thalweg.kernels.tracker.season import count, learn_season
from thalweg.kernels.tracker.solve import factorise

MOST = 1e300
"""Of a weighted square."""


@inline_function
def predict(s, x, sums, votes):
    """What is said of y at ``x``; leaves in the rooms what ``learn`` builds on."""
    t = s.clock[ROUNDS]
    if t == 0:
        return 0.0
    said, u, origin, known = votes.said, sums.deviation, sums.origin, s.experts
    look(s.clock, s.past_x, s.past_y, known.mean, x, u, origin, 0)
    spoken = votes.spoken
    pulled.predict(known.pulled, u, origin, spoken, PULLED)
    pulled.predict(known.unpulled, u, origin, spoken, UNPULLED)
    pulled.predict(known.labelled, u, origin, spoken, LABELLED)
    last_y = origin[STEP]
    said[LAST] = last_y
    clip(s.clock, last_y, said)
    vote(s.born, t, votes)
    mixture.weigh(s.rules, votes)
    return mixture.mix(said, votes.active, votes.shares, votes.top, votes.mixes)


@inline_function
def observe(s, x, y, w, elapsed, forecast, sums, votes):
    """Learn the round of which ``forecast`` was just said; or, where labels are late,
    the one whose label is known by now.
    """
    clock = s.clock
    spoken, row, scale = clock[ROUNDS] > 0, x, clock[SCALE]
    if clock[DELAY] > 0:
        if not wait(clock, s.pending, x, y, w, elapsed, forecast, votes):
            return
        row, late, mean = sums.row, int(clock[DELAY]), s.experts.mean
        y, w, elapsed, forecast, spoken, scale = fetch(clock, s.pending, votes, row)
        look(clock, s.past_x, s.past_y, mean, row, sums.deviation, sums.origin, late)
        vote(s.born, clock[ROUNDS], votes)
    learn(s, row, y, w, elapsed, forecast, spoken, scale, sums, votes)


@inline_function
def learn(s, x, y, w, elapsed, forecast, spoken, scale, sums, votes):
    """Learn that ``y`` came at ``x``, with weight ``w``, after ``forecast`` was said.

    Of a round of weight zero, that took any time, only that is remembered that it
    passed: seasons go on, and the forecast stands for its label. ``spoken`` says
    whether the experts had anything to say of this one, and ``scale`` how large their
    errors were as far as was known then.
    """
    clock = s.clock
    clock[WAITED] += elapsed
    if w > 0:
        if clock[ROUNDS] > 0:
            w = bearable(clock, y, w, sums.deviation)
            clock[TOTAL_WEIGHT] += w
            if spoken:
                largest = mixture.learn(s.rules, votes, forecast, y, w, clock[ROUNDS])
                clock[LARGEST_LOSS] = max(clock[LARGEST_LOSS], largest)
                errors.learn_error(clock, s.recent, y - forecast, scale)
            share = w / clock[TOTAL_WEIGHT]
            learn_experts(s.experts, x, y, w, clock[WAITED], share, sums)
            note_steps(s.longest, sums.deviation)
        widen(clock, sums.origin[STEP], y)
        clock[WAITED] = 0.0
        learn_season(clock, s.past_y, s.unlike, s.per_count, y)
    elif elapsed == 0 or clock[ROUNDS] == 0:
        return
    push(clock, s.past_x, s.past_y, x, y if w > 0 else forecast)
    count(clock, s.per_count, w > 0)
    if w > 0:
        clock[ROUNDS] += 1
        if is_time(clock):
            restart_if_outgrown(s, votes, sums.late)


@inner_function
def bearable(clock, y, w, u):
    """The weight, or as much of it as times any square here is within float64."""
    if w <= 1:
        return w
    widest = max(clock[HIGH], y) - min(clock[LOW], y)
    for j in range(len(u) - 1):
        widest = max(widest, abs(u[j, STEP]), abs(u[j, SEASONAL]))
    return min(w, MOST / max(widest, 1.0) / max(widest, 1.0))


@inline_function
def learn_experts(known, x, y, w, elapsed, share, sums):
    """Moments, their factors, and from them every kind's coefficients."""
    u, gain, lower = sums.deviation, sums.gain, sums.lower
    reveal(known.weight, known.mean, y, w, elapsed, u, sums.origin, gain, sums.decay)
    last_y = sums.origin[STEP]
    learn_spread(known.centre, known.spread, x, last_y, u, share)
    learn_moments(known.moments, u, gain, sums.decay)
    set_ridge(known.spread, sums.ridge)
    factorise(known.moments, sums.ridge, lower, sums.work)
    pulled.learn(known.pulled, lower)
    unpulled.learn(known.unpulled, u, gain, lower, sums.solved)
    labelled.learn(known.labelled, lower)


@inline_function
def vote(born, t, votes):
    """Who votes in round t, and who in the next; of the rules always all."""
    for k in range(0, born.size, WIDTH):
        first = load(born, k)
        store(votes.active, k, above(first, t, 0.0, 1.0))
        store(votes.following, k, above(first, t + 1, 0.0, 1.0))
    store(votes.every, 0, load(ALL_RULES, 0))
    store(votes.singles, 0, load(SINGLES, 0))
