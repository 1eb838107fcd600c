"""Missing values (NaN): what each policy does with them, and the imputer of a stream.

Everything that NaN means is decided here, for models, tables, evaluation and the
command line alike. To add a policy:

1. Add its name to ``MissingPolicy``, and its entry to ``POLICY_RULES``. Options of the
   command line, their help and the checks of settings follow from these two.
2. Where no ``fill`` function of this file fits, write one: it maps the statistics of
   the features before a row to the values that missing features get. ``Imputer`` calls
   it and nothing else. Name it for reports as well (``fill_name``).
3. Where the fill needs more than sums and counts (a last value), add the statistic as
   a field of ``FeatureStatistics`` and of ``ImputerState``, with a default if files of
   earlier versions should load (which its rule must then accept); set its start in
   ``ImputerState.initial``, hand it on in ``ImputerState.statistics``, compute it in
   ``statistics_before_rows`` and in ``ImputerState.after_row``; and say beside it which
   values a file may hold (rules.py).
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

import numpy as np
import numpy.typing as npt

from thalweg.checks import MAX_MAGNITUDE
from thalweg.rules import Array, Count, Number, OneOf
from thalweg.types import Block, FloatArray

MissingPolicy = Literal["refuse", "skip", "impute"]


class FeatureStatistics(NamedTuple):
    """Statistics of each feature before a row (n,), or before T rows (T, n).

    Scalars 0.0 before the number of features is known.
    """

    sums: Any  # sum of the values that were observed
    counts: Any  # number of these values


def running_mean(statistics: FeatureStatistics) -> Any:
    """The mean of the values observed so far; 0 before the first."""
    return statistics.sums / np.maximum(statistics.counts, 1.0)


class PolicyRule(NamedTuple):
    """What a policy does with a row that has a missing feature."""

    accepts: bool  # whether the row is predicted, its missing features filled
    learns: bool  # whether the row, so completed, is learnt from as well
    summary: str  # the policy in the words of the command line's help
    fill: Callable[[FeatureStatistics], Any] = running_mean  # of a missing feature
    fill_name: str = "means so far"  # what reports call the values of ``fill``
    marks_gaps: bool = False  # whether columns of many gaps have a feature that says so


POLICY_RULES: dict[MissingPolicy, PolicyRule] = {
    "refuse": PolicyRule(accepts=False, learns=False, summary="refuse it"),
    "skip": PolicyRule(
        accepts=True,
        learns=False,
        summary="skip: learn its row's target only, as the latest value",
    ),
    "impute": PolicyRule(
        accepts=True,
        learns=True,
        summary="impute: take the feature's mean so far",
        marks_gaps=True,
    ),
}
POLICIES: tuple[MissingPolicy, ...] = get_args(MissingPolicy)
RUN_POLICY: MissingPolicy = "impute"
"""The policy of a command that is given none, and of every forecast."""
ACCEPTING_POLICIES = tuple(name for name in POLICIES if POLICY_RULES[name].accepts)
"""Policies under which a missing feature is not an error."""
POLICY_HELP = (
    "What to do about a missing number: "
    f"{', '.join(POLICY_RULES[name].summary for name in POLICIES)}."
)


def feature_rule(features: int | None, *bounds: Any) -> OneOf | Array:
    """The rule of one number for each feature; 0.0 where they are not known yet."""
    return OneOf((0.0,)) if features is None else Array((features,), *bounds)


class ImputerState(NamedTuple):
    """The state of imputation after the rows so far.

    ``sums`` and ``counts`` are (n,), or 0.0 before the number of features is known:
    ``FeatureStatistics``. In a file they are of ``features`` after some ``rounds``.
    """

    # Sum of the values that were observed of each feature, and how many those were.
    sums: Annotated[Any, "feature_rule(features)"]
    counts: Annotated[Any, "feature_rule(features, 0.0, rounds, True)"]
    # Missing features that were filled.
    imputed: Annotated[int, Count("rounds * (features or 0)")]
    skipped: Annotated[int, Count("rounds")]  # rows that were not learnt from
    # Time that skipped rows took since a row was learnt.
    waited: Annotated[float, Number(0.0)]

    @classmethod
    def initial(cls, features: int | None = None) -> Self:
        """The state before the first row."""
        zeros: Any = 0.0 if features is None else np.zeros(features)
        return cls(sums=zeros, counts=zeros, imputed=0, skipped=0, waited=0.0)

    def statistics(self) -> FeatureStatistics:
        """The argument of ``PolicyRule.fill``."""
        return FeatureStatistics(sums=self.sums, counts=self.counts)

    def map_features(self, change: Callable[[Any], Any]) -> Self:
        """The state with ``change`` of each array of features, if they are known."""
        if type(self.counts) is float:
            return self
        changed = FeatureStatistics(*map(change, self.statistics()))
        return self._replace(**changed._asdict())

    def after_row(self, x: FloatArray, one: Any = 1.0) -> "ImputerState":
        """The state after one row (n,) that has no missing value and was learnt.

        ``one`` may be an array of ones, which is added in less time than a number.
        """
        sums, counts, imputed, skipped, _ = self
        if type(counts) is float:  # the first row tells how many features
            sums = counts = np.zeros(len(x))
        return ImputerState(sums + x, counts + one, imputed, skipped, 0.0)


SKIPPED_WEIGHT = 2.0**-30
"""The weight of a row that is skipped although its label is known: coefficients hardly
change, but lags and the last value use the label."""


def learning_weights(learnable: npt.NDArray[np.bool_], y: FloatArray) -> FloatArray:
    """The weight (T,) of each row for a learner that remembers past labels.

    ``learnable`` and ``y`` are as in ``Imputer.impute``.
    """
    known = ~np.isnan(y).any(axis=tuple(range(1, y.ndim)))
    return np.where(learnable, 1.0, np.where(known, SKIPPED_WEIGHT, 0.0))


class ImputedRows(NamedTuple):
    """Rows without missing features."""

    x: FloatArray  # (T, n)
    learnable: npt.NDArray[np.bool_]  # (T,) whether the row is to be learnt from


class Imputer:
    """Fills missing features from what was observed of them before.

    Also known as: mean imputation, running-mean imputation (River's
    ``StatImputer(stats.Mean())``, scikit-learn's ``SimpleImputer`` on a stream): all
    policies of today fill with ``running_mean``. The result does not depend on how the
    rows are cut into calls.

    A row is predicted from its imputed features; ``policy`` decides whether it is
    learnt from too. A row without its target is never learnt from. Under ``"refuse"``
    features are returned unchanged: the caller refuses NaN by name.

    ``state`` is all that changes. It is never changed in place, so a reference to it is
    a snapshot; to restore one, assign it.
    """

    def __init__(
        self, policy: MissingPolicy, state: ImputerState | None = None
    ) -> None:
        self.policy: MissingPolicy = policy
        self.state = ImputerState.initial() if state is None else state

    def copy(self) -> "Imputer":
        """An independent copy."""
        return Imputer(self.policy, self.state)

    def impute(self, x: FloatArray, y: FloatArray) -> ImputedRows:
        """The next rows x (T, n), completed, and which of them are to be learnt from.

        A row of the targets y, (T,) or (T, k), is unknown where any of it is NaN.
        """
        rule, missing, state = POLICY_RULES[self.policy], np.isnan(x), self.state
        learnable = np.asarray(~np.isnan(y).any(axis=tuple(range(1, y.ndim))))
        if rule.accepts and not rule.learns:
            learnable &= ~missing.any(axis=1)
        if rule.accepts:
            before, after = statistics_before_rows(x, missing, state.statistics())
            x = np.where(missing, rule.fill(before), x)
            imputed = state.imputed + int(missing.sum())
            state = state._replace(**after._asdict(), imputed=imputed)
        skipped = state.skipped + len(y) - int(learnable.sum())
        self.state = state._replace(skipped=skipped)
        return ImputedRows(x, learnable)

    def impute_block(self, block: Block) -> tuple[Block, npt.NDArray[np.bool_]]:
        """``impute`` for a block: no NaN is left, and skipped rows' time is moved.

        The time that skipped rows took is added to that of the next row learnt, for
        learners that do not see skipped rows. An unknown target becomes 0.
        """
        y = np.asarray(block.y, np.float64)
        x, learnable = self.impute(np.asarray(block.x, np.float64), y)
        elapsed = self._move_elapsed(block, learnable)
        return Block(x, np.nan_to_num(y), block.weight, elapsed), learnable

    def observe(self, x: FloatArray) -> None:
        """Count one row (n,) that has no missing value and was learnt."""
        self.state = self.state.after_row(x)

    def complete(self, x: FloatArray) -> FloatArray:
        """x, (n,) or (T, n), filled from the rows so far; counts nothing."""
        missing = np.isnan(x)
        if not missing.any():
            return x
        values = POLICY_RULES[self.policy].fill(self.state.statistics())
        return np.asarray(np.where(missing, values + np.zeros(x.shape), x))

    def _move_elapsed(
        self, block: Block, learnable: npt.NDArray[np.bool_]
    ) -> FloatArray:
        given, waited = block.elapsed, self.state.waited
        elapsed = np.ones(len(block)) if given is None else np.array(given, np.float64)
        for t in range(len(block)):
            waited = add_elapsed(waited, float(elapsed[t]))
            if learnable[t]:
                elapsed[t], waited = waited, 0.0
        self.state = self.state._replace(waited=waited)
        return elapsed


def add_elapsed(waited: float, elapsed: float) -> float:
    """The sum of two times, no larger than a legal number unless one of them is."""
    longest = MAX_MAGNITUDE[np.dtype(np.float64)]
    return elapsed if elapsed > longest else min(waited + elapsed, longest)


def without_missing(block: Block) -> Block:
    """The block with zeros for NaN in x and y, so that all else can be checked."""
    x, y = (np.where(np.isnan(part), 0.0, part) for part in (block.x, block.y))
    return Block(x, y, block.weight, block.elapsed)


def statistics_before_rows(
    x: FloatArray, missing: npt.NDArray[np.bool_], first: FeatureStatistics
) -> tuple[FeatureStatistics, FeatureStatistics]:
    """The statistics before each of the rows x (T, n), and those after the last one.

    ``first`` are those before the first row.
    """
    n = x.shape[1]
    sums, counts = (
        np.broadcast_to(value, (1, n)) for value in (first.sums, first.counts)
    )
    # One running sum from the first row of the stream on, so that rows may be cut
    # anywhere without a change in rounding.
    all_sums = np.cumsum(np.vstack([sums, np.where(missing, 0.0, x)]), axis=0)
    all_counts = np.cumsum(np.vstack([counts, ~missing]), axis=0)
    before = FeatureStatistics(sums=all_sums[:-1], counts=all_counts[:-1])
    # Copies, because a view of the last row would keep all the others in memory.
    after = FeatureStatistics(sums=all_sums[-1].copy(), counts=all_counts[-1].copy())
    return before, after
