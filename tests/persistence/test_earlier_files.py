"""Files that earlier versions saved load and go on as they would have, or are refused.

They go on to the last bit, but for learners whose arithmetic has changed since.

``earlier/*.thalweg`` were written by the last version before layouts had numbers:
twelve rounds of every learner there was then, by its name then, and in ``extra`` four
more rounds with the predictions that it made of them.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import thalweg as tw
from tests.persistence.mutations import sign_file, split_file
from thalweg import persistence
from thalweg.errors import PersistenceError
from thalweg.learners.rls import RLSState
from thalweg.persistence.registry import LEARNERS, RENAMED_CLASSES

MAX_ERROR = {
    # LAPACK, with which a window is solved, rounds in its own way in each version.
    "SlidingWindow": 1e-14,
    # Since then a kernel projects Newton's steps into a ball, and another one adds up
    # the experts, each in its own order.
    "DiscountedNewton": 1e-14,
    "FollowTheLeadingHistory": 1e-13,
    "Ader": 1e-14,
}
FILES = sorted((Path(__file__).parent / "earlier").glob("*.thalweg"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_file_of_an_earlier_version_goes_on_or_is_refused_with_a_sentence(path):
    name = RENAMED_CLASSES.get(path.stem, path.stem)
    try:
        learner, loss, state, extra = persistence.load(path)
    except PersistenceError as error:
        assert "was saved with layout 1 of" in str(error)
        return
    assert type(learner) is LEARNERS[name]
    block = tw.Block(extra["x"], extra["y"])
    _, trace = learner.run(state, loss, block)
    rtol = MAX_ERROR.get(name, 0)
    np.testing.assert_allclose(trace.prediction, extra["prediction"], rtol, atol=0)


def test_every_learner_of_the_earlier_version_has_a_file():
    names = {RENAMED_CLASSES.get(path.stem, path.stem) for path in FILES}
    assert len(FILES) == 17 and names <= set(LEARNERS)


def test_settings_that_were_renamed_keep_their_values():
    path = next(path for path in FILES if path.stem == "RecursiveLeastSquares")
    assert b'"pull":true' in path.read_bytes()
    assert persistence.load(path).learner.leaky is True


def test_fields_of_states_that_were_renamed_keep_their_values():
    path = next(path for path in FILES if path.stem == "DiscountedGradient")
    assert b'"mass":' in path.read_bytes()
    state = persistence.load(path).state
    assert state.discounted_count > 1
    renamed = persistence.dumps(persistence.load(path))
    assert b'"discounted_count":' in renamed and b'"mass":' not in renamed


@pytest.fixture
def saved():
    learner = tw.RecursiveLeastSquares()
    state = learner.init(np.zeros(2))
    return persistence.SavedModel(learner, tw.SquaredError(), state)


def test_the_layout_of_a_state_is_saved_with_it(saved, monkeypatch):
    monkeypatch.setattr(RLSState, "layout_version", 3, raising=False)
    data = persistence.dumps(saved)
    assert json.loads(split_file(data)[0])["state"]["layout"] == 3
    assert persistence.loads(data).state.factor.shape == (5, 2)


@pytest.mark.parametrize("layout", [None, 1, 4, 0, -1, True, 3.0, "3", [3]])
def test_a_state_of_another_layout_is_refused_by_name(saved, monkeypatch, layout):
    """A file that says nothing of its layout has layout 1."""
    monkeypatch.setattr(RLSState, "layout_version", 3, raising=False)
    header, arrays = split_file(persistence.dumps(saved))
    tree = json.loads(header)
    del tree["state"]["layout"]
    if layout is not None:
        tree["state"]["layout"] = layout
    with pytest.raises(PersistenceError, match=r"of RLSState; .* reads layout 3: "):
        persistence.loads(sign_file(tree, arrays))


def test_a_state_without_a_layout_of_its_own_refuses_any_but_the_first(saved):
    header, arrays = split_file(persistence.dumps(saved))
    tree = json.loads(header)
    current = getattr(RLSState, "layout_version", 1)
    tree["state"]["layout"] = current + 1
    words = rf"was saved with layout {current + 1} of RLSState"
    with pytest.raises(PersistenceError, match=words):
        persistence.loads(sign_file(tree, arrays))
