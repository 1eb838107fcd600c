"""The Tracker's sibling for labels 0 and 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are first used

from thalweg import checks
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.logistic_tracker import odds
from thalweg.learners.base import Learner
from thalweg.losses import Logistic, Loss, Round
from thalweg.types import Block, FloatArray, Trace

MEMORIES = (np.inf, 4096.0, 1024.0, 512.0, 256.0, 128.0, 64.0, 32.0, 16.0)
RIDGES = (1.0, 0.1)
RATES = (0.03, 0.1, 0.3)
NOTHING = np.empty(0)


class OddsState(NamedTuple):
    """What the odds tracker remembers."""

    theta: FloatArray  # (n,) the start, of which only size and dtype are used
    points: FloatArray  # (K, n+1) the experts' coefficients, features standardised
    factors: FloatArray  # (N, n+4, n+1) of those with a matrix: kernels/ud_factor.py
    weights: FloatArray  # (K,) how much each is listened to
    scale: FloatArray  # (3, n) rounds seen, mean and summed squares of features


@dataclass(frozen=True)
class OddsTracker(Learner[OddsState]):
    r"""Probabilities of 0/1 labels, with no discount, step size or scale to choose.

    .. math:: \hat p_t = \sum_k w_{t,k} \sigma(z_t \cdot \theta_{t,k}), \qquad
              w_{t+1,k} = (1 - \tfrac1{t+1}) \frac{w_{t,k}\, p_{t,k}(y_t)}
              {\sum_j w_{t,j}\, p_{t,j}(y_t)} + \frac1{(t+1)K}

    18 experts take discounted Newton steps on the logistic loss of standardised
    features z, with memories of 16 rounds to all and two ridges, three take constant
    gradient steps; the mixture is Bayes' rule with a share. Log loss is mixable at rate
    1, so that from round a to b, with weights of at most 1, it loses at most
    ln(aK) + 1 + ln(b/a) to any expert.
    ``certainty`` in (0, ½) keeps experts from saying 0 or 1. The prediction is the
    log-odds, as for ``Logistic``.
    """

    accepts: ClassVar = (Logistic,)
    plays_points: ClassVar[bool] = False
    certainty: float = 1e-3

    def __post_init__(self) -> None:
        checks.in_interval(self, "certainty", "(0, 0.5)")

    def init(self, theta: Any) -> OddsState:
        theta = checks.start(self, theta, ndim=(1,))
        n = len(theta)
        start = np.zeros(n + 1)
        banks = [factors.prior(ridge, start) for _ in MEMORIES for ridge in RIDGES]
        count = len(banks) + len(RATES)
        weights, points = np.full(count, 1 / count), np.zeros((count, n + 1))
        return OddsState(theta, points, np.array(banks), weights, np.zeros((3, n)))

    def predict(self, state: OddsState, x: Any = None) -> Any:
        row = checks.features(x, state.theta).astype(np.float64)[None]
        _, said = self._rounds(state, row, NOTHING, NOTHING, NOTHING)
        return self._log_odds(said, state)[0]

    def update(self, state: OddsState, f: Round) -> OddsState:
        parts = (f.x, f.y, f.weight, f.elapsed)
        one = (np.array([part], np.float64) for part in parts)
        return self._rounds(state, *one)[0]

    def _play(
        self, state: OddsState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[OddsState, Trace]:
        parts = (block.x, block.y, block.weight, block.elapsed)
        given = (NOTHING if p is None else np.asarray(p, np.float64) for p in parts)
        after, said = self._rounds(state, *given)
        out = self._log_odds(said, state)
        incurred = np.asarray(loss.at_prediction(out, block.y) * block.weights)
        theta = np.tile(state.theta, (len(block), 1)) if "theta" in record else None
        return after, Trace(out, incurred.astype(out.dtype), theta)

    def _log_odds(self, said: FloatArray, state: OddsState) -> FloatArray:
        return np.asarray(scipy.special.logit(said), state.theta.dtype)

    def _rounds(
        self, state: OddsState, x: FloatArray, y: FloatArray, weight: FloatArray,
        elapsed: FloatArray,
    ) -> tuple[OddsState, FloatArray]:  # fmt: skip
        now = OddsState(state.theta, *(part.copy() for part in state[1:]))
        gamma = np.repeat(1 - 1 / np.array(MEMORIES), len(RIDGES))
        out = np.empty(len(x))
        rates = np.array(RATES)
        odds(*now[1:], gamma, rates, self.certainty, x, y, weight, elapsed, out)
        return now, out

    @classmethod
    def example(cls) -> tuple["OddsTracker", Loss]:
        return cls(), Logistic()
