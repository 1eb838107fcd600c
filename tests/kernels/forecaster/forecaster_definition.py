"""What the Forecaster's kernels compute, written down slowly and plainly.

Everything is remembered from the first round on, and the regressions are solved again
by ``numpy.linalg`` from all rounds, without rings, lanes, running sums or factors. The
constants and the names of features are those of the kernels. The windows of errors are
the Tracker's (thalweg/learners/tracker/definition.py), which has tests of its own.
"""

from types import SimpleNamespace

import numpy as np
import scipy.special
import scipy.stats

from tests.kernels.forecaster.analogues_definition import Analogues
from tests.kernels.forecaster.effects_definition import (
    Effects,
    in_units,
    known_share,
    limit,
    running_mean,
)
from tests.kernels.forecaster.nonlinear_definition import Context, NonlinearRegression
from tests.kernels.forecaster.pool_definition import Pool, PooledSeries
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster import (
    forecaster_round,
    phase_spread,
    step_features,
    step_mixture,
    step_regressions,
)
from thalweg.kernels.forecaster.candidates import PLACES, TABLE
from thalweg.kernels.forecaster.covariates import MIN_COVARIATE_SHARE
from thalweg.kernels.forecaster.forecaster_round import EARLY_ROUNDS, RANGE_MARGIN
from thalweg.kernels.forecaster.nonlinear_regression import (
    MAX_DIFFERENCE,
    WEIGHT_LANE,
)
from thalweg.kernels.tracker import tracker_layout
from thalweg.learners.tracker import definition


class Origin(SimpleNamespace):
    """What was known and forecast after a round: level, scale, low, high, rows (J, n),
    contexts (J, C), candidates (J, K), has_candidate (K,), members of the pool (J, 3),
    forecasts (H,), error_scales (J, 2). Of known features the function ``effect`` of a
    row, and ``future_part`` of a step and a row: the effect, and what the regressions
    add."""


class Regressions:
    """All labels of one step, and what follows from them."""

    def __init__(self, step, size, given):
        self.step, self.given = step, given
        self.rows, self.labels, self.weights = [], [], []
        self.mean_errors = np.zeros(layout.LANES)
        self.losses, self.own_errors = [], []
        self.prior = np.append(layout.PRIOR, np.zeros(size - layout.OWN_FEATURES))
        self.theta = np.tile(self.prior[:, None], layout.LANES)
        self.value_errors, self.total_errors = (new_errors(step - 1) for _ in range(2))
        self.sizes, self.total_sizes = [], []  # of the errors
        self.pool = Pool(step)

    def learn(self, row, candidates, has_candidate, label):
        count = len(self.labels)
        errors = np.abs(candidates[: layout.LANES] - label)
        bounds = layout.OUTLIER_LIMIT * self.mean_errors
        is_outlier = (count >= step_regressions.TRUSTED_ERRORS) & (errors > bounds)
        weights = np.where(is_outlier, bounds / np.maximum(errors, 1e-300), 1.0)
        weights = np.maximum(weights, 1e-9)
        share = max(1 / (count + 1), step_regressions.MEAN_ERROR_SHARE)
        self.mean_errors += share * (weights * errors - self.mean_errors)
        self.rows.append(row)
        self.labels.append(label)
        leverage = max(abs(row).max() / step_regressions.LEVERAGE_LIMIT, 1.0)
        self.weights.append(weights / leverage**2)
        squares = np.minimum((candidates - label) ** 2, step_mixture.MAX_LOSS)
        self.losses.append(squares)
        self.own_errors.append(has_candidate)
        self.theta = self.solve()

    def solve(self):
        """θ of every lane, (n, LANES): weighted least squares with a ridge."""
        X, z = np.array(self.rows), np.array(self.labels)
        ages = np.arange(len(z))[::-1]
        theta = np.empty_like(self.theta)
        for lane, gamma in enumerate(layout.DISCOUNT):
            w = gamma**ages * np.array(self.weights)[:, lane]
            S = X.T @ (w[:, None] * X) + np.diag(ridges(X.shape[1], self.given))
            b = X.T @ (w * (z - X @ self.prior))
            theta[:, lane] = self.prior + np.linalg.solve(S, b)
        return theta

    def mixture(self, has_candidate):
        """The weights of all candidates, of which some can forecast."""
        count = min(len(self.labels), step_mixture.LOSS_MEMORY)
        losses = np.zeros(len(TABLE))
        losses += running_mean(self.losses, 1 / step_mixture.LOSS_MEMORY)
        errors = np.sum([np.zeros(len(TABLE)), *self.own_errors], axis=0)
        prior = np.zeros(len(TABLE))
        for k, candidate in enumerate(TABLE):
            needed, share = candidate.errors, float(has_candidate[k])
            if needed:
                share *= errors[k] / (errors[k] + needed)
            prior[k] = candidate.prior * share
        lowest = losses[prior > 0].min()
        sharpness = step_mixture.SHARPNESS / (1 + step_mixture.OVERLAP * self.step)
        excess = np.zeros(len(TABLE))
        if lowest > 0:
            excess = sharpness * count * np.maximum(losses / lowest - 1, 0)
        elif losses.max() > 0:
            excess = np.where(losses > 0, np.inf, 0.0)
        weights = prior * np.exp(-np.minimum(excess, 700))
        return weights / weights.sum()


def new_errors(delay):
    errors = SimpleNamespace(
        counters=np.zeros(tracker_layout.COUNTERS),
        recent_errors=np.zeros((2, tracker_layout.RECENT_ERRORS)),
    )
    errors.counters[tracker_layout.DELAY] = delay
    return errors


def band(errors, coverage, step):
    """Quantiles of the errors; at least those of Student's t where there are too few
    for quantiles. Errors of later steps count less."""
    low, high = definition.interval_offsets(errors, coverage)
    count, share = int(errors.counters[tracker_layout.ERROR_COUNT]), (1 - coverage) / 2
    alike = 1 + (step - 1) / 2  # errors in a row that count as one
    enough = np.ceil(1 / share - 1e-9) - 1
    if not 0 < count < min(enough * alike, tracker_layout.RECENT_ERRORS):
        return low, high
    degrees = 1 + (min(count, 64) - 1) / alike
    deviation = 1 + (np.sqrt(np.pi / 2) - 1) * (1 - 1 / degrees)  # per mean size
    reach = scipy.stats.t(degrees).ppf(1 - share) * deviation
    reach *= errors.counters[tracker_layout.SLOW_ERROR_MEAN]
    return min(low, -reach), max(high, reach)


def ridges(size, given):
    ridge = np.full(size, step_regressions.RIDGE)
    ridge[size - given :] = step_regressions.COVARIATE_RIDGE
    return ridge


class ForecasterDefinition:
    """A forecaster of the steps ``steps``, the last of which is the horizon."""

    def __init__(self, steps, season, cycle, lags=(), known=(), seasons_back=680):
        self.season, self.cycle, self.lags = season, cycle, lags
        self.known = np.array(known, dtype=bool)
        self.horizon = int(steps[-1])
        size = layout.OWN_FEATURES + len(lags) + len(known)
        self.models = [Regressions(int(step), size, len(known)) for step in steps]
        # Step h has the regressions of the first modelled step that is not before it.
        self.model_of = [
            next(model for model in self.models if model.step >= h)
            for h in range(1, self.horizon + 1)
        ]
        size = 2 if len(self.models) > 8 else 1  # of groups of steps
        for first in range(0, len(self.models), size):
            group = self.models[first : first + size]
            shared = NonlinearRegression([model.step for model in group])
            for model in group:
                model.nonlinear = shared
        self.context = Context(self)
        self.analogues = Analogues(self, seasons_back)
        self.values, self.is_missing, self.given = [], [], []
        self.lowest = np.inf  # of the values as given
        self.effects = Effects(self) if self.known.any() else None
        self.deviations = []  # (round, y - level before), after the first season
        self.spread_gain = 0.0
        self.relative_sizes = []  # (round, mean |error| over the mean of those before)
        self.origins = []
        self.pooled_series = PooledSeries(season, self.horizon)

    # What is known of the series.

    def level(self, length, values=None):
        """The mean of the last ``length`` values."""
        return float(np.mean((self.values if values is None else values)[-length:]))

    def profile(self, length, r):
        """The mean deviation at the phase of round r; None where it is new."""
        alike = [d for t, d in self.deviations if (t - r) % length == 0]
        if not alike:
            return None
        return running_mean(alike, step_features.MIN_PROFILE_SHARE)

    def season_profile(self, r):
        profile = self.profile(self.season, r)
        return 0.0 if profile is None else profile

    def cycle_profile(self, r):
        profile = self.profile(self.cycle, r)
        return self.season_profile(r) if profile is None else profile

    def sizes(self):
        """The sizes of all deviations but those that are rounding of the level."""
        least = step_features.MIN_RELATIVE_DEVIATION
        return [
            abs(d)
            for t, d in self.deviations
            if abs(d) > least * abs(self.level(self.season, self.values[:t]))
        ]

    def scale(self):
        mean = running_mean(self.sizes(), 1 / (step_features.SCALE_CYCLES * self.cycle))
        return max(mean, step_features.MIN_SCALE) if mean > 0 else 0.0

    def deviation(self, y):
        """The deviation of the next value from the level, within limits once there are
        enough to know what is usual."""
        deviation = y - self.level(self.season)
        if len(self.sizes()) < step_features.TRUSTED_DEVIATIONS:
            return deviation
        bound = step_features.MAX_RELATIVE_DEVIATION * self.scale()
        return float(np.clip(deviation, -bound, bound))

    def range(self):
        known = np.array(self.values)[~np.array(self.is_missing)]
        margin = RANGE_MARGIN * (known.max() - known.min())
        return known.min() - margin, known.max() + margin

    # Features.

    def features(self, values, h, level, scale):
        """The features of the step h rounds after the last of the values."""
        t, season, cycle = len(values) - 1, self.season, self.cycle
        target = t + h
        season_lag, cycle_lag = (-(-h // length) * length for length in (season, cycle))

        def value(r):
            return limit((values[max(r, 0)] - level) / scale)

        row = np.zeros(layout.OWN_FEATURES + len(self.lags))
        row[layout.LAST] = value(t)
        row[layout.LAST_BUT_ONE], row[layout.LAST_BUT_TWO] = value(t - 1), value(t - 2)
        row[layout.SEASON_BEFORE], row[layout.CYCLE_BEFORE] = (
            value(t - season),
            value(t - cycle),
        )
        row[layout.PROFILE_NOW] = limit(self.season_profile(t) / scale)
        row[layout.CYCLE_PROFILE_NOW] = limit(self.cycle_profile(t) / scale)
        row[layout.CYCLE_LEVEL] = limit((self.level(cycle, values) - level) / scale)
        row[layout.CONSTANT] = 1.0
        row[layout.OWN_FEATURES :] = [value(t + 1 - lag) for lag in self.lags]
        ago = row[layout.SEASON_AGO] = value(target - season_lag)
        before = max(target - season_lag, 0)
        row[layout.PROFILE_SEASON_AGO] = limit(self.cycle_profile(before) / scale)

        def fade_in(other, lag, length):
            share = known_share(t, lag, length, season)
            return (1 - share) * other + (share * value(target - lag) if share else 0)

        row[layout.SEASONS_AGO] = fade_in(ago, season_lag + season, season)
        cycle_ago = row[layout.CYCLE_AGO] = fade_in(ago, cycle_lag, cycle)
        row[layout.CYCLES_AGO] = fade_in(cycle_ago, 2 * cycle_lag, cycle)
        row[layout.PROFILE] = limit(self.season_profile(target) / scale)
        row[layout.CYCLE_PROFILE] = limit(self.cycle_profile(target) / scale)
        return row

    def covariate_moments(self, count):
        """Mean and unit of each given feature, as known from the first rounds: the
        deviation, or the mean change where that is more."""
        means, units = np.zeros(len(self.known)), np.zeros(len(self.known))
        for i in range(len(units)):
            mean = variance = 0.0
            for t, row in enumerate(self.given[:count]):
                share = max(1 / (t + 1), MIN_COVARIATE_SHARE)
                before = row[i] - mean
                mean += share * before
                variance += share * (before * (row[i] - mean) - variance)
            means[i], units[i] = mean, max(np.sqrt(variance), self.change(i, count))
        return means, units

    def change(self, i, count):
        """The mean size of the changes of a given feature in the first rounds."""
        changes = np.abs(np.diff([row[i] for row in self.given[:count]]))
        return running_mean(changes[changes > 0], MIN_COVARIATE_SHARE)

    # A round.

    def observe(self, y, x=()):
        """Learn the value of the next round, NaN where it is missing, and forecast."""
        t, effect = len(self.values), 0.0
        self.lowest = np.fmin(self.lowest, y)
        self.given.append(np.array(x, dtype=float))
        if self.effects is not None:
            effect = self.origins[-1].effect(x) if t else 0.0
            self.add_future_part(t, np.array(x), effect)
        value = float(y) - effect
        if np.isnan(y):
            value = self.origins[-1].forecasts[0]
        else:
            self.learn(t, value)
            if t >= self.season:
                self.deviations.append((t, self.deviation(value)))
        self.values.append(value)
        self.pooled_series.learn(np.nan if np.isnan(y) else value)
        self.analogues.learn(t)
        if self.effects is not None:
            self.effects.learn(value + effect if np.isnan(y) else y, np.isnan(y))
        self.is_missing.append(bool(np.isnan(y)))
        self.origins.append(self.forecast_from(t))

    def future_part(self, model, units):
        """What features known in advance add to every candidate."""
        base = layout.OWN_FEATURES + len(self.lags)
        part, first = (
            (units * self.known) @ one.theta[base:] for one in (model, self.models[0])
        )
        candidates = np.zeros(len(TABLE))
        candidates[: layout.LANES], candidates[PLACES["recursive"]] = part, first.mean()
        given = model.nonlinear.coefficients(slice(base, base + len(units)))
        candidates[PLACES["nonlinear"]] = (units * self.known) @ given
        return candidates

    def add_future_part(self, t, x, effect):
        """Forecasts of round t were made without what is known of it by now."""
        means, deviations = self.covariate_moments(t)
        now = in_units(x, means, deviations)
        for h in range(1, min(t, self.horizon) + 1):
            origin, model = self.origins[t - h], self.model_of[h - 1]
            origin.forecasts[h - 1] += origin.future_part(h, x) - effect
            if origin.scale > 0 and h == model.step:
                j = self.models.index(model)
                origin.candidates[j] += self.future_part(model, now)
                part = origin.future_part(h, x) - origin.effect(x)
                origin.members[j] += part / origin.scale
                base = layout.OWN_FEATURES + len(self.lags)
                origin.rows[j][base:][self.known] = now[self.known]

    def learn(self, t, y):
        values = [*self.values, y]
        known = np.array(self.values)[~np.array(self.is_missing, bool)]
        rounding = 0.0
        if len(known):
            rounding = step_features.MIN_RELATIVE_DEVIATION * abs(known).max()

        def without_rounding(error, values):
            return 0.0 if abs(error) <= values * rounding else error

        spread, relative = self.spread(t), []
        for j, model in enumerate(self.models):
            h = model.step
            if t < h:
                continue
            origin = self.origins[t - h]
            if origin.scale > 0:
                label = limit((y - origin.level) / origin.scale)
                row, context = origin.rows[j], origin.contexts[j]
                model.learn(row, origin.candidates[j], origin.has_candidate, label)
                model.pool.learn(origin.members[j], label)
                shared = model.nonlinear
                is_first = j == 0 or self.models[j - 1].nonlinear is not shared
                features = self.context.features(row, context, t)
                weight = model.weights[-1][WEIGHT_LANE]
                shared.learn(row, features, label, weight, is_first)
            error = without_rounding(y - origin.forecasts[h - 1], 1)
            least = 1 / (phase_spread.SIZE_SEASONS * self.season)
            mean = running_mean(model.sizes, min(phase_spread.MIN_SIZE_SHARE, least))
            if mean > 0:
                relative.append(min(abs(error) / mean, phase_spread.MAX_SPREAD))
            model.sizes.append(abs(error))
            scale = origin.error_scales[j][0]
            definition.learn_error(model.value_errors, error / spread, scale)
            if not any(self.is_missing[t - h + 1 : t]):
                error = sum(values[t - h + 1 :]) - origin.forecasts[:h].sum()
                error = without_rounding(error, h)
                scale = origin.error_scales[j][1]
                model.total_sizes.append(abs(error))
                definition.learn_error(model.total_errors, error, scale)
        if relative:
            size, spread = np.mean(relative), self.phase_spread(t)
            gain = size - (size / spread + np.log(spread))  # of log-likelihoods
            gain += phase_spread.MEMORY_OF_GAIN * self.spread_gain
            most = phase_spread.MAX_GAIN
            self.spread_gain = np.clip(gain, -most, most)
            self.relative_sizes.append((t, size))

    def spread(self, r):
        """How large errors are at round r, relative to others."""
        return self.phase_spread(r) ** scipy.special.expit(self.spread_gain)

    def phase_spread(self, r):
        """How large errors were at the phases of round r, relative to others."""
        spread, width = 1.0, -(-self.season // phase_spread.MAX_SPREADS)
        for length in sorted({self.season, self.cycle}):
            place = r % length // width
            relative = self.relative_sizes
            sizes = [size for t, size in relative if t % length // width == place]
            share = phase_spread.MIN_SPREAD_SHARE / width
            count, mean = min(len(sizes), 1 / share), running_mean(sizes, share)
            total = count * mean + phase_spread.PRIOR_ERRORS * spread
            spread = total / (count + phase_spread.PRIOR_ERRORS)
        return np.clip(spread, phase_spread.MIN_SPREAD, phase_spread.MAX_SPREAD)

    def forecast_from(self, t):
        """All that is forecast after round t, the newest one: the season before, until
        a season has passed and values have differed from its level."""
        origin = Origin(
            level=self.level(self.season), scale=0.0, rows=[], contexts=[],
            candidates=[], members=[],
        )  # fmt: skip
        origin.error_scales = [
            [
                errors.counters[tracker_layout.ERROR_SCALE]
                for errors in (m.value_errors, m.total_errors)
            ]
            for m in self.models
        ]
        origin.effect = self.effects.of_rows(t) if self.effects else lambda x: 0.0
        origin.future_part = lambda h, x: origin.effect(x)
        season, steps = self.season, range(1, self.horizon + 1)
        if t < season + EARLY_ROUNDS or self.scale() == 0:
            ago = [max(t + h - -(-h // season) * season, 0) for h in steps]
            at = ago if t + 1 >= season else [t] * self.horizon
            origin.forecasts = np.array([self.values[r] for r in at])
            return origin
        origin.scale, (low, high) = self.scale(), self.range()
        level, scale = origin.level, origin.scale
        means, deviations = self.covariate_moments(t + 1)
        units = in_units(self.given[-1], means, deviations) * ~self.known
        analogues = self.analogues.forecasts(scale)
        origin.has_candidate = np.ones(len(TABLE), bool)
        origin.has_candidate[PLACES["analogues"]] = analogues is not None
        parts = self.mixed_parts(origin, means, deviations)
        origin.future_part = lambda h, x: origin.effect(x) + parts(h, x)
        path = self.recursive_path(units, scale, low, high)
        origin.forecasts = np.zeros(self.horizon)
        self.context.levels.append(level)
        for h in steps:
            model = self.model_of[h - 1]
            own = self.features(self.values, h, level, scale)
            row = np.append(own, units)
            context = self.context.of_step(h, level, scale)
            if h == 1:
                inputs = self.context.hinge_inputs(row, context, t + h)
                self.context.learn_inputs(inputs)
            candidates = np.zeros(len(TABLE))
            ends = limit((low - level) / scale), limit((high - level) / scale)
            candidates[: layout.LANES] = np.clip(row @ model.theta, *ends)
            candidates[PLACES["nonlinear"]] = np.clip(
                self.nonlinear_forecast(model, row, context, t + h), *ends
            )
            candidates[PLACES["analogues"]] = candidates[PLACES["nonlinear"]]
            if analogues is not None:
                candidates[PLACES["analogues"]] = np.clip(
                    limit(analogues[h - 1]), *ends
                )
            candidates[PLACES["recursive"]] = limit((path[h - 1] - level) / scale)
            candidates[PLACES["last value"]] = row[layout.LAST]
            candidates[PLACES["season ago"]] = row[layout.SEASON_AGO]
            candidates[PLACES["cycle ago"]] = row[layout.CYCLE_AGO]
            weights = model.mixture(origin.has_candidate)
            mixture = float(weights @ candidates)
            members = self.pooled_series.members(h, mixture, level, scale, ends)
            mean = level + scale * model.pool.forecast(members)
            origin.forecasts[h - 1] = np.clip(mean, low, high)
            if h == model.step:
                origin.members.append(members)
                origin.rows.append(row)
                origin.contexts.append(context)
                origin.candidates.append(candidates)
        return origin

    def nonlinear_forecast(self, model, row, context, target):
        """That of the nonlinear regression, near that of one of the others."""
        features = self.context.features(row, context, target)
        forecast = model.nonlinear.predict(row, features)
        other = row @ model.theta[:, WEIGHT_LANE]
        reach = MAX_DIFFERENCE * model.mean_errors[WEIGHT_LANE]
        return np.clip(forecast, other - reach, other + reach)

    def mixed_parts(self, origin, means, deviations):
        """What known features add in the mixture of a step, as it is now."""
        base = layout.OWN_FEATURES + len(self.lags)
        first = self.models[0].theta[base:].mean(axis=1)
        coefficients = []
        for h in range(1, self.horizon + 1):
            model = self.model_of[h - 1]
            weights = model.mixture(origin.has_candidate)
            mixed = model.theta[base:] @ weights[: layout.LANES]
            given = model.nonlinear.coefficients(slice(base, base + len(self.known)))
            mixed += weights[PLACES["nonlinear"]] * given
            coefficients.append(mixed + weights[PLACES["recursive"]] * first)

        def part(h, x):
            units = in_units(x, means, deviations) * self.known
            return origin.scale * float(coefficients[h - 1] @ units)

        return part

    def recursive_path(self, units, scale, low, high):
        """The first step's mean regression, again and again."""
        theta, values = self.models[0].theta.mean(axis=1), list(self.values)
        for _ in range(self.horizon):
            level = self.level(self.season, values)
            row = np.append(self.features(values, 1, level, scale), units)
            values.append(float(np.clip(level + scale * (theta @ row), low, high)))
        return values[len(self.values) :]

    # What it says.

    def forecast(self, future=()):
        """The forecasts of all steps, with features known of the coming rows."""
        origin = self.origins[-1]
        mean = origin.forecasts.copy()
        for h, x in enumerate(future[: self.horizon], start=1):
            if self.known.any():
                mean[h - 1] += origin.future_part(h, x)
        return np.maximum(mean, 0.0) if self.lowest == 0 else mean

    def offsets(self, coverage, kind="value_errors"):
        """The ends of the bands less the forecasts, (H, 2): linear between models.

        None reaches far beyond the largest error, if the last step has enough for
        quantiles, or beyond the range of the values.
        """
        enough = np.ceil(2 / (1 - coverage) - 1e-9) - 1
        needed = min(
            np.ceil(enough * (1 + (self.horizon - 1) / 2)), tracker_layout.RECENT_ERRORS
        )
        ends = np.array([band(getattr(m, kind), coverage, m.step) for m in self.models])
        steps = [0] + [m.step for m in self.models]
        result = np.empty((self.horizon, 2))
        for h in range(1, self.horizon + 1):
            after = next(k for k, step in enumerate(steps) if step >= h)
            before = np.zeros(2) if after == 1 else ends[after - 2]
            part = (h - steps[after - 1]) / (steps[after] - steps[after - 1])
            if part == 1 or np.isinf(ends[after - 1]).any():
                result[h - 1] = ends[after - 1]
            else:
                result[h - 1] = before + part * (ends[after - 1] - before)
            if kind == "value_errors":
                result[h - 1] *= self.spread(len(self.values) - 1 + h)
            model = self.model_of[h - 1]
            sizes = model.sizes if kind == "value_errors" else model.total_sizes
            if len(sizes) >= needed:
                reach = forecaster_round.MAX_REACH * max(sizes)
                result[h - 1] = np.clip(result[h - 1], -reach, reach)
        known = np.array(self.values)[~np.array(self.is_missing, bool)]
        enough = forecaster_round.MIN_LIMIT_ROUNDS
        enough += forecaster_round.MIN_LIMIT_HORIZONS * self.horizon
        if kind == "total_errors" or self.known.any() or len(known) < enough:
            return result
        margin = forecaster_round.BAND_MARGIN * (max(known) - min(known))
        forecasts = self.origins[-1].forecasts
        low = np.minimum(min(known) - margin - forecasts, 0.0)
        high = np.maximum(max(known) + margin - forecasts, 0.0)
        result[:, 0] = np.maximum(result[:, 0], low)
        result[:, 1] = np.minimum(result[:, 1], high)
        return result
