"""Checks made once, where a value enters. Nothing inside a loop checks again."""

from typing import Any

import numpy as np

from thalweg.errors import (
    InvalidParameterError,
    StreamError,
    ThalwegError,
    UnsupportedLossError,
)
from thalweg.types import Block, FloatArray

LARGEST = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e15}
"""Beyond these the square of a value, which every learner forms, may overflow."""


def in_interval(owner: object, name: str, interval: str) -> None:
    """Raise unless ``getattr(owner, name)`` lies in ``interval``, e.g. ``"(0, 1]"``."""
    value = getattr(owner, name)
    argument(type(owner).__name__, name, value, interval)
    if isinstance(value, np.generic):
        # A NumPy scalar would turn every float32 array it meets into float64.
        object.__setattr__(owner, name, value.item())


def argument(owner: str, name: str, value: Any, interval: str) -> None:
    """Raise unless the value given to ``owner`` as ``name`` lies in ``interval``."""
    low, high = (float(end) for end in interval[1:-1].split(","))
    kinds = int | float | np.integer | np.floating
    number = isinstance(value, kinds) and not isinstance(value, bool)
    try:
        size = float(value) if number else np.nan
    except OverflowError:
        size = np.inf
    above = size > low if interval[0] == "(" else size >= low
    below = size < high if interval[-1] == ")" else size <= high
    if not (above and below):
        raise InvalidParameterError(
            f"The {name!r} parameter of {owner} must be in {interval}. "
            f"Got {_shown(value)} instead."
        )


def one_of(owner: object, name: str, choices: tuple[object, ...]) -> None:
    """Raise unless ``getattr(owner, name)`` is one of ``choices``."""
    value = getattr(owner, name)
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        named = ", ".join(map(repr, choices))
        raise InvalidParameterError(
            f"The {name!r} parameter of {type(owner).__name__} must be one of {named}. "
            f"Got {_shown(value)} instead."
        )


def instance(owner: object, name: str, kind: type) -> None:
    """Raise unless ``getattr(owner, name)`` is a ``kind``."""
    instance_of(type(owner).__name__, name, getattr(owner, name), kind)


def instance_of(owner: str, name: str, value: Any, kind: type) -> None:
    """Raise unless the value given to ``owner`` as ``name`` is a ``kind``."""
    if not isinstance(value, kind):
        raise InvalidParameterError(
            f"The {name!r} parameter of {owner} must be of type {kind.__name__}. "
            f"Got {_shown(value)} instead."
        )


def _shown(value: Any) -> str:
    """``repr``, cut where it would fill the screen."""
    try:
        text = repr(value)
    except ValueError:  # an int of thousands of digits
        return "a number too large to print"
    return text if len(text) <= 200 else f"{text[:200]}..."


def frozen_array(
    owner: object, name: str, ndim: int, scalar: bool = False
) -> FloatArray:
    """``getattr(owner, name)`` as a read-only float64 array of ``ndim`` axes.

    With ``scalar`` a number is taken as well, as an array of no axes.
    """
    given = getattr(owner, name)
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    fits = array.ndim == ndim or (scalar and array.ndim == 0)
    if not fits or array.size == 0 or np.isnan(array).any():
        kind = "a number or a non-empty" if scalar else "a non-empty"
        raise InvalidParameterError(
            f"The {name!r} parameter of {type(owner).__name__} must be {kind} "
            f"array of {ndim} axes without NaN. Got {given!r} instead."
        )
    array.flags.writeable = False
    return array


def start(learner: object, theta: Any, ndim: tuple[int, ...] = (1, 2)) -> FloatArray:
    """A copy of the start θ_1 as a finite float array; float32 is kept as it is."""
    kind = getattr(getattr(theta, "dtype", None), "type", None)
    dtype = np.float32 if kind is np.float32 else np.float64
    given = numbers("start", theta, InvalidParameterError)
    array: FloatArray = np.array(given, dtype, order="C")
    if array.ndim not in ndim or array.size == 0:
        shapes = " or ".join({1: "(n,)", 2: "(n, k)"}[axes] for axes in ndim)
        raise InvalidParameterError(
            f"{type(learner).__name__} starts from a point of shape {shapes}. "
            f"Got shape {array.shape} instead."
        )
    if not (np.abs(array) <= LARGEST[array.dtype]).all():
        raise InvalidParameterError(
            f"The start of {type(learner).__name__} must be finite and at most "
            f"{LARGEST[array.dtype]:g} in size. Got {array!r} instead."
        )
    return array


def start_is_inside(learner: object, domain: Any, theta: FloatArray) -> None:
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


def state_is_its_own(learner: object, state: Any) -> None:
    """Raise unless ``state`` looks like what the learner's ``init`` gives."""
    if not isinstance(getattr(state, "theta", None), np.ndarray):
        raise InvalidParameterError(
            f"{type(learner).__name__} plays from a state that its init gave. "
            f"Got {_shown(state)} instead."
        )


def ridge_fits(learner: Any, theta: FloatArray) -> None:
    """Raise unless ε and 1/ε of P_0 = εI are legal numbers of θ's dtype."""
    largest = LARGEST[theta.dtype]
    if learner.ridge and not 1 / largest <= learner.ridge <= largest:
        raise InvalidParameterError(
            f"The 'ridge' parameter of {type(learner).__name__} must be in "
            f"[{1 / largest:g}, {largest:g}] for {theta.dtype}. "
            f"Got {learner.ridge!r} instead."
        )


def features(x: Any, theta: FloatArray) -> FloatArray:
    """One round's features as an array of θ's dtype and length."""
    array = np.asarray(numbers("features", x), theta.dtype)
    if array.shape != theta.shape[:1]:
        raise StreamError(
            f"A point of {len(theta)} coordinates needs as many features. "
            f"Got shape {array.shape} instead."
        )
    return array


def loss_is_accepted(learner: Any, loss: object) -> None:
    """Raise unless ``learner.accepts`` names the type of ``loss``."""
    if not isinstance(loss, learner.accepts):
        accepted = " or ".join(kind.__name__ for kind in learner.accepts)
        raise UnsupportedLossError(
            f"{type(learner).__name__} learns from {accepted}. Got {loss!r} instead."
        )


def playable(block: Block, loss: Any, theta: FloatArray) -> Block:
    """The block as finite, contiguous arrays of the shapes ``loss`` declares for θ."""
    if not isinstance(block, Block):
        kind = type(block).__name__
        raise StreamError(f"A learner plays a Block of rounds. Got a {kind} instead.")
    y = _values("y", block.y, theta.dtype)
    rounds = y.shape[:1]
    if y.size == 0:
        raise StreamError(
            f"A block needs at least one round. Got y of shape {y.shape}."
        )
    shape_x, shape_y = loss.shapes(theta)
    _has_shape("y", y, rounds + shape_y, loss)
    x = None
    if shape_x is None:
        if block.x is not None:
            raise StreamError(f"{loss!r} takes no features. Got x instead of None.")
    elif block.x is None:
        raise StreamError(f"{loss!r} needs features x. Got None instead.")
    else:
        x = _values("x", block.x, theta.dtype)
        if len(x) != len(y):
            raise StreamError(
                f"A block has as many rounds of x as of y. Got {len(x)} and {len(y)}."
            )
        _has_shape("x", x, rounds + shape_x, loss)
    loss.check_rounds(x, y)
    weight, elapsed = (_rates(name, block, y) for name in ("weight", "elapsed"))
    if weight is not None:
        for name, part in (("x", x), ("y", y)):
            _weighted_is_legal(name, part, weight)
    return Block(x, y, weight, elapsed)


def _has_shape(
    name: str, part: FloatArray, shape: tuple[int | None, ...], loss: object
) -> None:
    fits = part.ndim == len(shape) and all(
        want in (None, got) for want, got in zip(shape, part.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if side is None else str(side) for side in shape)
        raise StreamError(
            f"{loss!r} needs {name} of shape ({wanted}) here. "
            f"Got shape {part.shape} instead."
        )


def _weighted_is_legal(name: str, part: FloatArray | None, weight: FloatArray) -> None:
    """Kernels work with √weight times x and y, which must be legal as well."""
    if part is None or weight.max() <= 1:
        return
    most = np.sqrt(weight) * np.abs(part).reshape(len(part), -1).max(axis=1)
    if most.max() > LARGEST[part.dtype]:
        worst = int(most.argmax())
        raise StreamError(
            f"Round {worst} of the block is larger than {LARGEST[part.dtype]:g}: "
            f"√weight·|{name}| is {most[worst]}."
        )


def numbers(
    name: str, part: Any, error: type[ThalwegError] = StreamError
) -> FloatArray:
    """``part`` as an array, if it is one of numbers."""
    if isinstance(part, np.ma.MaskedArray):
        raise error(
            f"The {name} must hold numbers only. Got a masked array: fill or drop what "
            f"is masked."
        )
    try:
        array = np.asarray(part)
    except ValueError:
        raise error(
            f"The {name} must be a rectangular array of numbers. Got {part!r} instead."
        ) from None
    if array.dtype.kind not in "biuf":
        raise error(
            f"The {name} must hold numbers. Got {_not_a_number(array)} instead."
        )
    return array


def _not_a_number(array: FloatArray) -> str:
    """The first culprit in an array of anything."""
    for value in array.flat:
        if not isinstance(value, int | float | np.integer | np.floating):
            return f"{_shown(value)} (dtype {array.dtype})"
    return f"dtype {array.dtype}"


def _values(name: str, part: Any, dtype: Any) -> FloatArray:
    array = numbers(f"{name} of the block", part)
    if array.ndim == 0:
        raise StreamError(f"A block needs one {name} a round. Got {part!r} instead.")
    largest = np.float64(LARGEST[np.dtype(dtype)])
    # NaN fails every comparison, so one pass finds NaN, infinity and excess alike;
    # before the cast, in which what is too large for float32 would become infinite.
    if array.size and not (array.min() >= -largest and array.max() <= largest):
        where = np.argwhere(~(np.abs(array) <= largest))[0].tolist()
        value = array[tuple(where)]
        rule = f"larger than {largest:g}" if np.isfinite(value) else "not finite"
        raise StreamError(
            f"Round {where[0]} of the block is {rule}: {name}{where} is {value}."
        )
    # Kernels are compiled for writable arrays; a read-only one would mean once more.
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED", "WRITEABLE"])


def _rates(name: str, block: Block, y: FloatArray) -> FloatArray | None:
    given = getattr(block, name)
    if given is None:
        return None
    rates = _values(name, given, y.dtype)
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
