import json
from dataclasses import replace

import numpy as np
import pytest
import vl_convert

from tests.report import example_studies
from thalweg.evaluation.study import RegretEntry
from thalweg.learners.tracker.explanation import EXPERT_FAMILIES
from thalweg.report.charts.chart_elements import (
    MAX_LINES,
    VEGA_LITE,
    join_names,
    json_numbers,
    log_ticks,
)
from thalweg.report.charts.error_charts import charted_entries
from thalweg.report.charts.tracker_charts import EXPERT_LABELS
from thalweg.report.study_sections import study_section

ALL = (
    example_studies.full,
    example_studies.bare,
    example_studies.crowded,
    example_studies.hostile,
    example_studies.poor,
)


def by_name(study):
    return {figure.name: figure for figure in study_section(study).all_figures()}


def spec(figure):
    return figure.chart.to_dict()


def values_of(value, key):
    """Everything that stands under this key, however deep."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name == key:
                yield part
            yield from values_of(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from values_of(part, key)


def columns(figure):
    """The columns that all layers of a chart share."""
    (lists,) = spec(figure)["data"]["values"]
    return lists


def test_a_full_study_has_every_chart_and_a_bare_one_those_it_has_numbers_for():
    assert list(by_name(example_studies.full())) == [
        "stream",
        "recent",
        "error",
        "residuals",
        "coverage",
        "calibration",
        "effects",
        "memory",
        "cumulative-error",
        "error-against-persistence",
        "coefficients",
        "expert-weights",
        "hindsight-frontier",
        "regret",
    ]
    assert list(by_name(example_studies.bare())) == [
        "stream",
        "error",
        "cumulative-error",
        "error-against-persistence",
    ]


def test_one_level_of_coverage_is_a_sentence_and_no_chart():
    inside = replace(example_studies.tracker_history(), coverage=((0.9, 0.91),))
    study = example_studies.full(history=inside)
    assert "calibration" not in by_name(study)
    assert "and held 91 %." in " ".join(study_section(study).summary())


def test_the_last_rows_are_drawn_one_by_one():
    lists = columns(by_name(example_studies.full())["recent"])
    assert lists["row"] == list(
        range(example_studies.ROUNDS - 199, example_studies.ROUNDS + 1)
    )
    assert len(lists["observed"]) == len(lists["forecast"]) == 200


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", ALL)
def test_every_chart_compiles_and_has_description_title_and_caption(make):
    for figure in study_section(make()).all_figures():
        vl_convert.vegalite_to_vega(spec(figure), vl_version=VEGA_LITE)
        assert spec(figure)["description"] and figure.title and figure.caption


@pytest.mark.sampled(1)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", ALL)
def test_charts_name_styles_and_no_colours(make):
    for figure in study_section(make()).all_figures():
        styled = spec(figure)
        for layer in styled["layer"]:
            assert not {"color", "fill", "stroke"} & set(layer["mark"])
            for channel in values_of(layer["encoding"], "color"):
                assert channel["scale"]["range"] == "category"


@pytest.mark.slow
def test_names_from_outside_are_data_and_never_fields_or_expressions():
    for figure in study_section(example_studies.hostile()).all_figures():
        found = spec(figure)
        code = [*values_of(found, "field"), *values_of(found, "expr")]
        code += [*values_of(found, "test"), *values_of(found, "labelExpr")]
        code += [*values_of(found, "filter"), *values_of(found, "sort")]
        assert code
        for name in example_studies.HOSTILE:
            assert not any(name in json.dumps(part) for part in code)


def test_the_extremes_of_the_stream_are_in_its_chart():
    values = np.zeros(100_000)
    values[77_777], values[5] = 50.0, -20.0
    curve = example_studies.curve(values)
    study = example_studies.study(observed=curve, forecast=curve)
    lists = columns(by_name(study)["stream"])
    assert max(lists["high"]) == 50.0 and min(lists["low"]) == -20.0


def test_the_last_value_of_the_cumulative_error_is_the_sum_of_all():
    study = example_studies.full()
    lists = columns(by_name(study)["cumulative-error"])
    total = study.tracker.squared * study.scored_rounds
    assert lists["s0"][-1] == pytest.approx(total, rel=1e-5)  # six digits are kept


def test_the_ratio_to_persistence_ends_at_the_ratio_of_mean_errors():
    study = example_studies.full()
    lists = columns(by_name(study)["error-against-persistence"])
    ratio = study.ratio("Tracker", "persistence")
    assert lists["s0"][-1] == pytest.approx(ratio, rel=1e-5)
    assert lists["s1"][-1] == 1.0 and lists["s1"][0] is None  # not yet scored


def test_sixty_coefficients_leave_the_eight_largest_and_the_caption_says_so():
    study = example_studies.crowded()
    figure = by_name(study)["coefficients"]
    assert "The 8 largest of 60 coefficients" in figure.caption
    sizes = {
        name: np.abs(curve.mean).mean()
        for name, curve in study.history.coefficients.items()
    }
    largest = sorted(sizes, key=sizes.get)[: -MAX_LINES - 1 : -1]
    scales = [part for part in values_of(spec(figure), "domain") if len(part) == 8]
    assert scales and scales[0] == largest


def test_features_that_were_not_recorded_are_counted():
    study = example_studies.full(features=("flow", "pressure", "level"))
    assert "2 of 3 features were recorded" in by_name(study)["coefficients"].caption


@pytest.mark.slow
def test_with_many_learners_the_best_of_each_role_have_lines():
    study = example_studies.crowded()
    names = [entry.name for entry in charted_entries(study)]
    assert names[:2] == ["Tracker", "persistence"] and len(names) == MAX_LINES
    for best_of_role in ("RLS, γ = 0.98", "RLS, γ = 1", "the paper's mixture",
                         "sliding window", "another library"):  # fmt: skip
        assert best_of_role in names
    caption = by_name(study)["cumulative-error"].caption
    assert "8 learners are drawn; 8 more are in the table" in caption


def test_a_learner_that_explodes_leaves_the_frame_and_is_named():
    caption = by_name(example_studies.full())["cumulative-error"].caption
    assert "Out of the frame: RLS, γ = 1 and another library." in caption


def test_learners_have_the_same_colours_on_the_frontier_as_elsewhere():
    charts = by_name(example_studies.full())
    lines = next(values_of(spec(charts["cumulative-error"])["layer"][0], "color"))
    marks = next(values_of(spec(charts["hindsight-frontier"])["layer"][-1], "color"))
    order = lines["scale"]["domain"]
    assert marks["scale"]["domain"] == order[: len(marks["scale"]["domain"])]
    assert marks["legend"]["values"] == ["Tracker", "RLS, γ = 0.98", "RLS, γ = 1"]


def test_a_broken_bound_is_named():
    rows = (
        RegretEntry("honest", "static", 1.0, 2.0),
        RegretEntry("broken", "static", 3.0, 2.0),
    )
    caption = by_name(example_studies.full(regrets=rows))["regret"].caption
    assert "Beyond its bound: broken." in caption


@pytest.mark.sampled(1)
@pytest.mark.sampled(1)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_alarms_are_counted_in_the_caption(count):
    study = example_studies.full(
        history=example_studies.tracker_history(alarms=range(100, 100 + count))
    )
    words = {
        0: "when it changes.",
        1: "a change of the target.",
        3: "3 changes of the target.",
    }
    assert by_name(study)["memory"].caption.endswith(words[count])
    assert ("triangles" in by_name(study)["stream"].caption) == (count > 0)


def test_numbers_for_json_have_six_digits_and_null_for_what_is_not_finite():
    assert json_numbers(np.array([1 / 3, np.nan, np.inf, 1e-9])) == [
        0.333333,
        None,
        None,
        1e-9,
    ]
    assert json_numbers(np.array([3, 4])) == [3, 4]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 10_000, [1, 10, 100, 1000, 10_000]),
        (0.5, 20, [0.5, 1, 2, 5, 10, 20]),
        (0.6, 1.3, [0.7, 1]),
    ],
)
def test_ticks_of_a_logarithmic_axis_are_round_numbers(low, high, ticks):
    assert log_ticks(low, high) == ticks


def test_names_in_a_caption_are_cut_if_long_and_counted_if_many():
    assert join_names(["a"]) == "a"
    assert join_names(["a", "b", "c"]) == "a, b and c"
    assert join_names(list("abcd")) == "4 learners"
    assert join_names(["x" * 50]) == "x" * 39 + "…"


def legends(figure):
    """The names that a reader finds in the legend."""
    found = [one["values"] for one in values_of(spec(figure), "legend")]
    assert all(one == found[0] for one in found)
    return found[0]


@pytest.mark.slow
def test_legends_use_words_that_a_reader_knows():
    assert list(EXPERT_LABELS) == [family.name for family in EXPERT_FAMILIES]
    charts = by_name(example_studies.full())
    assert set(legends(charts["expert-weights"])) == {
        EXPERT_LABELS[name] for name in ("level", "step", "season")
    }
    for name in ("stream", "recent"):
        assert legends(charts[name]) == ["forecast", "actual value"]
    assert legends(charts["memory"]) == ["past rows that count", "abrupt change"]
    quiet = by_name(
        example_studies.full(history=example_studies.tracker_history(alarms=()))
    )["memory"]
    assert legends(quiet) == ["past rows that count"]


@pytest.mark.slow
def test_a_regret_without_a_bound_mentions_none():
    bounded = by_name(example_studies.full())["regret"]
    assert legends(bounded) == ["measured", "most that theory allows"]
    free = example_studies.full(regrets=(RegretEntry("Tracker", "dynamic", 3.0, None),))
    figure = by_name(free)["regret"]
    assert (figure.title, legends(figure)) == ("Regret", ["measured"])
    assert "theory" not in figure.caption
    assert columns(figure)["line"] == ["best moving\nTracker"]


def blind_rows(study):
    """The buckets without a forecast in the chart of the stream."""
    made = spec(by_name(study)["stream"])
    (lists,) = (made.get("data") or made["layer"][0]["data"])["values"]
    blind = [k for k, value in enumerate(lists["forecast"]) if value is None]
    if study.bands is not None:
        assert [k for k, value in enumerate(lists["from"]) if value is None] == blind
    return blind


@pytest.mark.slow
def test_a_forecast_made_before_any_value_was_known_is_not_drawn():
    study = example_studies.full()
    assert blind_rows(study) == [0]
    assert blind_rows(replace(study, bands=None)) == [0]
    late = study.observed.mean.copy()
    late[:5] = np.nan  # the first values are missing
    observed = replace(study.observed, mean=late)
    assert blind_rows(replace(study, observed=observed)) == [0, 1, 2, 3, 4, 5]


@pytest.mark.slow
def test_labels_that_come_late_leave_out_the_forecasts_before_them():
    study = example_studies.full()
    low, high = (band.mean.copy() for band in (study.bands.low, study.bands.high))
    low[:9] = high[:9] = np.nan  # there is no band before an error is known
    bands = replace(
        study.bands,
        low=replace(study.bands.low, mean=low),
        high=replace(study.bands.high, mean=high),
    )
    assert blind_rows(replace(study, bands=bands)) == list(range(9))
