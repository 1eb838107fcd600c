"""A file that is no whole model is refused, with what is wrong by its name."""

import json

import numpy as np
import pytest

import thalweg as tw
from tests.models.test_saved import X, Y, play
from tests.persistence.mutations import HOSTILE, opened, signed
from thalweg import persistence
from thalweg.errors import PersistenceError


def test_a_file_of_a_learner_alone_is_no_online(tmp_path):
    saved = persistence.Saved(tw.RecursiveLeastSquares(), tw.SquaredError(), None)
    persistence.save(tmp_path / "m.thalweg", saved)
    with pytest.raises(PersistenceError, match=r"m\.thalweg holds a learner, but no"):
        tw.Online.load(tmp_path / "m.thalweg")


def array(*values, dtype="<f8"):
    return np.array(values, dtype)


WRONG = {
    "intercept": [1, None, "True", array(1.0), np.True_],
    "rounds": [-1, 20.0, True, None, "20", np.int64(20)],
    "missing": ["drop", None, 0, True, ("skip",)],
    "refusals": [-1, 1.0, None, False, np.nan],
    "quiet": [
        None, 0.0, (0, 0, 0, 0), array(0, 0, 0), array(0, 0, 0, 0, dtype="<i8"),
        np.zeros((4, 1)), array(0, np.nan, 0, 0), array(0, -1, 0, 0),
        array(0, 0.5, 0, 0), array(0, 21, 0, 0), array(0, np.inf, 0, 0),
    ],
    "skipped": [-1, 21, 1.0, None],
    "imputed": [-1, 81, True, "3"],
    "sums": [0.0, None, array(1, 2, 3), array(0, 0, 0, np.nan), array(0, 0, 0, np.inf)],
    "counts": [0.0, array(-1, 0, 0, 0), array(0, 0, 0, np.nan), array(0, 0, 0, 20.5)],
    "waited": [-1.0, np.nan, np.inf, 1, None, array(1.0), np.float64(1.0)],
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What is saved of a model that fills gaps."""
    model = tw.Online(tw.RecursiveLeastSquares(), missing="impute")
    model.run(X[:20], Y[:20])
    path = tmp_path_factory.mktemp("whole") / "m.thalweg"
    model.save(path)
    return persistence.load(path)


def load_with(folder, saved):
    persistence.save(folder / "m.thalweg", saved)
    return tw.Online.load(folder / "m.thalweg")


@pytest.mark.parametrize(
    "name, value", [(name, value) for name in WRONG for value in WRONG[name]]
)
def test_what_is_wrong_is_refused_by_name(tmp_path, whole, name, value):
    changed = whole._replace(extra={**whole.extra, name: value})
    words = rf"m\.thalweg cannot be loaded: its '{name}' must be .* Got .* instead\."
    with pytest.raises(PersistenceError, match=f"(?s){words}"):
        load_with(tmp_path, changed)


def test_what_a_message_says(tmp_path, whole):
    changed = whole._replace(extra={**whole.extra, "quiet": array(0, 0, 30, 0)})
    with pytest.raises(PersistenceError, match="must be whole numbers from 0 to 20"):
        load_with(tmp_path, changed)
    changed = whole._replace(extra={**whole.extra, "sums": np.zeros(3)})
    with pytest.raises(PersistenceError, match="must be 4 finite numbers, of float64"):
        load_with(tmp_path, changed)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_lost_is_missed_by_name(tmp_path, whole, name):
    extra = {key: value for key, value in whole.extra.items() if key != name}
    words = f"comes without '{name}'|holds a learner, but no Online"
    with pytest.raises(PersistenceError, match=words):
        load_with(tmp_path, whole._replace(extra=extra))


@pytest.mark.parametrize(
    "name, value",
    [("rounds", 1), ("quiet", np.zeros(4)), ("sums", 1.0), ("counts", None)],
)
def test_before_the_first_round_nothing_is_counted(tmp_path, name, value):
    path = tmp_path / "m.thalweg"
    tw.Online(missing="skip").save(path)
    saved = persistence.load(path)
    with pytest.raises(PersistenceError, match=f"its '{name}' must be .*0"):
        load_with(tmp_path, saved._replace(extra={**saved.extra, name: value}))


@pytest.mark.parametrize("name", WRONG)
def test_values_of_any_kind_are_refused_or_played(tmp_path, whole, name):
    path = tmp_path / "m.thalweg"
    header, arrays = opened(persistence.dumps(whole))
    for value in HOSTILE:
        tree = json.loads(header)
        tree["extra"][name] = value
        path.write_bytes(signed(tree, arrays))
        try:
            model = tw.Online.load(path)
        except PersistenceError as error:
            assert "m.thalweg" in str(error)
            continue
        play(model, [0, [21, 22], 30], 1.0)
        model.health()
        model.save(path)
