"""A wrong file is refused with its name, what is wrong and what to do."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.persistence.examples import train_model
from tests.persistence.mutations import DEEP_LIST, sign_file, split_file
from thalweg.domains import Box
from thalweg.errors import PersistenceError
from thalweg.learners import DiscountedGradient, RecursiveLeastSquares
from thalweg.losses import Huber, SquaredError
from thalweg.persistence import SavedModel, dumps, load, loads
from thalweg.persistence import format as file_format

GOLDEN = Path(__file__).with_name("format-1.thalweg")
SOUND = dumps(train_model(RecursiveLeastSquares(), SquaredError()))
HEADER, ARRAYS = split_file(SOUND)


def patch(old, new):
    assert old in HEADER
    return sign_file(HEADER.replace(old, new, 1), ARRAYS)


def edit(**parts):
    return sign_file({**json.loads(HEADER), **parts}, ARRAYS)


WRONG = {
    "empty": (b"", "no thalweg model"),
    "another format": (b"PK\3\4" + bytes(99), "no thalweg model"),
    "pickle": (b"\x80\x04cos\nsystem\n", "no thalweg model"),
    "cut at once": (SOUND[:20], "cut off after 20 bytes. Restore it"),
    "cut later": (SOUND[:-1], "bytes and has .* Restore it from a copy"),
    "longer": (SOUND + b"\0", "bytes and has"),
    "a bit": (SOUND[:99] + b"~" + SOUND[100:], "checksum is wrong. Restore it"),
    "from the future": (
        sign_file(HEADER, ARRAYS, version=2), "version 2, .* version 1. Load it with",
    ),
    "declared huge": (
        sign_file(HEADER, ARRAYS, sizes=(9, 2**63)), "should have 92233720",
    ),
    "no JSON": (sign_file(b"{", ARRAYS), "no JSON"),
    "deep JSON": (sign_file(b"[" * 100_000, ARRAYS), "no JSON"),
    "not an object": (sign_file(b"[]", ARRAYS), "does not hold thalweg, learner, loss"),
    "other names": (sign_file(b"{}", ARRAYS), "does not hold thalweg, learner, loss"),
    "deep": (edit(extra={"it": DEEP_LIST}), "nested deeper than 32"),
    "no extra": (edit(extra=3), "has no names"),
    "a class": (patch(b"SquaredError", b"os.system"), "no class called 'os.system'"),
    "a state": (patch(b"RLSState", b"Popen"), "no class called 'Popen'"),
    "user code": (patch(b"SquaredError", b"Functions"), "no class called 'Fun"),
    "a setting": (patch(b'"discount":0.99', b'"discount":2'), r"in \(0, 1\]. Got 2"),
    "a word": (patch(b'"leaky":false', b'"leaky":"no"'), "refuses: The 'leaky'"),
    "a name": (patch(b'"discount"', b'"lambda"'), "other fields in this version"),
    "no fields": (edit(state={"state": "RLSState"}), "without its fields"),
    "a field": (patch(b'"factor"', b'"matrix"'), "other fields in this version"),
    "a dtype": (patch(b'"<f8"', b'"|O8"'), "describes no array"),
    "a shape": (patch(b"[3]", b"[9]"), "outside its place"),
    "an offset": (patch(b'"offset":24', b'"offset":0'), "outside its place"),
    "integers": (patch(b'"<f8"', b'"<i8"'), "a θ that is no point"),
    "too many bytes": (sign_file(HEADER, ARRAYS + bytes(8)), "belong to no array"),
    "no learner": (edit(learner=None), "something else"),
    "another learner": (
        edit(learner={"class": "LastValue", "settings": {}}), "of type RLSState",
    ),
    "another loss": (
        patch(b"SquaredError", b"Tracking"), "learns from SquaredError. Got Tracking",
    ),
    "NaN": (patch(b"0.99", b"NaN"), "too large|in "),
    "infinity": (patch(b"0.99", b"1e999"), "too large"),
    "a long integer": (patch(b"0.99", b"9" * 30), "64 bits"),
    "a longer integer": (patch(b"0.99", b"9" * 9999), "no JSON|64 bits"),
}  # fmt: skip


@pytest.mark.parametrize("data, words", WRONG.values(), ids=WRONG)
def test_the_message_says_what_is_wrong(tmp_path, data, words):
    path = tmp_path / "m.thalweg"
    path.write_bytes(data)
    with pytest.raises(PersistenceError, match=rf"(?s)m\.thalweg cannot .*({words})"):
        load(path)


def test_a_setting_that_came_later_takes_its_default():
    header = json.loads(HEADER)
    del header["learner"]["settings"]["floor"]
    loaded = loads(sign_file(header, ARRAYS))
    assert loaded.learner == RecursiveLeastSquares(floor=None)


GOLDEN_LEARNER = DiscountedGradient(
    0.9, "smooth", 1.0, 2.5, Box([-1.0, -np.inf, 0.25], [1.0, 0.5, 2.0])
)


def golden():
    """The model that format-1.thalweg holds, made again."""
    theta, discounted_count = np.array([0.1, -0.2, 0.3]), 8.995737794157709
    state = GOLDEN_LEARNER.init(theta)._replace(discounted_count=discounted_count)
    extra = {"rounds": 30, "intercept": True, "limit": float("inf")}
    return SavedModel(GOLDEN_LEARNER, Huber(0.5, 0.1), state, extra)


def test_the_golden_file_of_format_1_loads():
    loaded, made = load(GOLDEN), golden()
    assert loaded.learner == made.learner and loaded.loss == made.loss
    assert loaded.state.theta.tobytes() == made.state.theta.tobytes()
    assert (loaded.state.discounted_count, loaded.extra) == (
        made.state.discounted_count,
        made.extra,
    )


def test_a_header_may_be_as_long_as_the_limit_and_no_longer(monkeypatch):
    model = loads(SOUND)
    monkeypatch.setattr(file_format, "MAX_HEADER_BYTES", len(HEADER))
    assert dumps(model) == SOUND and loads(SOUND).learner == model.learner
    monkeypatch.setattr(file_format, "MAX_HEADER_BYTES", len(HEADER) - 1)
    with pytest.raises(PersistenceError, match=f"header of {len(HEADER)} bytes"):
        dumps(model)
    with pytest.raises(PersistenceError, match=f"header of {len(HEADER)} bytes"):
        loads(SOUND)
