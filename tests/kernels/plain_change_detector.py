"""The change detector in plain NumPy: all rows are kept, moments are computed again.

It is slow and has no state to restore. Labels and columns must be known and of ordinary
size, and columns must not depend on each other.
"""

import numpy as np

from tests.kernels.plain_level_shift import find_plain_shift, plain_period
from thalweg.kernels.change_detector import change_statistics as tests
from thalweg.kernels.change_detector import detector_layout as layout


class PlainModel:
    """Ridge regression on the rows learnt so far, and the scale of its errors."""

    def __init__(self, ridges):
        self.ridges = ridges  # of each feature
        self.rows, self.targets, self.variance, self.size = [], [], 0.0, 0.0

    def forecast(self, row):
        """The forecast of a target, and √(1 + leverage)."""
        count = len(self.rows)
        if not count:
            return 0.0, np.sqrt(2.0)
        theta, inverse = self.fit()
        step = row - np.mean(self.rows, axis=0)
        leverage = 1 / count + step @ inverse @ step
        return np.mean(self.targets) + step @ theta, np.sqrt(1 + leverage)

    def fit(self):
        """The coefficients, and the inverse of the moments; 0 for constant features."""
        x, y = np.array(self.rows), np.array(self.targets)
        deviations = x - x.mean(axis=0)
        free = deviations.std(axis=0) > 0
        a = deviations[:, free]
        moments = a.T @ a
        inverse = np.zeros((len(free), len(free)))
        inverse[np.ix_(free, free)] = np.linalg.inv(
            moments + np.diag(np.diag(moments) * self.ridges[free]) / len(x)
        )
        return inverse @ deviations.T @ (y - y.mean()), inverse

    def update_scale(self, error, degrees):
        """Huber's proposal 2, after eight errors that count as they are."""
        square, size = error**2, abs(error)
        if degrees >= 8:
            square = min(square, 9 * self.variance) / 0.9950
            size = min(size, 20 * self.size)
        self.variance += (square - self.variance) / (degrees + 1)
        self.size += (size - self.size) / (degrees + 1)


class PlainDetector:
    """The alarms of a stream, without seasons: (row, onset, statistic)."""

    def __init__(self, y, columns, years=None):
        """``years`` (T,) are times in years, of daily or weekly rows, or of months."""
        self.given, self.columns = np.asarray(y, float), np.asarray(columns, float)
        angle = 2 * np.pi * (np.empty(0) if years is None else np.asarray(years))
        harmonics = np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)
        self.period = plain_period(years)
        has_year = years is not None and self.period == 0
        self.year = np.transpose(harmonics) if has_year else np.empty((len(y), 0))
        self.times, self.alarms = years, []
        self.y = self.given.copy()  # on the scale of now
        self.is_log, self.scale_row = False, 0
        self.squares = {}  # of recursive residuals
        self.clean = {}  # of each row: the value without the excess of an outlier
        self.adjusted = {}  # and less the effect of the columns
        self.errors = {}
        self.begin(0)

    def begin(self, start):
        """Forget everything before this row."""
        self.regime_start = start
        self.begin_models(start)

    def begin_models(self, start):
        """Forget what was learnt, but not past values."""
        self.start, self.degrees, self.jump = start, 0, None
        year, p = [1] * self.year.shape[1], self.columns.shape[1]
        ridges = np.array([4, 4, *year, *[4] * p])
        self.models = (
            PlainModel(np.append(4, ridges)), PlainModel(ridges), PlainModel(ridges),
        )  # fmt: skip
        self.sums = np.zeros(6 + 2 * self.columns.shape[1])
        self.onsets = np.zeros(len(self.sums), int)
        self.square_mean, self.square_variance = 0.9205, 1.233
        self.powers = np.ones(self.columns.shape[1])

    def run(self):
        """Play all rows."""
        for t in range(len(self.y)):
            if self.is_log and self.given[t] <= 0:
                self.change_scale(t)
            self.y[t] = np.log(self.given[t]) if self.is_log else self.given[t]
            statistic = self.play(t, is_tested=True)
            if self.has_level_shift(t):
                continue
            if statistic is None:
                is_quiet = (t + 1) % 64 == 0 and self.ratios().max() < 0.5
                if is_quiet and self.is_other_scale_better(t + 1):
                    self.change_scale(t + 1)
                continue
            onset = self.onset(statistic, t + 1)
            self.restore(onset, t)
            if self.scale_row <= onset and self.is_other_scale_better(onset):
                self.change_scale(t + 1)
            else:
                self.raise_alarm(t, onset, statistic)
        return self.alarms

    def restore(self, onset, t):
        """Values since the onset are no outliers."""
        for again in range(onset, t + 1):
            self.clean[again] = self.adjusted[again] = self.y[again]

    def raise_alarm(self, t, onset, statistic):
        """Begin again from the onset."""
        self.alarms.append((t, onset, statistic))
        self.begin(onset)
        for again in range(onset, t + 1):
            self.play(again, is_tested=False)

    def has_level_shift(self, t):
        """Whether months have a shift of the level, which is then an alarm."""
        if self.period == 0:
            return False
        onsets = [onset for _, onset, _ in self.alarms]
        y, times = self.given[: t + 1], self.times[: t + 1]
        found = find_plain_shift(y, times, self.period, self.columns, onsets)
        if found is not None:
            self.restore(found[0], t)
            self.raise_alarm(
                t, found[0], layout.LARGE_UP if found[1] > 0 else layout.LARGE_DOWN
            )
        return found is not None

    def is_other_scale_better(self, end):
        """Whether errors before ``end`` are likelier in logarithms, or in values."""
        past = [min(self.clean[t], self.y[t]) for t in self.clean]
        if self.columns.shape[1] or (not self.is_log and min(past) <= 0):
            return False
        known = [t for t in range(end) if t in self.squares]
        level = np.array([self.clean[t] for t in known])
        size = np.sqrt([self.squares[t] for t in known])
        if not size.sum() > 0:
            return False
        if self.is_log:
            level = np.exp(level)
            size = size * level
        gain = len(known) * np.log(size.sum() / (size / level).sum())
        gain -= np.log(level).sum()
        return (-gain if self.is_log else gain) > 2

    def change_scale(self, end):
        """Play the last rows again on the other scale, without alarms."""
        convert = np.exp if self.is_log else np.log
        for t in range(end):
            if t in self.squares:
                level = np.exp(self.clean[t]) if self.is_log else self.clean[t]
                self.squares[t] *= level**2 if self.is_log else level**-2
            self.clean[t] = self.adjusted[t] = convert(self.clean[t])
            self.y[t], self.errors[t] = convert(self.y[t]), 0.0
        self.is_log, self.scale_row = not self.is_log, end
        start = max(end - 256, self.regime_start)
        self.begin_models(start)
        for t in range(start, end):
            self.play(t, is_tested=True)

    def features(self, t, last):
        """Those of the models with a trend, of differences, and without a trend."""
        y1 = self.adjusted[t - 1] + last - self.clean[t - 1]
        y2, y3 = self.adjusted[t - 2], self.adjusted[t - 3]
        known = np.hstack([self.year, self.columns])
        change = known[t] - known[t - 1]
        values = np.array([t - self.start, y1, y2, *known[t]])
        return values, np.array([y1 - y2, y2 - y3, *change]), values[1:]

    def forecasts(self, t, last):
        rows = self.features(t, last)
        pairs = [m.forecast(row) for m, row in zip(self.models, rows, strict=True)]
        targets = [pair[0] for pair in pairs]
        targets[1] += last
        return rows, targets, [pair[1] for pair in pairs]

    def chosen(self):
        """The model with the smaller errors; a trend must be better by 15 variances."""
        trend, change, level = (model.variance for model in self.models)
        best = 2 if level < trend * (1 + 15 / max(self.degrees, 1)) else 0
        return 1 if change < self.models[best].variance else best

    def column_effect(self, t, theta):
        """What the columns add, after the row was learnt; theta is of before."""
        p = self.columns.shape[1]
        past = np.array(self.models[0].rows)[:, len(self.models[0].rows[0]) - p :]
        return theta[len(theta) - p :] @ (self.columns[t] - past.mean(axis=0))

    def play(self, t, is_tested):
        self.clean[t] = self.adjusted[t] = self.y[t]
        self.errors[t] = 0.0
        self.squares.pop(t, None)
        if t - self.regime_start < 3:
            return None
        last, alarm, y = self.clean[t - 1], None, self.y[t]
        rows, forecasts, spreads = self.forecasts(t, last)
        chosen, theta = self.chosen(), None
        if self.degrees >= 8:
            theta = self.models[chosen].fit()[0]
            if self.y[t - 1] != last:
                other = self.forecasts(t, self.y[t - 1])
                if abs(y - other[1][chosen]) < abs(y - forecasts[chosen]):
                    last = self.y[t - 1]
                    self.adjusted[t - 1] += last - self.clean[t - 1]
                    self.clean[t - 1] = last
                    rows, forecasts, spreads = other
            noise = self.noise(chosen)
            scale = max(noise, self.least_scale()) * spreads[chosen]
            error = self.errors[t] = y - forecasts[chosen]
            self.clean[t] = forecasts[chosen] + np.clip(error, -4 * scale, 4 * scale)
            self.squares[t] = (
                (self.clean[t] - forecasts[chosen]) / spreads[chosen]
            ) ** 2
            if is_tested and self.degrees >= 12:
                has_noise = noise > self.least_scale()
                alarm = self.test(t, chosen, rows[chosen], error, scale, has_noise)
        if not 64 <= len(self.models[0].rows) < 256 or not self.is_in_doubt(t):
            self.learn(rows, forecasts, spreads, y, self.clean[t], last)
        self.adjusted[t] = self.clean[t]
        if theta is not None:
            self.adjusted[t] -= self.column_effect(t, theta)
        return alarm

    def is_in_doubt(self, t):
        """Whether a shift has begun, abruptly so where there is a year."""
        return any(
            self.sums[k]
            > max(3.5, 1.5 * (t - self.onsets[k] + 1) * self.is_new_year(t))
            for k in (layout.LARGE_UP, layout.LARGE_DOWN)
        )

    def is_new_year(self, t):
        """Whether rows have a year, of which less than one has been learnt."""
        if self.times is None or self.period > 0:
            return False
        step = (self.times[t] - self.times[0]) / (t + 1)
        return step * len(self.models[0].rows) < 1

    def noise(self, chosen):
        model = self.models[chosen]
        return max(np.sqrt(model.variance), model.size / 2)

    def least_scale(self):
        """A tenth of the standard deviation of differences."""
        return 0.1 * np.std(self.models[1].targets)

    def learn(self, rows, forecasts, spreads, y, clean, last):
        known = self.columns.shape[1] + self.year.shape[1]
        is_scaled = len(self.models[0].rows) >= known + 2
        targets = clean, clean - last, clean
        for k, model in enumerate(self.models):
            if is_scaled:
                residual = (y - forecasts[k]) / spreads[k]
                model.update_scale(residual, self.degrees)
            model.rows.append(rows[k])
            model.targets.append(targets[k])
        self.degrees += is_scaled

    def test(self, t, chosen, row, error, scale, has_noise):
        """The statistic that is above its threshold, if any."""
        nu = self.degrees
        z = np.sqrt(nu * np.log1p((error / scale) ** 2 / nu))
        z = np.clip(np.sign(error) * z * (8 * nu + 1) / (8 * nu + 3), -3, 3)
        rate = 1 / (nu + 20)
        inputs = {
            layout.SMALL_UP: z - 0.3, layout.SMALL_DOWN: -z - 0.3,
            layout.LARGE_UP: z - 1, layout.LARGE_DOWN: -z - 1,
        }  # fmt: skip
        if self.period > 0:
            inputs.clear()
        if has_noise:
            deviation = min(z**2, 4) - self.square_mean
            standard = deviation / np.sqrt(max(self.square_variance, 0.6))
            allowance = 0.65 if self.period > 0 else 0.5
            inputs |= {layout.VARIANCE_UP: standard - allowance}
            inputs |= {layout.VARIANCE_DOWN: -standard - 0.25}
            self.square_mean += rate * deviation
            self.square_variance += rate * (deviation**2 - self.square_variance)
        for j in range(self.columns.shape[1]):
            past = np.array(self.models[chosen].rows)[:, j - self.columns.shape[1]]
            size = (row[j - self.columns.shape[1]] - past.mean()) / past.std()
            product = z * np.clip(size, -2.5, 2.5)
            standard = product / np.sqrt(max(self.powers[j], 0.5))
            inputs |= {6 + 2 * j: standard - 0.3, 7 + 2 * j: -standard - 0.3}
            self.powers[j] += rate * (product**2 - self.powers[j])
        for k, amount in inputs.items():
            if self.sums[k] <= 0:
                self.onsets[k] = t
            self.sums[k] = max(self.sums[k] + amount, 0)
        if self.period > 0:
            self.sums[layout.VARIANCE_DOWN] = 0
        return self.alarm(t, error, scale)

    def ratios(self):
        """The statistics in units of their thresholds."""
        p = self.columns.shape[1]
        return self.sums / [tests.threshold(k, p) for k in range(len(self.sums))]

    def alarm(self, t, error, scale):
        parts = self.ratios()
        best = int(parts.argmax())
        causes = parts.copy()
        causes[[layout.VARIANCE_UP, layout.VARIANCE_DOWN]] = -1
        cause, since = int(causes.argmax()), t - self.onsets
        if best == layout.VARIANCE_UP and 2 * causes[cause] >= parts[best]:
            if 2 * since[cause] >= since[best]:
                best = cause
        has_stayed = self.has_jump_stayed(t, error, scale)
        if parts.max() > 1:
            return best
        if not has_stayed:
            return None
        k = layout.LARGE_UP if self.jump[2] > 0 else layout.LARGE_DOWN
        self.onsets[k] = self.jump[0]
        return k

    def has_jump_stayed(self, t, error, scale):
        """Whether seven values keep three quarters of 15 standard deviations."""
        if self.jump is not None:
            row, base, size = self.jump
            if not 0.75 <= (self.y[t] - base) / size <= 1 / 0.75:
                self.jump = None
            elif t - row + 1 >= 7:
                return True
        if self.jump is None and abs(error) > 15 * scale:
            self.jump = t, self.y[t] - error, error
        return False

    def onset(self, statistic, end):
        """That of the step or slope that fits errors best, for changes of level."""
        oldest = end - 256
        onset = max(int(self.onsets[statistic]), oldest)
        if statistic > layout.LARGE_DOWN:
            return onset
        if self.jump is not None and (self.jump[2] < 0) == (statistic % 2 == 1):
            return self.jump[0]
        small = statistic % 2
        began = self.onsets[small] if self.sums[small] > 0 else onset
        limit = 6 * max(self.noise(self.chosen()), self.least_scale())
        steps, slopes = {}, {}
        for first in range(max(min(began, onset) - 10, oldest, 0), end - 1):
            e = np.clip([self.errors[t] for t in range(first, end)], -limit, limit)
            ramp = np.arange(1, len(e) + 1)
            steps[first] = e.sum() ** 2 / len(e)
            slopes[first] = (ramp @ e) ** 2 / (ramp @ ramp)
        best = slopes if max(slopes.values()) > 1.05 * max(steps.values()) else steps
        return max(best, key=best.__getitem__)
