"""Any convex functions f_1, f_2, ... given as Python functions."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError, StreamError, UnsupportedLossError
from thalweg.losses.base import Constants, Loss, Shape
from thalweg.types import Block, FloatArray


class Function(NamedTuple):
    """One round's f_t: its value, gradient and, where a learner asks, its Hessian."""

    value: Callable[[FloatArray], float]
    grad: Callable[[FloatArray], FloatArray]
    hess: Callable[[FloatArray], FloatArray] | None = None


@dataclass(frozen=True)
class Functions(Loss):
    """f_t(θ) = functions[t](θ), with constants that the caller knows.

    ``block()`` gives the rounds to play: y holds the functions' numbers 0, 1, ...
    ``known_constants`` are ℓ, u, α and G on the domain that will be used. They cannot
    be computed from Python functions: without them ``constants`` is refused.
    """

    functions: Sequence[Function]
    known_constants: Constants | None = None

    def __post_init__(self) -> None:
        checks.require_type(self, "functions", Iterable)
        object.__setattr__(self, "functions", tuple(self.functions))
        for t, function in enumerate(self.functions):
            if not isinstance(function, Function):
                raise InvalidParameterError(
                    f"The 'functions' parameter of Functions must hold Function(value, "
                    f"grad, hess). Got {function!r} at {t} instead."
                )

    def block(self) -> Block:
        """One round for each function."""
        return Block(None, np.arange(float(len(self.functions))))

    def value(self, theta: FloatArray, x: Any, y: Any) -> float:
        return float(self.functions[int(y)].value(theta))

    def grad(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        grad = np.asarray(self.functions[int(y)].grad(theta), theta.dtype)
        if grad.shape != theta.shape or not np.isfinite(grad).all():
            raise StreamError(
                f"The gradient of function {int(y)} must be finite and of shape "
                f"{theta.shape}. Got {grad!r} instead."
            )
        return grad

    def hess(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        hess = self.functions[int(y)].hess
        if hess is None:
            raise UnsupportedLossError(
                f"A full Newton step needs Hessians. Function {int(y)} has none."
            )
        return np.asarray(hess(theta), theta.dtype)

    def shapes(self, theta: FloatArray) -> tuple[Shape | None, Shape]:
        return None, ()

    def check_rounds(self, x: FloatArray | None, y: FloatArray) -> None:
        exists = (y == np.floor(y)) & (y >= 0) & (y < len(self.functions))
        if not exists.all():
            first = int(exists.argmin())
            raise StreamError(
                f"Functions holds functions 0 to {len(self.functions) - 1}. "
                f"Round {first} asks for {y[first]}."
            )

    def constants(self, domain: Any, block: Block) -> Constants:
        if self.known_constants is None:
            raise UnsupportedLossError(
                "The constants of Functions are not known. Give them: "
                "Functions(..., known_constants=Constants(...))."
            )
        return self.known_constants
