"""One fuzzed stream: a learner, its options, the rounds, and how they are played.

All of it follows from the learner's name and a seed.
"""

import zlib
from typing import Any, NamedTuple

import numpy as np

from tests.fuzz.hostile_streams import STREAMS
from tests.fuzz.random_settings import NAMES, SETTINGS, Draw
from thalweg import learners
from thalweg.checks import MAX_MAGNITUDE
from thalweg.domains import Simplex
from thalweg.errors import InvalidParameterError
from thalweg.learners import Learner
from thalweg.losses import (
    LinearLoss,
    LinearMap,
    Logistic,
    Loss,
    SquaredError,
    Tracking,
)
from thalweg.types import Block

ORACLE_STRIDE = 16
"""Every so many seeds, the stream is short and is compared with a slow oracle."""
ORACLE_STRIDES = {"GeneralLeastSquares": 4}
"""Of learners that the oracle can judge on few of the hostile streams."""
SIZES = {"1": (1, 1), "2 to 5": (2, 5), "6 to 12": (6, 12), "16 to 64": (16, 64)}
SIZE_CHANCES = (0.14, 0.5, 0.29, 0.07)
ROUNDS = {"1 to 4": (1, 4), "5 to 30": (5, 30), "31 to 60": (31, 60),
          "70 to 150": (70, 150)}  # fmt: skip
ROUND_CHANCES = (0.07, 0.69, 0.17, 0.07)
MAX_WEIGHT_EXPONENT = 6
WEIGHTS = ("none", "0 to 2", "0 or 1", "0 to 1e6")
TIMES = ("none", "0 to 3", "0 or 1", "long gaps")
ONLINE_FORMS = ("online", "saved", "cloned", "skip missing", "impute missing")
FORMS = ("cut", "rows", "updates")
ONLINE_ODDS = 1.5
"""Forms of ``Online`` are drawn more often, as not every learner and loss has them."""


class Case(NamedTuple):
    """A learner and the rounds it plays."""

    name: str  # of the learner's class
    seed: int
    options: dict[str, Any]  # the label of every option, as it was drawn
    learner: Learner[Any]
    loss: Loss
    start: Any  # θ_1
    block: Block
    form: str  # how the rounds are played besides in one run
    intercept: bool  # of ``Online``
    with_oracle: bool
    rng: np.random.Generator  # for cuts and missing values

    def describe(self):
        """The case in words, a line for each part."""
        lines = [f"{self.name}:{self.seed}", f"  {self.learner!r}", f"  {self.loss!r}"]
        lines += [f"  {name}: {label}" for name, label in self.options.items()]
        x = None if self.block.x is None else self.block.x.shape
        shape = f"x {x}, y {self.block.y.shape}, {self.start.dtype}"
        return "\n".join([*lines, f"  {shape}"])


def make_case(name, seed, forced=None):
    """The case of a learner and a seed; ``forced`` options take the labels given."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    draw = Draw(rng, dict(forced or {}))
    with_oracle = seed % ORACLE_STRIDES.get(name, ORACLE_STRIDE) == 0
    kind = NAMES[name]
    may_block = kind is learners.RecursiveLeastSquares
    blocked = may_block and draw.choose("blocked", (True, False), (0.07, 0.93))
    if blocked:
        draw.forced |= {"size": "16 to 64", "rounds": "70 to 150", "dtype": "float64"}
    elif with_oracle:
        draw.forced.setdefault("rounds", "5 to 30")
        if rng.uniform() < 0.95:
            draw.forced.setdefault("size", "2 to 5")
    n = int(rng.integers(*draw.choose("size", SIZES, SIZE_CHANCES), endpoint=True))
    T = int(rng.integers(*draw.choose("rounds", ROUNDS, ROUND_CHANCES), endpoint=True))
    dtype = np.dtype(draw.choose("dtype", ("float64", "float32"), (0.8, 0.2)))
    learner, loss = SETTINGS[kind](draw, n)
    start = _start(learner, n, dtype)
    block = random_block(draw, T, start, loss)
    targets = 1
    if _takes_targets(learner, loss, start):
        targets = draw.choose("targets", (1, 2, 3), (0.6, 0.2, 0.2))
    if targets > 1:
        start, block = _with_targets(rng, start, block, targets)
    form = "blocked"
    if not blocked:
        form = draw.choose("form", *_forms(learner, loss, start))
    intercept = False
    if form in ONLINE_FORMS and _inner_domain(learner) is None:
        intercept = draw.choose("intercept", (False, True))
    case = (name, seed, draw.options, learner, loss, start, block, form, intercept)
    return Case(*case, with_oracle, rng)


def random_block(draw, T, start, loss):
    """Legal rounds of a hostile stream that the loss accepts, in the start's dtype."""
    rng, n, dtype = draw.rng, start.size, start.dtype
    limit = np.log10(MAX_MAGNITUDE[dtype])
    weights, times = draw.choose("weights", WEIGHTS), draw.choose("elapsed", TIMES)
    room = MAX_WEIGHT_EXPONENT / 2 if weights == "0 to 1e6" else 0.2
    kind = draw.choose("stream", STREAMS)
    rows = 1
    if isinstance(loss, LinearMap):
        rows = draw.choose("rows", (1, 2, 5))
    x, y = kind(rng, T * rows, n, limit - room)
    top = 10 ** (limit - room)
    x, y = np.clip(x, -top, top), np.clip(y, -top, top)
    if isinstance(loss, Logistic):
        y = 1.0 * (y > np.median(y)) if rng.uniform() < 0.8 else rng.uniform(size=T)
    elif isinstance(loss, Tracking):
        x, y = None, x
    elif isinstance(loss, LinearMap):
        x, y = x.reshape(T, rows, n), y.reshape(T, rows)
    weight = {
        "none": None,
        "0 to 2": rng.uniform(0, 2, T),
        "0 or 1": 1.0 * (rng.uniform(size=T) < 0.7),
        "0 to 1e6": np.where(
            rng.uniform(size=T) < 0.2, 0, 10.0 ** rng.uniform(-6, 6, T)
        ),
    }[weights]
    gap = 10.0 ** rng.uniform(1, limit)
    elapsed = {
        "none": None,
        "0 to 3": rng.uniform(0, 3, T),
        "0 or 1": 1.0 * (rng.uniform(size=T) < 0.7),
        "long gaps": np.where(rng.uniform(size=T) < 0.1, gap, 1.0),
    }[times]
    columns = (x, y, weight, elapsed)
    return Block(*(None if c is None else c.astype(dtype) for c in columns))


def _inner_domain(learner):
    """The domain of the learner, of the one it starts in every round, or of those it
    mixes, which share it."""
    first = getattr(learner, "experts", (learner,))[0]
    return getattr(getattr(first, "expert", first), "domain", None)


def _forms(learner, loss, start):
    """The forms of calls that are possible, and the chance of each."""
    in_simplex = isinstance(_inner_domain(learner), Simplex)
    # ``Online`` starts from zero, in float64.
    is_double = start.dtype == np.float64
    online = is_double and isinstance(loss, LinearLoss) and not in_simplex
    odds = dict.fromkeys(FORMS, 1.0)
    if online:
        odds |= dict.fromkeys(ONLINE_FORMS, ONLINE_ODDS)
    chances = np.array(list(odds.values()))
    return tuple(odds), chances / chances.sum()


def _start(learner, n, dtype):
    in_simplex = isinstance(_inner_domain(learner), Simplex)
    return np.full(n, 1 / n if in_simplex else 0.0, dtype)


def _takes_targets(learner, loss, start):
    """Whether the learner plays points of shape (n, k)."""
    if not isinstance(loss, SquaredError):
        return False
    try:
        learner.init(start[:, None] + np.zeros(2, start.dtype))
    except InvalidParameterError:
        return False
    return True


def _with_targets(rng, start, block, targets):
    """The same rounds with several targets, the first of which is as before."""
    others = [rng.permutation(block.y) for _ in range(targets - 1)]
    y = np.stack([block.y, *others], axis=1)
    return np.zeros((len(start), targets), start.dtype), Block(
        block.x, y, block.weight, block.elapsed
    )
