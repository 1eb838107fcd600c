"""A damaged file of waiting rows is refused, and the message names the field."""

import json

import numpy as np
import pytest

import thalweg as tw
from tests.models.test_model_file_damage import load_with, replace_field
from tests.persistence.mutations import HOSTILE_VALUES, sign_file, split_file
from thalweg import persistence
from thalweg.errors import PersistenceError, ThalwegError

RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(12, 3)), RNG.normal(size=12)
LEARNERS = {"rls": tw.RecursiveLeastSquares(0.9), "delay": tw.Tracker(delay=3)}


def array(*values, dtype="<f8"):
    return np.array(values, dtype)


def train_model(learner):
    """Rows 0 to 9 were asked for; 6 to 9 wait, and the label of 7 is given up."""
    model = tw.Online(learner)
    for t in range(10):
        model.ask(X[t])
    for t in range(6):
        model.tell(Y[t])
    model.tell(None, 7)
    return model


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files of two models with rows that wait: 6, 8 and 9."""
    loaded = {}
    for name, learner in LEARNERS.items():
        path = tmp_path_factory.mktemp("whole") / "m.thalweg"
        train_model(learner).save(path)
        loaded[name] = persistence.load(path)
    return loaded


# Of least squares three rows are in the file, of the Tracker 6 to 9.
WRONG = {
    "rls": {
        "max_waiting": [0, -1, 1.5, None, True],
        "waiting": [1, "x", (), array(1.0)],
        "waiting.keys": [
            (), (6, 8), (6, 8, 8), (6, 8, 1.5), (6, 8, None), (6, 8, True), None, 6,
        ],
        "waiting.numbers": [
            array(6, 8), array(6, 8, 10), array(8, 6, 9), array(6, 8, 8.5),
            array(-1, 8, 9), array(6, 8, np.nan), None, (6, 8, 9),
        ],
        "waiting.x": [
            X[:2], X[:3, :2], np.full((3, 3), np.nan), np.full((3, 3), 1e200), X[0],
        ],
        "waiting.is_waiting": [array(1, 1, 0), array(1, 1), array(1, 1, 2)],
        "waiting.labels": [
            array(np.nan, np.nan), array(np.nan, 1.0, np.nan), np.float64(1.0),
            array(np.nan, np.inf, np.nan), np.full((3, 1, 1), np.nan),
        ],
        "waiting.weights": [array(0, 0), array(0, -1, 0), array(0, np.nan, 0)],
        "waiting.next_number": [11, -1, 1.0],
        "waiting.given_up": [8, -1, None],
        "waiting.lost_keys": [(7, 7), (1.5,), None, tuple(range(2000))],
        "waiting.waited": [-1.0, np.nan, np.inf, 1, None],
    },
    "delay": {
        "waiting.numbers": [array(5, 6, 7, 8), array(5, 7, 8, 9), array(6, 7, 8, 8)],
        "waiting.is_waiting": [array(1, 2, 1, 1), array(1, 0, 1)],
        "waiting.labels": [
            array(1, np.nan, np.nan, np.nan), array(np.nan, 1e200, np.nan, np.nan),
            np.array([[np.nan] * 2, [1.0] * 2, [np.nan] * 2, [np.nan] * 2]),
        ],
        "waiting.next_number": [5, 10, 4],
        "waiting.asked": [9, 11],
    },
}  # fmt: skip
CASES = [
    (learner, name, value)
    for learner, fields in WRONG.items()
    for name, values in fields.items()
    for value in values
]


@pytest.mark.parametrize("learner, name, value", CASES)
def test_a_wrong_value_is_refused_by_the_name_of_a_field(
    tmp_path, files, learner, name, value
):
    words = r"m\.thalweg cannot be loaded: its '(waiting|max_waiting).*Got .* instead\."
    with pytest.raises(PersistenceError, match=f"(?s){words}"):
        load_with(tmp_path, replace_field(files[learner], name, value))


def test_a_weight_and_a_label_must_be_legal_together(tmp_path, files):
    changed = replace_field(
        files["delay"], "waiting.labels", array(*[np.nan] * 3, 1e149)
    )
    changed = replace_field(changed, "waiting.is_waiting", array(1, 0, 1, 0))
    assert load_with(tmp_path, changed).waiting == (6, 8)
    changed = replace_field(changed, "waiting.weights", array(0, 0, 0, 1e100))
    with pytest.raises(PersistenceError, match=r"its 'waiting\.weights' must be"):
        load_with(tmp_path, changed)


@pytest.mark.parametrize("learner", LEARNERS)
def test_hostile_values_are_refused_or_the_model_can_be_used(tmp_path, files, learner):
    path = tmp_path / "m.thalweg"
    header, arrays = split_file(persistence.dumps(files[learner]))
    for name in ("max_waiting", "waiting", *files[learner].extra["waiting"]):
        for value in HOSTILE_VALUES:
            tree = json.loads(header)
            is_nested = name in tree["extra"]["waiting"]["record"]
            at = tree["extra"]["waiting"]["record"] if is_nested else tree["extra"]
            at[name] = value
            path.write_bytes(sign_file(tree, arrays))
            try:
                model = tw.Online.load(path)
            except PersistenceError as error:
                assert "m.thalweg" in str(error)
                continue
            use_model(model)
            model.save(path)


def use_model(model):
    for t in range(4):
        try:
            model.ask(X[t], key=f"later {t}")
            for key in model.waiting[:2]:
                model.tell(Y[t], key)
        except ThalwegError:
            continue
        assert np.isfinite(model.predict(X[t]))


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_file_from_before_rows_could_wait_goes_on(tmp_path, files, learner):
    saved = files[learner]
    extra = {
        k: v for k, v in saved.extra.items() if k not in ("waiting", "max_waiting")
    }
    model = load_with(tmp_path, saved._replace(extra=extra))
    assert model.waiting == () and model.max_waiting == 1024
    assert model.predict(X[10]) == train_model(saved.learner).predict(X[10])


def test_a_model_of_which_no_row_was_asked_for_has_none_in_its_file(tmp_path):
    model = tw.Online(tw.RecursiveLeastSquares(0.9))
    model.update(X[0], Y[0])
    model.save(tmp_path / "m.thalweg")
    assert persistence.load(tmp_path / "m.thalweg").extra["waiting"] is None
