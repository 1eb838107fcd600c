from dataclasses import replace

import pytest

from tests.evaluation.test_summary import errors
from thalweg.evaluation.feature_effects import PAST_VALUES
from thalweg.evaluation.study import Study
from thalweg.evaluation.summary import summary
from thalweg.evaluation.telling_columns import telling_columns, telling_sentence
from thalweg.report.study_sections import study_section


def study(tracker=0.04, column_features=("high", "low"), **effects):
    """A study of squared error ``tracker``, where persistence's is 1."""
    made = errors(tracker=tracker)
    return replace(made, effects=effects, column_features=column_features)


def test_columns_that_a_large_gain_is_due_to_are_named_the_most_telling_first():
    made = study(high=2.0, low=3.0, **{PAST_VALUES: 1.0})
    assert telling_columns(made) == ("low", "high")
    sentence = telling_sentence(made)
    assert sentence.startswith("'low' and 'high' of the same row tell most of ")
    assert "--features" in sentence
    assert summary(made)[1] == study_section(made).caution == sentence


@pytest.mark.parametrize(
    "made",
    [
        study(tracker=0.3, high=2.0, low=3.0),  # the error is more than half
        study(high=1.0, low=1.0, **{PAST_VALUES: 2.0}),  # half is due to the past
        study(column_features=(), high=2.0, low=3.0),  # they are lags, say
        replace(study(), effects=None),
    ],
)
def test_without_a_large_gain_by_columns_there_is_no_caution(made):
    assert telling_columns(made) == ()
    assert telling_sentence(made) == study_section(made).caution == ""


def test_a_single_column_is_written_so_and_of_many_three_are_named():
    one = telling_sentence(study(column_features=("sum",), sum=1.0))
    assert one.startswith("'sum' of the same row tells most of ")
    assert "If it is known only together with it" in one
    names = ("a", "b", "c", "d")
    many = study(column_features=names, **dict.fromkeys(names, 1.0))
    assert telling_sentence(many).startswith("'a', 'b' and 'c' of the same row tell ")


def test_a_saved_study_keeps_them():
    made = study(high=2.0, low=3.0)
    assert Study.from_dict(made.as_dict()).column_features == ("high", "low")
