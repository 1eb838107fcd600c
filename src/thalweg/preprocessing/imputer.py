"""Missing values (NaN): what each policy does with them, and the running-mean imputer.

Everything that NaN means is decided here, for models, tables, evaluation and the
command line alike. A new policy is a name in ``MissingPolicy`` and its rule in
``POLICY_RULES``; its behaviour is a line of ``MeanImputer``.
"""

from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import numpy.typing as npt

from thalweg.types import Block, FloatArray

MissingPolicy = Literal["refuse", "skip", "impute"]


class PolicyRule(NamedTuple):
    """What a policy does with a row that has a missing feature."""

    accepts: bool  # whether the row is predicted, missing features set to their means
    learns: bool  # whether the row, so completed, is learnt from as well
    summary: str  # the policy in the words of the command line's help


POLICY_RULES: dict[MissingPolicy, PolicyRule] = {
    "refuse": PolicyRule(False, False, "refuse it (the default for files)"),
    "skip": PolicyRule(
        True,
        False,
        "skip: do not learn from its row (the default for standard input)",
    ),
    "impute": PolicyRule(True, True, "impute: learn from the feature's mean so far"),
}
POLICIES: tuple[MissingPolicy, ...] = get_args(MissingPolicy)
ACCEPTING_POLICIES = tuple(name for name in POLICIES if POLICY_RULES[name].accepts)
"""Policies under which a missing feature is not an error."""
POLICY_HELP = (
    "What to do about a missing number: "
    f"{', '.join(POLICY_RULES[name].summary for name in POLICIES)}."
)


class ImputerState(NamedTuple):
    """What mean imputation remembers of the rows so far.

    ``sums`` and ``counts`` are (n,), or 0.0 before the number of features is known.
    """

    sums: Any  # sum of the values that were observed of each feature
    counts: Any  # how many those were
    imputed: int  # missing features that were set to their means
    skipped: int  # rows that were not learnt from
    waited: float  # time that skipped rows took since a row was learnt

    @classmethod
    def initial(cls, features: int | None = None) -> Self:
        """The state before the first row."""
        zeros: Any = 0.0 if features is None else np.zeros(features)
        return cls(zeros, zeros, imputed=0, skipped=0, waited=0.0)


class Imputed(NamedTuple):
    """Rows without missing features."""

    x: FloatArray  # (T, n)
    learnable: npt.NDArray[np.bool_]  # (T,) whether the row is to be learnt from


class MeanImputer:
    """Sets missing features to the means of what was observed of them before.

    Also known as: mean imputation, running-mean imputation (River's
    ``StatImputer(stats.Mean())``, scikit-learn's ``SimpleImputer`` on a stream). The
    mean of no value is 0. The result does not depend on how the rows are cut into
    calls.

    A row is predicted from its imputed features; ``policy`` decides whether it is
    learnt from too. A row without its target teaches nothing under any policy. Under
    ``"refuse"`` features stay as they are: whoever takes them refuses NaN by name.

    ``state`` is all that changes. It is never changed in place, so that whoever took
    it keeps a snapshot; to restore one, assign it.
    """

    def __init__(
        self, policy: MissingPolicy, state: ImputerState | None = None
    ) -> None:
        self.policy: MissingPolicy = policy
        self.state = ImputerState.initial() if state is None else state

    def copy(self) -> "MeanImputer":
        """An imputer that goes on from here by itself."""
        return MeanImputer(self.policy, self.state)

    def impute(self, x: FloatArray, y: FloatArray) -> Imputed:
        """The next rows x (T, n), completed, and which of them are to be learnt from.

        A row of the targets y, (T,) or (T, k), is unknown where any of it is NaN.
        """
        rule, missing = POLICY_RULES[self.policy], np.isnan(x)
        learnable = np.asarray(~np.isnan(y).any(axis=tuple(range(1, y.ndim))))
        sums, counts, imputed, skipped, waited = self.state
        if rule.accepts and not rule.learns:
            learnable &= ~missing.any(axis=1)
        if rule.accepts:
            x, sums, counts = _fill_with_means(x, missing, sums, counts)
            imputed += int(missing.sum())
        skipped += len(y) - int(learnable.sum())
        self.state = ImputerState(sums, counts, imputed, skipped, waited)
        return Imputed(x, learnable)

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
        """Take into the means one row (n,) that has no missing value and was learnt."""
        sums, counts, imputed, skipped, _ = self.state
        self.state = ImputerState(sums + x, counts + 1.0, imputed, skipped, 0.0)

    def complete(self, x: FloatArray) -> FloatArray:
        """x, (n,) or (T, n), with the means so far in place of NaN; counts nothing."""
        missing = np.isnan(x)
        if not missing.any():
            return x
        means = self.state.sums / np.maximum(self.state.counts, 1.0)
        return np.asarray(np.where(missing, means + np.zeros(x.shape), x))

    def _move_elapsed(
        self, block: Block, learnable: npt.NDArray[np.bool_]
    ) -> FloatArray:
        given, waited = block.elapsed, self.state.waited
        elapsed = np.ones(len(block)) if given is None else np.array(given, np.float64)
        for t in range(len(block)):
            waited += float(elapsed[t])
            if learnable[t]:
                elapsed[t], waited = waited, 0.0
        self.state = self.state._replace(waited=waited)
        return elapsed


def without_missing(block: Block) -> Block:
    """The block with zeros for NaN in x and y, so that all else can be checked."""
    x, y = (np.where(np.isnan(part), 0.0, part) for part in (block.x, block.y))
    return Block(x, y, block.weight, block.elapsed)


def _fill_with_means(
    x: FloatArray, missing: npt.NDArray[np.bool_], sums: Any, counts: Any
) -> tuple[FloatArray, Any, Any]:
    """x (T, n) with each missing value replaced by the mean of its column before it.

    ``sums`` and ``counts`` are those before the first row; those after the last one
    are returned.
    """
    n = x.shape[1]
    first = [np.broadcast_to(value, (1, n)) for value in (sums, counts)]
    # One running sum from the first row of the stream on, so that rows may be cut
    # anywhere without a change in rounding.
    all_sums = np.cumsum(np.vstack([first[0], np.where(missing, 0.0, x)]), axis=0)
    all_counts = np.cumsum(np.vstack([first[1], ~missing]), axis=0)
    means = all_sums[:-1] / np.maximum(all_counts[:-1], 1.0)
    # Copies, because a view of the last row would keep all the others in memory.
    return np.where(missing, means, x), all_sums[-1].copy(), all_counts[-1].copy()
