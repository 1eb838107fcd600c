"""Prequential evaluation of any learner: predict each round, then learn from it.

Also known as: test-then-train, interleaved test-then-train, progressive validation
(River's ``progressive_val_score``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.evaluation.error_ratio import error_ratio
from thalweg.evaluation.simple_baselines import LAST, SimpleBaselines
from thalweg.evaluation.study import squared_order
from thalweg.imputer import (
    POLICIES,
    Imputer,
    MissingPolicy,
    learning_weights,
)
from thalweg.learners import Learner
from thalweg.losses import LinearLoss
from thalweg.models import Online
from thalweg.models.delayed_labels import DelayedLabels, DueLabels
from thalweg.types import Block, FloatArray

PERSISTENCE = "persistence"


class BaselineErrors(NamedTuple):
    """The errors of a simple baseline in the rounds in which a learner was scored."""

    name: str
    squared: float  # the mean squared error
    absolute: float  # the mean absolute error
    description: str  # what it does, in plain words


@dataclass(frozen=True, eq=False)
class PrequentialResult:
    """The errors of a learner, beside those of simple baselines in the same rounds."""

    name: str
    rounds: int  # all that were predicted
    scored_rounds: int  # those that the errors are means over
    squared: float  # the mean squared error; NaN where no round was scored
    absolute: float  # the mean absolute error
    persistence_squared: float
    persistence_absolute: float
    prediction: FloatArray  # (T,) made before the label of the round was known
    baselines: tuple[BaselineErrors, ...]  # persistence and others, least error first

    @property
    def ratio(self) -> float:
        """The mean squared error over that of persistence, the last known label."""
        return error_ratio(self.squared, self.persistence_squared)

    @property
    def best_baseline(self) -> BaselineErrors:
        """The simple baseline of the least mean squared error."""
        return self.baselines[0]

    @property
    def baseline_ratio(self) -> float:
        """The mean squared error over that of the best simple baseline.

        Below 1 the learner was worth running.
        """
        return error_ratio(self.squared, self.best_baseline.squared)

    def __str__(self) -> str:
        text = (
            f"{self.name}: mean squared error {self.squared:.5g}, "
            f"{self.ratio:.3f} of persistence's {self.persistence_squared:.5g}"
        )
        best = self.best_baseline
        if best.name != PERSISTENCE:
            text += f", {self.baseline_ratio:.3f} of {best.name}'s {best.squared:.5g}"
        return (
            f"{text}; mean absolute error {self.absolute:.5g}; "
            f"{self.scored_rounds:,} of {self.rounds:,} rounds scored"
        )


def prequential(
    learner: Any, block: Block, *, delay: int = 0, missing: MissingPolicy = "refuse",
    burn_in: int = 0, loss: LinearLoss | None = None, name: str | None = None,
) -> PrequentialResult:  # fmt: skip
    """Predict every round of a block from the rounds before it, then learn it.

    >>> import numpy as np
    >>> import thalweg as tw
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 2))
    >>> y = x @ [1.0, -2.0] + 0.1 * rng.normal(size=200)
    >>> rls = tw.RecursiveLeastSquares(discount=0.99)
    >>> result = tw.evaluation.prequential(rls, tw.Block(x, y), burn_in=20)
    >>> result.ratio < 0.01
    True

    Args:
        learner: a ``Learner``, which starts from zero and is left as it is; a model
            with ``predict(x)`` and ``update(x, y)``, such as ``Online``, or with
            River's ``predict_one`` and ``learn_one``, which is trained by this call; or
            a function ``forecast(block, delay)`` that returns T predictions.
        block: features (T, n) and labels (T,). A round whose label is NaN is
            predicted, and neither learnt nor scored.
        delay: the label of round t becomes known after the prediction of round
            t + delay, for the learner and for all baselines alike.
        missing: what a NaN among the features means, as in ``Online``: a policy of
            ``imputer.POLICY_RULES``.
        burn_in: the first rounds, which are not scored. Nor are those before the
            first label is known, when persistence has no forecast.
        loss: what a ``Learner`` minimises, by default the squared error. With
            ``Logistic`` predictions are probabilities, and the mean squared error is
            the Brier score.
        name: what the result calls the learner.

    Reference: Dawid (1984), *Statistical theory: the prequential approach*.
    """
    checks.require_argument("prequential", "delay", delay, "[0, inf)")
    checks.require_argument("prequential", "burn_in", burn_in, "[0, inf)")
    if missing not in POLICIES:
        raise InvalidParameterError(
            f"The 'missing' parameter of prequential must be one of "
            f"{', '.join(POLICIES)}. Got {missing!r} instead."
        )
    prediction = predictions(learner, block, delay, missing, loss)
    y = np.asarray(block.y, np.float64)
    simple = SimpleBaselines(delay)
    naive_errors = simple.play(y) - y[:, None]
    has_naive = ~np.isnan(naive_errors[:, LAST])
    is_scored = has_naive & (np.arange(len(y)) >= burn_in)
    errors, naive_errors = (prediction - y)[is_scored], naive_errors[is_scored]
    naive, *baselines = (
        BaselineErrors(
            info.name, _mean(column**2), _mean(np.abs(column)), info.description
        )
        for info, column in zip(simple.display_infos(), naive_errors.T, strict=True)
        if info is not None
    )
    return PrequentialResult(
        name=_learner_name(learner) if name is None else name,
        rounds=len(y),
        scored_rounds=int(is_scored.sum()),
        squared=_mean(errors**2),
        absolute=_mean(np.abs(errors)),
        persistence_squared=naive.squared,
        persistence_absolute=naive.absolute,
        prediction=prediction,
        baselines=tuple(sorted([naive, *baselines], key=squared_order)),
    )


def predictions(
    learner: Any, block: Block, delay: int = 0, missing: MissingPolicy = "refuse",
    loss: LinearLoss | None = None,
) -> FloatArray:  # fmt: skip
    """The predictions (T,) that ``prequential`` scores, made before each label.

    NaN from the round on in which a model breaks down.
    """
    if isinstance(learner, type):
        raise InvalidParameterError(
            "The 'learner' parameter of prequential must be a learner, not its class: "
            f"{learner.__name__}(). Got {learner!r} instead."
        )
    y = np.asarray(block.y, np.float64)
    x, learnable = Imputer(missing).impute(np.asarray(block.x, np.float64), y)
    labels = np.where(learnable, y, np.nan)
    complete_block = Block(x, labels, block.weight, block.elapsed)
    if isinstance(learner, Learner) and learner.advances_on_zero_weight:
        given = 1.0 if block.weight is None else block.weight
        weight = given * learning_weights(learnable, y)
        complete_block = Block(x, y, weight, block.elapsed)
    if isinstance(learner, Learner):
        return _learner_predictions(learner, complete_block, delay, loss)
    queue = DelayedLabels(delay, x.shape[1])
    due = queue.push(x, labels, block.weight, block.elapsed)
    if hasattr(learner, "predict_one") and hasattr(learner, "learn_one"):
        return _river_predictions(learner, x, due)
    if hasattr(learner, "predict") and hasattr(learner, "update"):
        return _model_predictions(learner, x, due)
    if callable(learner):
        return np.asarray(learner(complete_block, delay), np.float64)
    raise InvalidParameterError(
        "The 'learner' parameter of prequential must be a Learner, a model with "
        "predict and update or with predict_one and learn_one, or a function of a "
        f"block and a delay. Got {learner!r} instead."
    )


def _learner_predictions(
    learner: Learner[Any], block: Block, delay: int, loss: LinearLoss | None
) -> FloatArray:
    """Those of a learner that starts from zero, as ``Online`` would make them."""
    has_nan = bool(np.isnan(block.y).any())
    policy: MissingPolicy = "skip" if has_nan else "refuse"
    own_delay = getattr(learner, "delay", None)
    if own_delay not in (None, 0, delay):
        raise InvalidParameterError(
            f"The 'delay' of the learner and that of the evaluation must be the same. "
            f"Got {own_delay} and {delay} instead."
        )
    if own_delay is not None:  # it has a queue of its own, and knows what is pending
        learner, delay = replace(learner, delay=delay), 0  # type: ignore[type-var]
    model = Online(learner, loss, intercept=False, missing=policy)
    if delay == 0:
        trace = model.run(block.x, block.y, block.weight, block.elapsed)
        return trace.prediction
    queue = DelayedLabels(delay, block.x.shape[1])
    due = queue.push(block.x, block.y, block.weight, block.elapsed)
    return _model_predictions(model, block.x, due)


def _model_predictions(model: Any, x: FloatArray, due: DueLabels) -> FloatArray:
    """Those of a model with ``predict`` and ``update``; the model learns."""
    waited = 0.0

    def learn(t: int) -> None:
        nonlocal waited
        waited += float(due.elapsed[t])
        if due.learnable[t]:
            rates = (float(due.weight[t]), waited)
            optional = () if rates == (1.0, 1.0) else rates
            model.update(due.x[t], float(due.y[t]), *optional)
            waited = 0.0

    return _predict_then_learn(lambda t: model.predict(x[t]), learn, len(x))


def _river_predictions(model: Any, x: FloatArray, due: DueLabels) -> FloatArray:
    """Those of a model with River's interface; the model learns."""
    rows, labels = x.tolist(), due.y.tolist()
    due_rows = due.x.tolist()

    def learn(t: int) -> None:
        if due.learnable[t]:
            model.learn_one(dict(enumerate(due_rows[t])), labels[t])

    return _predict_then_learn(
        lambda t: model.predict_one(dict(enumerate(rows[t]))), learn, len(rows)
    )


def _predict_then_learn(
    predict: Callable[[int], Any], learn: Callable[[int], None], rounds: int
) -> FloatArray:
    out = np.full(rounds, np.nan)
    for t in range(rounds):
        try:
            out[t] = predict(t)
            learn(t)
        except (np.linalg.LinAlgError, OverflowError):
            break
    return out


def _learner_name(learner: Any) -> str:
    name = getattr(learner, "__name__", type(learner).__name__)
    return f"Online {type(learner.learner).__name__}" if name == "Online" else str(name)


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else float("nan")


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """The errors of several learners in the same rounds, the least error first.

    As text it is a table, with the simple baselines below the learners.
    """

    results: tuple[PrequentialResult, ...]

    @property
    def best(self) -> PrequentialResult:
        """The learner with the least mean squared error."""
        return self.results[0]

    def __getitem__(self, name: str) -> PrequentialResult:
        for result in self.results:
            if result.name == name:
                return result
        known = ", ".join(repr(result.name) for result in self.results)
        raise InvalidParameterError(f"The learners are {known}. Got {name!r} instead.")

    def __str__(self) -> str:
        first = self.best
        best, naive = first.best_baseline.squared, first.persistence_squared
        everyone: list[PrequentialResult | BaselineErrors] = [*self.results]
        everyone += first.baselines
        rows = [
            (
                one.name,
                *(f"{error_ratio(one.squared, other):.3f}" for other in (best, naive)),
                f"{one.squared:.5g}",
                f"{one.absolute:.5g}",
            )
            for one in everyone
        ]
        ratios = ("over best baseline", "over persistence")
        table = [("learner", *ratios, "mean squared", "mean absolute"), *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0])]
                + [cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)]
            )
            for row in table
        ]
        return "\n".join([*lines, f"{first.scored_rounds:,} rounds scored"])


def compare(
    learners: Mapping[str, Any], block: Block, *, delay: int = 0,
    missing: MissingPolicy = "refuse", burn_in: int = 0, loss: LinearLoss | None = None,
) -> ComparisonResult:  # fmt: skip
    """Evaluate every learner by ``prequential`` on the same block.

    >>> import numpy as np
    >>> import thalweg as tw
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(400, 2))
    >>> slope = np.where(np.arange(400) < 200, 1.0, -1.0)  # an abrupt change
    >>> y = slope * x[:, 0] + 0.1 * rng.normal(size=400)
    >>> learners = {
    ...     "forgets": tw.RecursiveLeastSquares(discount=0.95),
    ...     "remembers": tw.RecursiveLeastSquares(discount=1.0),
    ... }
    >>> tw.evaluation.compare(learners, tw.Block(x, y)).best.name
    'forgets'

    Args:
        learners: by the names that the result gives them, whatever ``prequential``
            takes. All other arguments are those of ``prequential``.
    """
    if not isinstance(learners, Mapping) or not learners:
        raise InvalidParameterError(
            "The 'learners' parameter of compare must be a dict of at least one "
            f"learner by its name. Got {learners!r} instead."
        )
    results = [
        prequential(
            learner, block, delay=delay, missing=missing, burn_in=burn_in, loss=loss,
            name=name,
        )
        for name, learner in learners.items()
    ]  # fmt: skip
    return ComparisonResult(tuple(sorted(results, key=squared_order)))
