"""Values from the whole range of their types, for tests of what is accepted."""

import numpy as np
from hypothesis import strategies as st

SEQS = st.one_of(
    st.integers(0, 2**63 - 1),
    st.sampled_from([0, 1, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1]),
    st.builds(np.int64, st.integers(0, 2**63 - 1)),
    st.builds(np.uint64, st.integers(0, 2**64 - 1)),
    st.builds(np.int8, st.integers(0, 127)),
)
NUMBERS = st.one_of(
    st.floats(),
    st.sampled_from([-0.0, 1e150, -1e150, 1e-320, 2**53 + 1, True]),
    st.builds(np.float32, st.floats(width=32)),
    st.builds(np.int64, st.integers(-(2**63), 2**63 - 1)),
    st.builds(np.uint8, st.integers(0, 255)),
)
# Surrogates and NUL are characters like any other here.
TEXTS = st.text(st.characters(codec=None), max_size=3)
TEXTS |= TEXTS.map(np.str_)
CELLS = st.one_of(NUMBERS, TEXTS, st.none())
SIZES = st.sampled_from([0, 0, 1, 2, 256])
VECTORS = SIZES.flatmap(
    lambda size: st.lists(NUMBERS, min_size=min(size, 4), max_size=min(size, 4)).map(
        lambda cells: np.resize(np.array(cells, np.float64), size)
    )
)
ROWS = st.one_of(VECTORS, VECTORS.map(list), st.dictionaries(TEXTS, CELLS, max_size=3))
KEYS = st.one_of(st.sampled_from(["a", "b"]), TEXTS)


def bits(value):
    """The bytes of a prediction, which tell 0.0 from -0.0 and NaN from NaN."""
    return None if value is None else np.float64(value).tobytes()
