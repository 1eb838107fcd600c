"""Tap-delay lines: a signal as rows of its last samples."""

from typing import Any

import numpy as np

from thalweg.types import FloatArray


def embed_signal(line: FloatArray, signal: FloatArray) -> FloatArray:
    """Rows (T, taps) of the tap-delay line after each sample, the newest sample first.

    ``line`` (taps,) is the line before the first sample of ``signal`` (T,), the newest
    first as well: zeros where nothing came before.
    """
    samples = np.concatenate([line[::-1], signal])
    windows: Any = np.lib.stride_tricks.sliding_window_view(samples, len(line))
    return np.ascontiguousarray(windows[1:, ::-1])
