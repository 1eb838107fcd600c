"""A damaged file of ``Online`` is refused, and the message names the field."""

import copy
import json

import numpy as np
import pytest

import thalweg as tw
from tests.models.test_model_file import X, Y, play
from tests.persistence.mutations import HOSTILE_VALUES, sign_file, split_file
from thalweg import persistence
from thalweg.errors import PersistenceError


def test_a_file_of_a_learner_alone_is_no_online(tmp_path):
    saved = persistence.SavedModel(tw.RecursiveLeastSquares(), tw.SquaredError(), None)
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
    "unexcited_rounds": [
        None, 0.0, (0, 0, 0, 0), array(0, 0, 0), array(0, 0, 0, 0, dtype="<i8"),
        np.zeros((4, 1)), array(0, np.nan, 0, 0), array(0, -1, 0, 0),
        array(0, 0.5, 0, 0), array(0, 21, 0, 0), array(0, np.inf, 0, 0),
    ],
    "imputer.skipped": [-1, 21, 1.0, None],
    "imputer.imputed": [-1, 81, True, "3"],
    "imputer.sums": [
        0.0, None, array(1, 2, 3), array(0, 0, 0, np.nan), array(0, 0, 0, np.inf),
    ],
    "imputer.counts": [
        0.0, array(-1, 0, 0, 0), array(0, 0, 0, np.nan), array(0, 0, 0, 20.5),
    ],
    "imputer.waited": [-1.0, np.nan, np.inf, 1, None, array(1.0), np.float64(1.0)],
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The file of a model that imputes missing values."""
    model = tw.Online(tw.RecursiveLeastSquares(), missing="impute")
    model.run(X[:20], Y[:20])
    path = tmp_path_factory.mktemp("whole") / "m.thalweg"
    model.save(path)
    return persistence.load(path)


def replace_field(saved, name, value):
    """The file with one value in its ``extra`` replaced; ``imputer.sums`` is nested."""
    outer, _, inner = name.partition(".")
    if inner:
        value = {**saved.extra[outer], inner: value}
    return saved._replace(extra={**saved.extra, outer: value})


def load_with(folder, saved):
    persistence.save(folder / "m.thalweg", saved)
    return tw.Online.load(folder / "m.thalweg")


@pytest.mark.parametrize(
    "name, value", [(name, value) for name in WRONG for value in WRONG[name]]
)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(
    tmp_path, whole, name, value
):
    words = rf"m\.thalweg cannot be loaded: its '{name}' must be .* Got .* instead\."
    with pytest.raises(PersistenceError, match=f"(?s){words}"):
        load_with(tmp_path, replace_field(whole, name, value))


def test_the_message_states_the_rule(tmp_path, whole):
    longer = replace_field(whole, "unexcited_rounds", array(0, 0, 30, 0))
    with pytest.raises(PersistenceError, match="must be whole numbers from 0 to 20"):
        load_with(tmp_path, longer)
    short = replace_field(whole, "imputer.sums", np.zeros(3))
    with pytest.raises(PersistenceError, match="must be 4 finite numbers, of float64"):
        load_with(tmp_path, short)


@pytest.mark.parametrize("name", WRONG)
def test_a_missing_field_is_named(tmp_path, whole, name):
    extra = copy.deepcopy(dict(whole.extra))
    outer, _, inner = name.partition(".")
    del (extra[outer] if inner else extra)[inner or outer]
    words = f"comes without '{name}'|holds a learner, but no Online"
    with pytest.raises(PersistenceError, match=words):
        load_with(tmp_path, whole._replace(extra=extra))


@pytest.mark.parametrize(
    "name, value",
    [
        ("rounds", 1), ("unexcited_rounds", np.zeros(4)), ("imputer.sums", 1.0),
        ("imputer.counts", None),
    ],
)  # fmt: skip
def test_a_model_before_its_first_round_must_have_no_counts(tmp_path, name, value):
    path = tmp_path / "m.thalweg"
    tw.Online(missing="skip").save(path)
    saved = persistence.load(path)
    with pytest.raises(PersistenceError, match=f"its '{name}' must be .*0"):
        load_with(tmp_path, replace_field(saved, name, value))


@pytest.mark.parametrize("name", WRONG)
def test_hostile_values_are_refused_or_the_model_can_be_used(tmp_path, whole, name):
    path = tmp_path / "m.thalweg"
    header, arrays = split_file(persistence.dumps(whole))
    for value in HOSTILE_VALUES:
        tree = json.loads(header)
        outer, _, inner = name.partition(".")
        at = tree["extra"][outer]["record"] if inner else tree["extra"]
        at[inner or outer] = value
        path.write_bytes(sign_file(tree, arrays))
        try:
            model = tw.Online.load(path)
        except PersistenceError as error:
            assert "m.thalweg" in str(error)
            continue
        play(model, [0, [21, 22], 30], 1.0)
        model.health()
        model.save(path)


EARLIER_NAMES = {
    "quiet": "unexcited_rounds",
    "sums": "imputer.sums",
    "waited": "imputer.waited",
}
"""Names in files of earlier versions, and the fields that errors name."""


def in_earlier_format(whole):
    """The file as earlier versions wrote it, all names beside each other."""
    extra = dict(whole.extra)
    extra["quiet"] = extra.pop("unexcited_rounds")
    return whole._replace(extra=extra | extra.pop("imputer"))


def test_files_of_earlier_versions_load(tmp_path, whole):
    before = load_with(tmp_path, in_earlier_format(whole))
    now = load_with(tmp_path, whole)
    assert before.imputer.state.skipped == now.imputer.state.skipped
    for row in range(20, 40):
        np.testing.assert_array_equal(before.predict(X[20]), now.predict(X[20]))
        play(before, [row], 1.0)
        play(now, [row], 1.0)


@pytest.mark.parametrize("name", EARLIER_NAMES)
def test_files_of_earlier_versions_are_checked_as_well(tmp_path, whole, name):
    before = in_earlier_format(whole)
    for value in WRONG[EARLIER_NAMES[name]]:
        wrong = before._replace(extra={**before.extra, name: value})
        with pytest.raises(
            PersistenceError, match=f"its '{EARLIER_NAMES[name]}' must be"
        ):
            load_with(tmp_path, wrong)
