"""The model of one key, and which row it has observed last."""

from typing import Any

import numpy as np

from thalweg.models.online import Online

OVERHEAD_BYTES = 4096
"""Memory of a model beside its arrays: objects, locks and names, about."""
NO_ROUND: tuple[int, Any, int] = (-1, None, 0)


class KeyedModel:
    """An ``Online`` with the last row that it has observed.

    Both change one after the other, and an interrupt may come in between. So the seq is
    noted in ``pending_seq`` before a row is learnt, and whoever needs ``last`` asks
    ``settle`` first, which sees by the model's count of rounds whether it was learnt.
    """

    __slots__ = (
        "bytes", "last", "online", "pending_prediction", "pending_seq", "shape",
    )  # fmt: skip

    def __init__(self, online: Online, last: tuple[int, Any, int] = NO_ROUND) -> None:
        self.online = online
        # The seq of the last row, the prediction made for it (a float, or an array of k
        # targets) and the model's rounds after it. A plain tuple: one is made a row.
        self.last = last
        self.pending_seq: int | None = None
        # Of a row that takes the checked path; else the buffer has it.
        self.pending_prediction: Any = None
        # As they were when last looked at, by ``measure``: the memory that is counted,
        # and how many features and targets a row has, None: not known yet.
        self.bytes = 0
        self.shape: tuple[int, ...] | None = None

    @property
    def seq(self) -> int:
        """The seq of the last row; -1 before the first."""
        return self.last[0]

    def settle(self) -> None:
        """Make good what an interrupt has left undone."""
        seq = self.pending_seq
        if seq is None:
            return
        rounds = self.online.rounds
        if rounds > self.last[2]:
            prediction = self.pending_prediction
            if prediction is None:
                buffer = self.online._live.live_buffer()
                assert buffer is not None  # only its kernel learns without
                prediction = buffer.last_prediction()
            self.last = (seq, prediction, rounds)
        self.pending_seq = None
        self.pending_prediction = None

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
        return OVERHEAD_BYTES + live.buffer.nbytes + _array_bytes(state)

    def measure(self) -> None:
        """Look at ``bytes`` and ``shape``, which only the checked path can change."""
        self.bytes, live = self.count_bytes(), self.online._live
        features, targets = live.count_features(), live.targets
        if features is None:
            return
        if live.live_buffer() is None:
            targets = sum(live.copy_state().theta.shape[1:])
        given = features - self.online.intercept
        self.shape = (given, targets) if targets else (given,)


def _array_bytes(tree: Any) -> int:
    if isinstance(tree, np.ndarray):
        return tree.nbytes
    return sum(map(_array_bytes, tree)) if isinstance(tree, tuple) else 0
