"""What a page shows of forecasts beside their errors: times, bands, residuals, effects.

Everything is kept in constant memory, and is the same to the last bit however the
stream is cut.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.evaluation.downsampling import Downsampler, DownsamplerSnapshot
from thalweg.evaluation.study import Histogram, PredictionBands
from thalweg.persistence.snapshots import Component
from thalweg.rules import MAX_COUNT, Array, Condition, Count
from thalweg.types import FloatArray, Trace

PAST_VALUES = "level and recent values"
"""What forecasts owe to no feature."""


FEATURES = "len(component.feature_sums)"


class FeatureEffectsSnapshot(NamedTuple):
    """All that the effects of features remember."""

    seen_rounds: int  # rounds that the means of features are over
    # Rounds that the effects are means over.
    scored_rounds: Annotated[int, Count("seen_rounds")]
    labels: Annotated[int, Count("seen_rounds")]  # known labels
    feature_sums: Annotated[FloatArray, Array((FEATURES,), may_be_nan=True)]  # (n,)
    label_sum: Annotated[FloatArray, Array((1,), may_be_nan=True)]  # (1,)
    # (n + 1,) of sizes; the last is of past values
    effect_sums: Annotated[
        FloatArray, Array((f"{FEATURES} + 1",), 0.0, may_be_nan=True)
    ]


class FeatureEffects(Component):
    """The mean sizes of the effects of n features, in constant memory.

    The effect of a feature in a row is its coefficient times its distance from its own
    mean so far; what is left of a forecast, beyond the mean of the target so far, comes
    of past values of the target.

    All sums run over the rows one after the other, so that they are the same to the
    last bit however a stream is cut.
    """

    Snapshot: ClassVar[Any] = FeatureEffectsSnapshot

    def __init__(self, features: int) -> None:
        self.seen_rounds = 0
        self.scored_rounds = 0
        self.labels = 0
        self.feature_sums: FloatArray = np.zeros(features)
        self.label_sum: FloatArray = np.zeros(1)
        self.effect_sums: FloatArray = np.zeros(features + 1)

    def add(
        self, x: FloatArray, y: FloatArray, theta: FloatArray, prediction: FloatArray,
        is_scored: Any,
    ) -> None:  # fmt: skip
        """Take the next rows: features and coefficients (T, n), labels or NaN (T,)."""
        if not len(y):
            return
        # Sums of huge numbers may overflow: such rows have no effect that is known.
        with np.errstate(over="ignore", invalid="ignore"):
            effects = theta * (x - self._feature_means(x))
            # A running sum of a row rounds alike in every cut, a plain sum may not.
            explained = np.cumsum(np.insert(effects, 0, 0.0, axis=1), axis=1)[:, -1]
            others = prediction - self._label_means(y) - explained
            sizes = np.abs(np.column_stack([effects, others]))
            is_known = np.asarray(is_scored) & np.isfinite(sizes).all(axis=1)
            sizes[~is_known] = 0.0
            self.effect_sums = _running_sums(self.effect_sums, sizes)[-1]
        self.scored_rounds += int(is_known.sum())

    def effects(self, features: Sequence[str]) -> Mapping[str, float]:
        """The mean size of each feature's effect by name, and of past values."""
        if not self.scored_rounds:
            return {}
        means = self.effect_sums / self.scored_rounds
        pairs = zip(features, means[:-1].tolist(), strict=False)
        return {**dict(pairs), PAST_VALUES: float(means[-1])}

    def _feature_means(self, x: FloatArray) -> FloatArray:
        """The means of the features up to each row, this row included, (T, n)."""
        sums = _running_sums(self.feature_sums, np.nan_to_num(x))
        counts = self.seen_rounds + np.arange(1, len(x) + 1)
        self.feature_sums, self.seen_rounds = sums[-1], self.seen_rounds + len(x)
        return np.asarray(sums[1:] / counts[:, None])

    def _label_means(self, y: FloatArray) -> FloatArray:
        """The mean of the labels known before each row, (T,); NaN before the first."""
        known = ~np.isnan(y)
        sums = _running_sums(self.label_sum, np.where(known, y, 0.0)[:, None])[:, 0]
        counts = np.append(self.labels, self.labels + np.cumsum(known))
        self.label_sum, self.labels = sums[-1:], int(counts[-1])
        means = np.full(len(y), np.nan)
        np.divide(sums[:-1], counts[:-1], out=means, where=counts[:-1] > 0)
        return means


def _running_sums(start: FloatArray, rows: FloatArray) -> FloatArray:
    """Sums of the rows one after the other, from ``start`` on, (T + 1, n)."""
    return np.cumsum(np.vstack([start, rows]), axis=0)


MIN_EXPONENT, MAX_EXPONENT = -60, 60
"""Numbers below 2**-60 count as zero; those above 2**60 are in the last bin."""
STEPS = 16
"""Bins in each factor of two."""
SIDE = (MAX_EXPONENT - MIN_EXPONENT) * STEPS
"""Bins on each side of zero."""


class ErrorHistogramSnapshot(NamedTuple):
    """All that the histogram remembers."""

    # (2 * SIDE + 1,) from the most negative errors up
    counts: Annotated[FloatArray, Array((2 * SIDE + 1,), 0.0, float(MAX_COUNT))]


class ErrorHistogram(Component):
    """Counts of signed errors of any size, in constant memory.

    Also known as: HDR histogram (high dynamic range). The bins are the same for every
    stream: each factor of two is cut into sixteen parts of equal width, so that a bin
    is at most a sixteenth as wide as its numbers are large. Counts do not depend on how
    a stream is cut.
    """

    Snapshot: ClassVar[Any] = ErrorHistogramSnapshot

    def __init__(self) -> None:
        self.counts: FloatArray = np.zeros(2 * SIDE + 1)

    def add(self, errors: FloatArray) -> None:
        """Take the next errors, (T,); those that are not finite do not count."""
        finite = errors[np.isfinite(errors)]
        if len(finite):
            bins = np.bincount(_bin_numbers(finite), minlength=2 * SIDE + 1)
            self.counts = self.counts + bins

    def histogram(self) -> Histogram | None:
        """The bins from the first that is not empty to the last; None if all are."""
        full = np.flatnonzero(self.counts)
        if not len(full):
            return None
        bins = slice(full[0], full[-1] + 1)
        return Histogram(bin_edges()[full[0] : full[-1] + 2], self.counts[bins].copy())


def bin_edges() -> FloatArray:
    """The edges of all bins, (2 * SIDE + 2,), rising."""
    octaves = np.ldexp(0.5, np.arange(MIN_EXPONENT + 1, MAX_EXPONENT + 1))
    steps = 1 + np.arange(STEPS) / STEPS
    last = np.ldexp(0.5, MAX_EXPONENT + 1)
    positive = np.append((octaves[:, None] * steps).ravel(), last)
    return np.concatenate([-positive[::-1], positive])


def _bin_numbers(errors: FloatArray) -> Any:
    # frexp is exact: an error is ±mantissa * 2**exponent, mantissa in [0.5, 1).
    mantissa, exponent = np.frexp(np.abs(errors))
    step = np.floor((2 * mantissa - 1) * STEPS).astype(np.int64)
    place = (exponent.astype(np.int64) - MIN_EXPONENT - 1) * STEPS + step
    place = np.clip(place, -1, SIDE - 1)
    place[errors == 0] = -1
    return SIDE + np.sign(errors).astype(np.int64) * (place + 1)


CURVES = "(times, band_low, band_high, covered, half_widths)"
OF_SAME_ROUNDS = Condition(
    f"len({{curve.rounds for curve in {CURVES}}}) == 1", "of the rounds of the bands"
)


class ForecastRecordSnapshot(NamedTuple):
    """All that a record of forecasts remembers."""

    # Seconds since 1970, by local clocks.
    times: Annotated[DownsamplerSnapshot, OF_SAME_ROUNDS]
    band_low: DownsamplerSnapshot
    band_high: DownsamplerSnapshot
    covered: DownsamplerSnapshot  # 1 where the band held the value, 0 where not
    half_widths: DownsamplerSnapshot  # of the bands of rows that were scored
    residuals: ErrorHistogramSnapshot
    effects: FeatureEffectsSnapshot


class ForecastRecord(Component):
    """Curves of times, of prediction bands and of their coverage; errors; effects."""

    Snapshot: ClassVar[Any] = ForecastRecordSnapshot

    def __init__(self, features: int) -> None:
        self.times, self.band_low, self.band_high, self.covered, self.half_widths = (
            Downsampler() for _ in range(5)
        )
        self.residuals = ErrorHistogram()
        self.effects = FeatureEffects(features)

    def add(
        self, x: FloatArray, y: FloatArray, trace: Trace, scored_labels: FloatArray,
        seconds: FloatArray,
    ) -> None:  # fmt: skip
        """Take the next rows: what was recorded of them, and their times or NaN."""
        assert trace.theta is not None
        low, high = np.asarray(trace.extras["interval"]).T
        # Before any error has been seen, the interval is infinite: there is none.
        has_band = np.isfinite(high - low)
        self.times.add(seconds)
        self.band_low.add(np.where(has_band, low, np.nan))
        self.band_high.add(np.where(has_band, high, np.nan))
        is_scored = ~np.isnan(scored_labels)
        inside = ((low <= scored_labels) & (scored_labels <= high)).astype(np.float64)
        self.covered.add(np.where(has_band & is_scored, inside, np.nan))
        half_width = np.where(has_band, high - low, np.nan) / 2
        self.half_widths.add(np.where(is_scored, half_width, np.nan))
        self.residuals.add(scored_labels - trace.prediction)
        self.effects.add(x, y, trace.theta, trace.prediction, is_scored)

    def bands(self, nominal: float) -> PredictionBands | None:
        """The bands of this nominal coverage; None where no row had one."""
        if not self.band_low.count():
            return None
        return PredictionBands(
            nominal,
            self.band_low.curve(),
            self.band_high.curve(),
            self.covered.curve(),
            self.half_widths.average() if self.half_widths.count() else None,
        )

    def study_fields(self, nominal: float, features: Sequence[str]) -> dict[str, Any]:
        """The fields of a ``Study`` that are of this record, for bands as in ``bands``.

        To show a new fact: its field of ``Study``, its value here, and its sentence in
        report/study_sections.py.
        """
        return {
            "times": self.times.curve() if self.times.count() else None,
            "bands": self.bands(nominal),
            "residuals": self.residuals.histogram(),
            "effects": self.effects.effects(features),
        }
