from dataclasses import replace

import pytest

from tests.report.test_study_sections import errors
from thalweg.evaluation.run_record import PAST_VALUES
from thalweg.evaluation.study import Study, leakage_sentence, leaking_columns
from thalweg.report.study_sections import study_section


def study(tracker=0.04, column_features=("high", "low"), **effects):
    """A study of squared error ``tracker``, where persistence's is 1."""
    made = errors(tracker=tracker)
    return replace(made, effects=effects, column_features=column_features)


def test_columns_that_cause_a_large_gain_are_named_the_largest_effect_first():
    made = study(high=2.0, low=3.0, **{PAST_VALUES: 1.0})
    assert leaking_columns(made) == ("low", "high")
    sentence = leakage_sentence(made)
    assert sentence.startswith("'low' and 'high' of the same row explain most of ")
    assert "--features" in sentence
    assert study_section(made).summary()[1] == study_section(made).caution == sentence


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
    assert leaking_columns(made) == ()
    assert leakage_sentence(made) == study_section(made).caution == ""


def test_a_single_column_is_written_so_and_of_many_three_are_named():
    one = leakage_sentence(study(column_features=("sum",), sum=1.0))
    assert one.startswith("'sum' of the same row explains most of ")
    assert "If it is known only together with it" in one
    names = ("a", "b", "c", "d")
    many = study(column_features=names, **dict.fromkeys(names, 1.0))
    sentence = leakage_sentence(many)
    assert sentence.startswith("'a', 'b' and 'c' of the same row explain ")


def test_a_saved_study_keeps_them():
    made = study(high=2.0, low=3.0)
    assert Study.from_dict(made.as_dict()).column_features == ("high", "low")
