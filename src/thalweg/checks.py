"""Checks made once, where a value enters. Nothing inside a loop checks again.

``require_...`` raises unless a rule holds; ``check_...`` gives the value in the form
that the rest of the library works with, or raises. A message names the culprit, the
rule and the value.
"""

import sys
from typing import Any

import numpy as np

from thalweg.errors import (
    InvalidParameterError,
    StreamError,
    ThalwegError,
    UnsupportedLossError,
)
from thalweg.types import Block, FloatArray

MAX_MAGNITUDE = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e15}
"""Beyond these the square of a value, which every learner forms, may overflow."""
LEGAL_SQUARES: dict[Any, tuple[Any, float]] = {
    np.dtype(np.float64): (np.float64(1e-200), 1e-100),
    np.dtype(np.float32): (np.float32(1e-25), 1e-20),
}
"""A scale, and the square of the largest legal number times it."""
MISSING_HINT = (
    " missing='impute' fills in what is missing, 'skip' leaves such rows out."
)
MAX_REPR_LENGTH = 200
"""A message quotes no more characters of a value than this."""


def require_interval(owner: object, name: str, interval: str) -> None:
    """Raise unless ``getattr(owner, name)`` lies in ``interval``, e.g. ``"(0, 1]"``."""
    value = getattr(owner, name)
    require_argument(type(owner).__name__, name, value, interval)
    if isinstance(value, np.generic):
        # A NumPy scalar would turn every float32 array it meets into float64.
        object.__setattr__(owner, name, value.item())


def require_argument(owner: str, name: str, value: Any, interval: str) -> None:
    """Raise unless the value given to ``owner`` as ``name`` lies in ``interval``."""
    low, high = (float(end) for end in interval[1:-1].split(","))
    kinds = int | float | np.integer | np.floating
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else np.nan
    except OverflowError:
        number = np.inf
    is_above = number > low if interval[0] == "(" else number >= low
    is_below = number < high if interval[-1] == ")" else number <= high
    if not (is_above and is_below):
        raise InvalidParameterError(
            f"The {name!r} parameter of {owner} must be in {interval}. "
            f"Got {_short_repr(value)} instead."
        )


def require_choice(owner: object, name: str, choices: tuple[object, ...]) -> None:
    """Raise unless ``getattr(owner, name)`` is one of ``choices``."""
    value = getattr(owner, name)
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        names = ", ".join(map(repr, choices))
        raise InvalidParameterError(
            f"The {name!r} parameter of {type(owner).__name__} must be one of {names}. "
            f"Got {_short_repr(value)} instead."
        )


def require_type(owner: object, name: str, kind: type) -> None:
    """Raise unless ``getattr(owner, name)`` is a ``kind``."""
    require_argument_type(type(owner).__name__, name, getattr(owner, name), kind)


def require_argument_type(owner: str, name: str, value: Any, kind: type) -> None:
    """Raise unless the value given to ``owner`` as ``name`` is a ``kind``."""
    if not isinstance(value, kind):
        raise InvalidParameterError(
            f"The {name!r} parameter of {owner} must be of type {kind.__name__}. "
            f"Got {_short_repr(value)} instead."
        )


def check_array(
    owner: object, name: str, ndim: int, scalar: bool = False
) -> FloatArray:
    """``getattr(owner, name)`` as a read-only float64 array of ``ndim`` axes.

    With ``scalar`` a number is accepted as well, as an array of no axes.
    """
    value = getattr(owner, name)
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    fits = array.ndim == ndim or (scalar and array.ndim == 0)
    if not fits or array.size == 0 or np.isnan(array).any():
        kind = "a number or a non-empty" if scalar else "a non-empty"
        raise InvalidParameterError(
            f"The {name!r} parameter of {type(owner).__name__} must be {kind} "
            f"array of {ndim} axes without NaN. Got {value!r} instead."
        )
    array.flags.writeable = False
    return array


def check_start(
    learner: object, theta: Any, ndim: tuple[int, ...] = (1, 2)
) -> FloatArray:
    """A copy of the start θ_1 as a finite float array; float32 stays float32."""
    kind = getattr(getattr(theta, "dtype", None), "type", None)
    dtype = np.float32 if kind is np.float32 else np.float64
    values = check_numbers("start", theta, InvalidParameterError)
    array: FloatArray = np.array(values, dtype, order="C")
    if array.ndim not in ndim or array.size == 0:
        shapes = " or ".join({1: "(n,)", 2: "(n, k)"}[axes] for axes in ndim)
        raise InvalidParameterError(
            f"{type(learner).__name__} starts from a point of shape {shapes}. "
            f"Got shape {array.shape} instead."
        )
    if not (np.abs(array) <= MAX_MAGNITUDE[array.dtype]).all():
        raise InvalidParameterError(
            f"The start of {type(learner).__name__} must be finite and at most "
            f"{MAX_MAGNITUDE[array.dtype]:g} in size. Got {array!r} instead."
        )
    return array


def require_start_in_domain(learner: object, domain: Any, theta: FloatArray) -> None:
    """Raise unless the learner's domain has θ's dimension and contains it."""
    name = type(learner).__name__
    if domain.dimension not in (None, theta.size):
        raise InvalidParameterError(
            f"The domain of {name} has {domain.dimension} coordinates. "
            f"Got a start of {theta.size} instead."
        )
    if not domain.contains(theta):
        raise InvalidParameterError(
            f"The start of {name} must lie in its domain {domain!r}. "
            f"Got {theta!r} instead."
        )


def require_ridge_in_range(learner: Any, theta: FloatArray) -> None:
    """Raise unless ε and 1/ε of P_0 = εI are legal numbers of θ's dtype."""
    largest = MAX_MAGNITUDE[theta.dtype]
    if learner.ridge and not 1 / largest <= learner.ridge <= largest:
        raise InvalidParameterError(
            f"The 'ridge' parameter of {type(learner).__name__} must be in "
            f"[{1 / largest:g}, {largest:g}] for {theta.dtype}. "
            f"Got {learner.ridge!r} instead."
        )


def check_features(x: Any, theta: FloatArray) -> FloatArray:
    """One round's features (n,), or rows (m, n) of them, finite and of θ's dtype."""
    is_plain = type(x) is np.ndarray and x.dtype == theta.dtype and is_legal(x)
    array: FloatArray = x if is_plain else check_numbers("features", x)
    if array.ndim not in (1, 2) or array.shape[-1] != len(theta):
        raise StreamError(
            f"A point of {len(theta)} coordinates needs as many features. "
            f"Got shape {array.shape} instead."
        )
    if is_plain:
        return array
    largest = MAX_MAGNITUDE[theta.dtype]
    legal = np.abs(array) <= largest
    if not legal.all():
        where = np.argwhere(~legal)[0].tolist()
        raise StreamError(
            f"The features must be finite and at most {largest:g} in size. "
            f"Got {array[tuple(where)]} in place {where} instead."
        )
    return np.asarray(array, theta.dtype)


def check_feature_rows(x: Any, theta: FloatArray) -> FloatArray:
    """The features of several rounds, (T, n), finite, of θ's dtype and contiguous."""
    rows = check_features(x, theta)
    if rows.ndim != 2:
        raise StreamError(f"Rows of features are needed. Got shape {rows.shape}.")
    return np.require(rows, theta.dtype, ["C_CONTIGUOUS", "ALIGNED", "WRITEABLE"])


def is_legal(x: FloatArray) -> bool:
    """Whether a row of floats is plainly legal; False where that needs a closer look.

    The sum of squares bounds each of them, and NaN and infinity are in no bound. They
    are scaled so that no float, however large, overflows.
    """
    if x.ndim != 1:
        return False
    scale, limit = LEGAL_SQUARES[x.dtype]
    scaled = x * scale
    return bool(scaled.dot(scaled) <= limit)


def require_accepted_loss(learner: Any, loss: object) -> None:
    """Raise unless ``learner.accepts`` names the type of ``loss``."""
    if not isinstance(loss, learner.accepts):
        names = " or ".join(kind.__name__ for kind in learner.accepts)
        raise UnsupportedLossError(
            f"{type(learner).__name__} learns from {names}. Got {loss!r} instead."
        )


def check_block(block: Block, loss: Any, theta: FloatArray) -> Block:
    """The block as finite, contiguous arrays of the shapes ``loss`` declares for θ."""
    if not isinstance(block, Block):
        kind = type(block).__name__
        raise StreamError(f"A learner plays a Block of rounds. Got a {kind} instead.")
    y = _check_values("y", block.y, theta.dtype)
    rounds = y.shape[:1]
    if y.size == 0:
        raise StreamError(
            f"A block needs at least one round. Got y of shape {y.shape}."
        )
    shape_x, shape_y = loss.shapes(theta)
    _require_shape("y", y, rounds + shape_y, loss)
    x = None
    if shape_x is None:
        if block.x is not None:
            raise StreamError(f"{loss!r} takes no features. Got x instead of None.")
    elif block.x is None:
        raise StreamError(f"{loss!r} needs features x. Got None instead.")
    else:
        x = _check_values("x", block.x, theta.dtype)
        if len(x) != len(y):
            raise StreamError(
                f"A block has as many rounds of x as of y. Got {len(x)} and {len(y)}."
            )
        _require_shape("x", x, rounds + shape_x, loss)
    loss.check_rounds(x, y)
    weight, elapsed = (_check_rates(name, block, y) for name in ("weight", "elapsed"))
    if weight is not None:
        for name, values in (("x", x), ("y", y)):
            _require_weighted_magnitude(name, values, weight)
    return Block(x, y, weight, elapsed)


def check_numbers(
    name: str, values: Any, error: type[ThalwegError] = StreamError
) -> FloatArray:
    """``values`` as an array, if it is one of numbers."""
    # NumPy loads np.ma at its first use, which takes long: who has a masked array did.
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray):
        raise error(
            f"The {name} must hold numbers only. Got a masked array: fill or drop what "
            f"is masked."
        )
    try:
        array = np.asarray(values)
    except ValueError:
        raise error(
            f"The {name} must be a rectangular array of numbers. "
            f"Got {values!r} instead."
        ) from None
    if array.dtype.kind not in "biuf":
        raise error(
            f"The {name} must hold numbers. Got {_first_non_number(array)} instead."
        )
    return array


def _first_non_number(array: FloatArray) -> str:
    """The first value of an array of anything that is no number, for a message."""
    for value in array.flat:
        if not isinstance(value, int | float | np.integer | np.floating):
            return f"{_short_repr(value)} (dtype {array.dtype})"
    return f"dtype {array.dtype}"


def _short_repr(value: Any) -> str:
    """``repr``, cut where it would fill the screen."""
    try:
        text = repr(value)
    except ValueError:  # an int of thousands of digits
        return "a number too large to print"
    fits = len(text) <= MAX_REPR_LENGTH
    return text if fits else f"{text[:MAX_REPR_LENGTH]}..."


def _check_values(name: str, values: Any, dtype: Any) -> FloatArray:
    """x, y, weight or elapsed of a block as a finite array that kernels take."""
    array = check_numbers(f"{name} of the block", values)
    if array.ndim == 0:
        raise StreamError(f"A block needs one {name} a round. Got {values!r} instead.")
    largest = np.float64(MAX_MAGNITUDE[np.dtype(dtype)])
    # NaN fails every comparison, so one pass finds NaN, infinity and excess alike;
    # before the cast, in which what is too large for float32 would become infinite.
    if array.size and not (array.min() >= -largest and array.max() <= largest):
        where = np.argwhere(~(np.abs(array) <= largest))[0].tolist()
        value = array[tuple(where)]
        rule = f"larger than {largest:g}" if np.isfinite(value) else "not finite"
        raise StreamError(
            f"Round {where[0]} of the block is {rule}: {name}{where} is {value}."
            f"{MISSING_HINT if np.isnan(value) else ''}"
        )
    # Kernels are compiled for writable arrays; for a read-only one, numba would compile
    # them again.
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED", "WRITEABLE"])


def _check_rates(name: str, block: Block, y: FloatArray) -> FloatArray | None:
    """The block's ``weight`` or ``elapsed``, one number ≥ 0 a round, or None."""
    values = getattr(block, name)
    if values is None:
        return None
    rates = _check_values(name, values, y.dtype)
    if rates.shape != y.shape[:1]:
        raise StreamError(
            f"A block needs one {name} a round. Got shape {rates.shape} "
            f"for {len(y)} rounds."
        )
    if rates.min() < 0:
        worst = int(rates.argmin())
        raise StreamError(
            f"Round {worst} of the block has a negative {name}: {rates[worst]}."
        )
    return rates


def _require_shape(
    name: str, array: FloatArray, shape: tuple[int | None, ...], loss: object
) -> None:
    """Raise unless the array has this shape, in which None stands for any length."""
    fits = array.ndim == len(shape) and all(
        side in (None, length) for side, length in zip(shape, array.shape, strict=True)
    )
    if not fits:
        sides = ", ".join("any" if side is None else str(side) for side in shape)
        raise StreamError(
            f"{loss!r} needs {name} of shape ({sides}) here. "
            f"Got shape {array.shape} instead."
        )


def _require_weighted_magnitude(
    name: str, values: FloatArray | None, weight: FloatArray
) -> None:
    """Raise unless √weight times x or y, which kernels work with, is legal as well."""
    if values is None or weight.max() <= 1:
        return
    sizes = np.sqrt(weight) * np.abs(values).reshape(len(values), -1).max(axis=1)
    if sizes.max() > MAX_MAGNITUDE[values.dtype]:
        worst = int(sizes.argmax())
        raise StreamError(
            f"Round {worst} of the block is larger than "
            f"{MAX_MAGNITUDE[values.dtype]:g}: √weight·|{name}| is {sizes[worst]}."
        )
