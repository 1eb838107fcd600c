"""The model of one key, and which row it has observed last."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.learners.base import LiveBatch
from thalweg.models.online import Online

OVERHEAD_BYTES = 4096
"""Memory of a model beside its arrays: objects, locks and names, about."""
NO_ROUND: tuple[int, Any, int] = (-1, None, 0)


class KeyedModel:
    """An ``Online`` with the last row that it has observed.

    Both change one after the other, and an interrupt may come in between. So the seqs
    of rows are noted in ``pending`` before they are learnt, and whoever needs ``last``
    asks ``settle`` first, which sees by the model's count of rounds which were learnt.
    """

    __slots__ = (
        "address", "batch", "bytes", "last", "online", "pending",
        "pending_prediction", "shape",
    )  # fmt: skip

    def __init__(self, online: Online, last: tuple[int, Any, int] = NO_ROUND) -> None:
        self.online = online
        # The seq of the last row, the prediction made for it (a float, or an array of k
        # targets) and the model's rounds after it. A plain tuple: one is made a row.
        self.last = last
        # Seqs, and where among them those of this model's next rows begin.
        self.pending: tuple[Sequence[int], int] | None = None
        # Of a row that takes the checked path; else the buffer has it.
        self.pending_prediction: Any = None
        # As they were when last looked at, by ``measure``: the memory that is counted,
        # and how many features and targets a row has, None: not known yet.
        self.bytes = 0
        self.shape: tuple[int, ...] | None = None
        # Of a model that is its live buffer and nothing else: the kernels that take
        # many such, and where it is. To go through all objects of a model, of which
        # thousands are in no cache, takes longer than a round of RLS.
        self.batch: LiveBatch | None = None
        self.address = 0

    @property
    def seq(self) -> int:
        """The seq of the last row; -1 before the first."""
        return self.last[0]

    def settle(self) -> None:
        """Make good what an interrupt has left undone."""
        if self.pending is None:
            return
        rounds = self.online.rounds
        learnt = rounds - self.last[2]
        if learnt > 0:
            seqs, start = self.pending
            prediction = self.pending_prediction
            if prediction is None:
                buffer = self.online._live.live_buffer()
                assert buffer is not None  # only its kernel learns without
                prediction = buffer.last_prediction()
            self.last = (seqs[start + learnt - 1], prediction, rounds)
        self.pending = None
        self.pending_prediction = None

    def forget_address(self) -> None:
        """The live buffer may be replaced; ``measure`` looks where the new one is."""
        # An interrupt may come in between: where there is an address, there are
        # kernels for it.
        self.address = 0
        self.batch = None

    def copy(self) -> "KeyedModel":
        """A model that goes on from here by itself."""
        self.settle()
        return KeyedModel(self.online.clone(), self.last)

    def copy_prediction(self) -> Any:
        """The prediction for the last row, which the caller may change."""
        prediction = self.last[1]
        is_array = isinstance(prediction, np.ndarray)
        return prediction.copy() if is_array else prediction

    def count_bytes(self) -> int:
        """Memory that the model takes, about."""
        live = self.online._live
        state = None if live.live_buffer() is not None else live.copy_state()
        return OVERHEAD_BYTES + live.buffer.nbytes + count_array_bytes(state)

    def measure(self) -> None:
        """Look at what only the checked path can change."""
        self.bytes, live = self.count_bytes(), self.online._live
        buffer = live.batch_buffer()
        if buffer is not None and type(self.last[1]) is float:
            self.batch = buffer.batch
            self.address = buffer.address
        features, targets = live.count_features(), live.targets
        if features is None:
            return
        if live.live_buffer() is None:
            targets = sum(live.copy_state().theta.shape[1:])
        given = features - self.online.intercept
        self.shape = (given, targets) if targets else (given,)


def count_array_bytes(tree: Any) -> int:
    """The bytes of all arrays in nested tuples."""
    if isinstance(tree, np.ndarray):
        return tree.nbytes
    return sum(map(count_array_bytes, tree)) if isinstance(tree, tuple) else 0
