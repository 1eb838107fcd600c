"""Threads of numerical libraries: one is enough for the small matrices of a stream."""

import os
import sys

VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What OpenBLAS and MKL read when they are loaded, with NumPy and SciPy."""


def use_one_thread() -> None:
    """Let linear algebra run in one thread, unless the user has said how many.

    Its other threads wait actively for the next product, which costs more processor
    time than the product: of ``thalweg compare`` two thirds on two cores, and more on
    more. Has no effect, and changes nothing, once NumPy is loaded.
    """
    if "numpy" not in sys.modules:
        for name in VARIABLES:
            os.environ.setdefault(name, "1")
