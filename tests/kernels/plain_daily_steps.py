"""Steps of rows with a daily course in plain NumPy: all rows and medians are kept."""

import numpy as np

from thalweg.kernels.change_detector import detector_layout as layout


class PlainSteps:
    """Steps of a stream: (row, onset, statistic, level before, level after)."""

    def __init__(self, y, day):
        self.y, self.day = np.asarray(y, float), day
        self.medians, self.references, self.noises = [], [], []
        self.contrasts = {}  # of each scale, by row
        self.ratios = ({}, {})  # of each scale: deviations in scales, by row
        self.sums = np.zeros((3, 24, 2))  # of values, logarithms and differences
        self.mean_size = self.mean_rows = 0.0
        self.steps = []

    def run(self):
        for t in range(len(self.y)):
            self.take(t)
            signs = [self.test(t, scale) for scale in range(2)]
            sign = signs[0] or signs[1]
            if sign:
                self.record(t + 1, sign)
        return self.steps

    def hour(self, t):
        return t % self.day * 24 // self.day

    def near(self, t):
        return [(self.hour(t) + k) % 24 for k in (-1, 0, 1)]

    def mean(self, kind, hours):
        total, count = 0.0, 0.0  # in the order of the kernel
        for hour in hours:
            total += self.sums[kind, hour, 0]
            count += self.sums[kind, hour, 1]
        return total / count if count else 0.0

    def learn(self, kind, t, value, days):
        if not np.isnan(value):
            discount = 1.0 - 24 / (days * self.day)
            self.sums[kind, self.hour(t), 0] *= discount
            self.sums[kind, self.hour(t), 0] += value
            self.sums[kind, self.hour(t), 1] *= discount
            self.sums[kind, self.hour(t), 1] += 1

    def take(self, t):
        usual = self.mean(2, range(24))
        least = min(self.mean(2, [hour]) for hour in self.near(t))
        noise = self.mean(2, self.near(t))
        self.learn(2, t, abs(self.y[t] - self.y[t - 1]) if t else np.nan, 7)
        self.medians.append(median(self.y[max(t - 6, 0) : t + 1], 4))
        level = self.medians[t]
        if not np.isnan(level):
            self.mean_rows = min(self.mean_rows + 1, 2 * self.day)
            self.mean_size += (abs(level) - self.mean_size) / self.mean_rows
        ago = t - 7 * self.day + 3
        self.references.append(self.medians[ago] if ago >= 7 else np.nan)
        start = (t * 24 // self.day - 7 * 24 - 1, t * 24 // self.day - 7 * 24 + 1)
        extremes = [
            ratio
            for row, ratio in self.ratios[0].items()
            if start[0] <= row * 24 // self.day <= start[1]
        ]
        is_noise = least > 0.3 * usual and max(extremes, default=0) <= 6
        self.noises.append(0.8862 * noise if is_noise else np.nan)

    def contrast(self, t, scale):
        """The contrast of a row, with the mean size of now."""
        if t < 13:
            return np.nan
        after, before = self.medians[t], self.medians[t - 7]
        if scale == 0:
            return after - before
        if self.signed_until(len(self.medians)):
            return np.nan
        offset = 0.05 * self.mean_size + 1e-200
        return np.log((after + offset) / (before + offset))

    def signed_until(self, stop):
        return np.nanmin(self.y[:stop], initial=0.0) < 0

    def test(self, t, scale):
        contrast = self.contrast(t, scale)
        self.contrasts[scale, t] = contrast  # as it was in its row
        others = [self.contrast(t - k * self.day, scale) for k in range(1, 8)]
        deviation = contrast - median(np.array(others), 1)
        if np.isnan(deviation):
            return 0
        size, ratio = abs(deviation), 0.0
        usual = self.mean(scale, self.near(t))
        mean = max(usual, 0.3 * self.mean(scale, range(24)))
        if t >= 2 * self.day and mean > 0:
            least = 0.1 * self.mean(2, range(24)) if scale == 0 else 0.0
            ratio = self.ratios[scale][t] = size / (1.2533 * max(mean, least))
            size = min(size, 4 * mean)
        self.learn(scale, t, size, 5)
        if ratio <= 6 or deviation * contrast <= 0:
            return 0
        limit = max(6, 1.2 * self.usual_extreme(t, scale))
        if ratio <= limit * self.noise_growth(t):
            return 0
        if self.is_usual(t, scale, contrast) or self.is_small(t):
            return 0
        return int(np.sign(contrast))

    def usual_extreme(self, t, scale):
        days = [
            [r for row, r in self.ratios[scale].items() if row // self.day == day]
            for day in range(max(t // self.day - 7, 0), t // self.day)
        ]
        extremes = sorted(max(one) for one in days if one and max(one) > 0)
        return extremes[max(len(extremes) - 3, 0)] if extremes else 0.0

    def noise_growth(self, t):
        sizes = np.abs(np.diff(self.y[t - 28 : t + 1]))
        usual = self.mean(2, self.near(t))
        if usual <= 0 or np.isnan(sizes).all():
            return 1.0
        return max(median(sizes, 1) / usual, 1.0)

    def is_usual(self, t, scale, contrast):
        days = 0
        for k in range(1, 8):
            middle = t * 24 // self.day - 24 * k
            sizes = [
                abs(one)
                for (kind, row), one in self.contrasts.items()
                if kind == scale and abs(row * 24 // self.day - middle) <= 1
                if one * contrast > 0
            ]
            if max(sizes, default=0) >= 0.67 * abs(contrast):
                days += 2 if k == 7 else 1
        return days >= 2

    def is_small(self, t):
        if t >= 8 * self.day:
            return False
        after, before = self.medians[t], self.medians[t - 7]
        sizes = sorted([abs(after), abs(before)])
        if after * before >= 0 and sizes[1] >= 2 * sizes[0]:
            return False
        day = self.medians[t - self.day : t - 7]
        return abs(after - before) < 0.3 * (np.nanmax(day) - np.nanmin(day))

    def record(self, end, sign):
        gains = {}
        for row in range(end - 10, end - 2):
            before, after = (
                one[~np.isnan(one)] for one in (self.y[end - 14 : row], self.y[row:end])
            )
            if len(before) and len(after):
                gap = sum(before) / len(before) - sum(after) / len(after)
                gains[row] = gap * gap * len(before) * len(after)
        onset = max(gains, key=gains.__getitem__) if gains else end - 4
        last = self.steps[-1] if self.steps else None
        statistic = layout.LARGE_UP if sign > 0 else layout.LARGE_DOWN
        if last and last[2] == statistic and onset < last[1] + 14:
            return
        levels = median(self.y[onset - 7 : onset], 1), median(self.y[onset:end], 1)
        self.steps.append((end - 1, onset, statistic, *levels))


def median(values, least):
    """The lower median of the known values; NaN if they are too few."""
    known = np.sort(values[~np.isnan(values)])
    return known[(len(known) - 1) // 2] if len(known) >= least else np.nan
