"""Adaptive filters, in the manner of signal processing: signals in, y, e and w out."""

from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.learners import Learner, RecursiveLeastSquares
from thalweg.models.online import Online
from thalweg.types import FloatArray

DEFAULT_LEARNER = RecursiveLeastSquares(0.999, ridge=0.001)
"""λ as in pyroomacoustics; an initial inverse covariance of 1,000, as in MATLAB."""


class FilterOutput(NamedTuple):
    """The results of an adaptive filter for T samples, each before it was learnt."""

    y: FloatArray  # (T,) the output, which predicts d
    e: FloatArray  # (T,) the a priori error d - y
    w: FloatArray | None  # (T, taps) the coefficients that gave y, where recorded


class AdaptiveFilter:
    """An FIR (transversal) filter whose coefficients follow a desired signal d.

    Also known as: adaptive linear combiner; for system identification, echo and noise
    cancellation, equalisation, linear prediction.

    >>> adaptive = AdaptiveFilter(taps=4)
    >>> output = adaptive.run(d=[0.5, 1.0, 0.2], x=[1.0, 2.0, 0.4])
    >>> output.e.shape, output.w.shape
    ((3,), (3, 4))

    The output at sample t is w·(x_t, x_{t-1}, …), the last ``taps`` samples of the
    input signal x with the newest first (a tap-delay line); before its start it is
    zero. ``learner`` is any learner of squared error, by default recursive least
    squares with forgetting factor 0.999 and P⁻¹ = 1,000 I at the start; of a
    ``Tracker`` the output is not quite w·x. ``start`` is the first w, zeros by default.
    Signals are real. They may come in pieces or by single samples: the result is the
    same, to the last bit.
    """

    def __init__(
        self, taps: int, learner: Learner[Any] | None = None, start: Any = None
    ) -> None:
        if isinstance(taps, bool) or not isinstance(taps, int | np.integer) or taps < 1:
            raise InvalidParameterError(
                "The 'taps' parameter of AdaptiveFilter must be a whole number from 1 "
                f"on. Got {taps!r} instead."
            )
        self.model = _new_model(learner, start)
        self._line: FloatArray = np.zeros(taps)  # the last samples of x, newest first

    def __repr__(self) -> str:
        return f"AdaptiveFilter(taps={self.taps}, learner={self.model.learner!r})"

    @property
    def taps(self) -> int:
        """The number of coefficients."""
        return len(self._line)

    @property
    def w(self) -> FloatArray:
        """The coefficients now, (taps,), that of the newest sample first."""
        model = self.model
        if model.state is None:
            return np.zeros(self.taps) if model.start is None else model.start.copy()
        return np.asarray(model.coefficients)

    def predict(self, x: float) -> Any:
        """The output if ``x`` were the next sample; nothing is learnt or remembered."""
        return self.model.predict(self._line_after(x))

    def update(self, d: float, x: float) -> Any:
        """Take the next sample of both signals, learn, and return the output before."""
        line = self._line_after(x)
        y = self.model.predict(line)
        self.model.update(line, d)
        self._line = line
        return y

    def run(self, d: Any, x: Any, history: bool = True) -> FilterOutput:
        """Filter the signals d (T,) and x (T,), on from where the filter is.

        Without ``history`` the coefficients are not recorded, which for long signals
        take as much memory as the rows of the tap-delay line do. In pieces they need
        less.
        """
        signal = checks.check_numbers("input signal x", x)
        if signal.ndim != 1:
            raise StreamError(
                "An AdaptiveFilter has one input signal. Got x of shape "
                f"{signal.shape} instead."
            )
        rows = _embed_signal(self._line, signal)
        output = _run_model(self.model, d, rows, history)
        self._line = rows[-1].copy()
        return output

    def _line_after(self, x: float) -> FloatArray:
        line = np.empty(self.taps)
        line[0], line[1:] = x, self._line[:-1]
        return line


def adaptive_filter(
    d: Any, x: Any, taps: int | None = None, learner: Learner[Any] | None = None,
    history: bool = True,
) -> FilterOutput:  # fmt: skip
    """Output y, error e and coefficients w of an adaptive filter over whole signals.

    ``d`` (T,) is the desired signal, ``x`` (T,) the input; the filter uses its last
    ``taps`` samples, newest first. The order is that of padasip's ``run(d, x)``,
    MATLAB has (x, d). Or ``x`` is (T, n), rows of inputs as they are, without ``taps``.
    See ``AdaptiveFilter``, which goes on from sample to sample.
    """
    if taps is not None:
        return AdaptiveFilter(taps, learner).run(d, x, history)
    rows = checks.check_numbers("input x", x)
    if rows.ndim != 2:
        raise StreamError(
            "adaptive_filter needs 'taps', or rows x of shape (T, n). Got x of shape "
            f"{rows.shape} instead."
        )
    return _run_model(_new_model(learner, None), d, rows, history)


def _new_model(learner: Learner[Any] | None, start: Any) -> Online:
    learner = DEFAULT_LEARNER if learner is None else learner
    return Online(learner, intercept=False, start=start)


def _run_model(model: Online, d: Any, rows: FloatArray, history: bool) -> FilterOutput:
    desired = checks.check_numbers("desired signal d", d)
    trace = model.run(rows, desired, record=("theta",) if history else ())
    return FilterOutput(trace.prediction, desired - trace.prediction, trace.theta)


def _embed_signal(line: FloatArray, signal: FloatArray) -> FloatArray:
    """Rows (T, taps) of the tap-delay line after each sample, the newest sample first.

    ``line`` (taps,) is the line before the first sample of ``signal`` (T,), the newest
    first as well: zeros where nothing came before.
    """
    samples = np.concatenate([line[::-1], signal])
    windows: Any = np.lib.stride_tricks.sliding_window_view(samples, len(line))
    return np.ascontiguousarray(windows[1:, ::-1])
