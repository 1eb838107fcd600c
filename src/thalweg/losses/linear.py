"""Losses of a linear prediction, φ(x·θ, y), given by φ, φ′ and φ″."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.kernels.losses import CODES
from thalweg.losses.base import Constants, Loss, Shape
from thalweg.types import Block, FloatArray


class LinearLoss(Loss):
    """f(θ) = φ(x·θ, y).

    ∇f = φ′x and ∇²f = φ″xxᵀ has rank one, so that a full Newton step costs O(n²),
    not the O(n³) of a general Hessian.
    """

    code: ClassVar[int | None] = None
    """The loss's number in ``kernels/losses.py``; None where kernels do not know it.

    Each class names its own: a code is not inherited, as a subclass may change φ.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.code = vars(cls).get("code")
        if cls.code is not None and not (type(cls.code) is int and cls.code in CODES):
            raise InvalidParameterError(
                f"The 'code' of {cls.__name__} must be one of kernels/losses.py: "
                f"{CODES}, or None. Got {cls.code!r} instead."
            )

    @property
    def shape_parameter(self) -> float:
        """The one number by which φ is shaped, for the kernels."""
        return 0.0

    @property
    def rank_one(self) -> bool:
        """Whether f is φ alone, with no term in θ that kernels do not know."""
        return True

    @property
    def has_kernel(self) -> bool:
        """Whether the kernels compute this loss: learners then take their fast path."""
        return self.code is not None and self.rank_one

    @abstractmethod
    def phi(self, p: Any, y: Any) -> Any:
        """φ(p, y), elementwise."""

    @abstractmethod
    def slope(self, p: Any, y: Any) -> Any:
        """φ′ = ∂φ/∂p, elementwise."""

    @abstractmethod
    def curvature(self, p: Any, y: Any) -> Any:
        """φ″ = ∂²φ/∂p², elementwise."""

    def mean(self, prediction: Any) -> Any:
        """The expected label at a prediction x·θ, elementwise: x·θ itself by default.

        Also known as: the inverse link. A loss whose φ is least elsewhere overrides it:
        the probability for ``Logistic``, exp(x·θ) for one of counts (Poisson).
        """
        return prediction

    def best_prediction(self, y: Any) -> float | None:
        """The prediction with the least loss for the label ``y``; None if not known."""
        return float(y) if self.slope(y, y) == 0 else None

    def value(self, theta: FloatArray, x: Any, y: Any) -> float:
        return float(np.sum(self.phi(x @ theta, y)))

    def grad(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.asarray(np.multiply.outer(x, self.slope(x @ theta, y)))

    def hess(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.asarray(self._curvature(theta, x, y) * np.outer(x, x))

    def hess_root(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.asarray(np.sqrt(self._curvature(theta, x, y)) * x[None])

    def prediction_loss(self, prediction: FloatArray, y: FloatArray) -> FloatArray:
        loss = np.asarray(self.phi(prediction, y))
        return np.asarray(loss.reshape(len(loss), -1).sum(axis=1))

    def shapes(self, theta: FloatArray) -> tuple[Shape | None, Shape]:
        return theta.shape[:1], theta.shape[1:]

    def constants(self, domain: Any, block: Block) -> Constants:
        """Exact extremes over the range of x·θ on the domain, round by round."""
        block = checks.check_block(block, self, np.zeros(np.shape(block.x)[-1:]))
        x, y, weight = block.x, block.y, block.weights
        if domain.dimension not in (None, x.shape[1]):
            raise StreamError(
                f"The domain has {domain.dimension} coordinates. Got x of shape "
                f"{x.shape}."
            )
        low, high = -domain.support(-x), domain.support(x)
        min_curvature, max_curvature = self.curvature_range(low, high, y)
        # φ is convex, so |φ′| peaks at an end of the range; so does φ′²/φ″ for every
        # loss here, which makes the least φ″/φ′² an end's too.
        slopes = np.abs([self.slope(low, y), self.slope(high, y)])
        curvatures = np.array([self.curvature(low, y), self.curvature(high, y)])
        alpha = np.full(slopes.shape, np.inf)
        np.divide(curvatures, weight * slopes**2, out=alpha, where=weight * slopes > 0)
        energy = weight * (x**2).sum(axis=1)
        return Constants(
            # A rank-one Hessian is strongly convex in one dimension only.
            float((energy * min_curvature).min()) if x.shape[1] == 1 else 0.0,
            float((energy * max_curvature).max()),
            float(alpha.min()),
            float((np.sqrt(weight * energy) * np.where(energy, slopes, 0)).max()),
        )

    @abstractmethod
    def curvature_range(self, low: Any, high: Any, y: Any) -> tuple[Any, Any]:
        """The least and the greatest φ″(p, y) for low ≤ p ≤ high, elementwise."""

    def _curvature(self, theta: FloatArray, x: Any, y: Any) -> Any:
        curvature = self.curvature(x @ theta, y)
        return curvature[0] if np.ndim(curvature) else curvature
