"""The base class of losses, and one round of a loss as a learner sees it.

To add a loss:

1. Write a frozen dataclass in a file of its own: a subclass of ``LinearLoss``
   (losses/linear.py) where f is a function of x·θ, given by φ, φ′, φ″ and the range
   of φ″ (``curvature_range``), and ``mean`` where x·θ is not the expected label
   itself; else of ``Loss``. Give ``constants`` if the theorems shall apply, and
   ``is_quadratic = True`` where ∇²f does not depend on θ. Comparators in hindsight
   (regret/best_point.py) are found by damped Newton steps, which need ``value`` and
   finite ``grad`` and ``hess`` of a convex f. φ″ may be 0 in places. Where it is 0
   everywhere (absolute or quantile error), φ has kinks, the search ends at one with
   "was not found", and there is no certified best fixed point: smooth the kink, as
   ``Huber`` does, or compare with points of your own. ``best_prediction``, where φ is
   least elsewhere than at y, spares the search for the minimisers of single rounds.
2. Export it in losses/__init__.py, which lets files hold it, and in
   thalweg/__init__.py; give an example of it in tests/contracts/examples.py, which
   brings the tests of every loss.
3. Every learner that accepts any loss now runs it, one ``update`` in Python a round.
   For the fast path of a linear loss, kernels that play whole blocks, give it a code
   and its three formulas in kernels/losses.py, and name the code as ``code``.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.errors import StreamError, UnsupportedLossError
from thalweg.types import Block, FloatArray

Shape = tuple[int | None, ...]


class Constants(NamedTuple):
    """The numbers that the theorems ask for, on one domain and one set of data."""

    strong_convexity: float  # ℓ: ∇²f ⪰ ℓI
    smoothness: float  # u: ∇²f ⪯ uI
    exp_concavity: float  # α: ∇²f ⪰ α∇f∇fᵀ
    gradient_bound: float  # G: ‖∇f‖ ≤ G


def inverse(value: float) -> float:
    """1/value, infinite at 0."""
    return 1 / value if value else np.inf


class Loss(ABC):
    """A family of functions f(θ; x, y), convex in θ."""

    is_quadratic: ClassVar[bool] = False
    """Whether ∇²f is the same at every θ, as case 3 of Theorem 1 needs it.

    Each class says so for itself: it is not inherited, as a subclass may change f.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.is_quadratic = vars(cls).get("is_quadratic", False)

    @abstractmethod
    def value(self, theta: FloatArray, x: Any, y: Any) -> float:
        """f(θ)."""

    @abstractmethod
    def grad(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        """∇f(θ), of the shape of θ."""

    @abstractmethod
    def hess(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        """∇²f(θ), shape (n, n)."""

    @abstractmethod
    def shapes(self, theta: FloatArray) -> tuple[Shape | None, Shape]:
        """The shapes of one round's x and y; None for any length, or for no x."""

    @abstractmethod
    def constants(self, domain: Any, block: Block) -> Constants:
        """ℓ, u, α and G that hold at every point of ``domain`` in every round."""

    def hess_root(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        """Rows V, shape (r, n), with VᵀV = ∇²f(θ); r is as small as the loss knows."""
        eigenvalue, basis = np.linalg.eigh(self.hess(theta, x, y))
        positive = eigenvalue > eigenvalue[-1] * len(eigenvalue) * np.finfo(float).eps
        return np.asarray(np.sqrt(eigenvalue[positive])[:, None] * basis[:, positive].T)

    def prediction_loss(self, prediction: FloatArray, y: FloatArray) -> FloatArray:
        """The unweighted loss of each prediction, for losses that need no θ."""
        raise UnsupportedLossError(f"{self!r} cannot be measured from predictions.")

    def score(self, prediction: FloatArray, block: Block) -> FloatArray:
        """The weighted loss of forecasts made elsewhere, shape (T,)."""
        y = np.asarray(block.y, np.float64)
        if prediction.shape != y.shape or not np.isfinite(prediction).all():
            raise StreamError(
                f"Forecasts must be finite and of y's shape {y.shape}. Got shape "
                f"{prediction.shape}, {np.count_nonzero(~np.isfinite(prediction))} of "
                f"them not finite."
            )
        self.check_rounds(None, y)
        return np.asarray(block.weights * self.prediction_loss(prediction, y))

    def check_rounds(self, x: FloatArray | None, y: FloatArray) -> None:  # noqa: B027 (most accept all)
        """Raise ``StreamError`` where this loss cannot take a round's x or y."""


class Round(NamedTuple):
    """The paper's f_t: a loss with this round's data and weight filled in."""

    loss: Loss
    x: Any
    y: Any
    weight: float = 1.0
    elapsed: float = 1.0

    def value(self, theta: FloatArray) -> float:
        if self.weight == 0:  # also where f overflows
            return 0.0
        with np.errstate(over="ignore"):  # an infinite loss is limited where it is used
            return self.weight * self.loss.value(theta, self.x, self.y)

    def grad(self, theta: FloatArray) -> FloatArray:
        if self.weight == 0:
            return np.zeros_like(theta)
        return self.weight * self.loss.grad(theta, self.x, self.y)

    def hess(self, theta: FloatArray) -> FloatArray:
        return self.weight * self.loss.hess(theta, self.x, self.y)

    def hess_root(self, theta: FloatArray) -> FloatArray:
        root = self.loss.hess_root(theta, self.x, self.y)
        return np.asarray(np.sqrt(self.weight) * root)


class CheckedRound(Round):
    """A round whose numbers were found legal for the state that is to learn it.

    Made by learners only, which take it without another look.
    """

    __slots__ = ()
