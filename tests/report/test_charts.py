import json
from dataclasses import replace

import numpy as np
import pytest
import vl_convert

from tests.report import drawn
from thalweg.evaluation.study import Regret
from thalweg.evaluation.summary import summary
from thalweg.learners.tracker.names import KINDS
from thalweg.report.charts import VEGA_LITE, figures
from thalweg.report.charts.errors import drawn as entries_drawn
from thalweg.report.charts.inside import WORDS
from thalweg.report.charts.lines import MOST_LINES, listed, log_ticks, numbers

ALL = (drawn.full, drawn.bare, drawn.crowded, drawn.hostile, drawn.poor)


def by_name(study):
    return {figure.name: figure for figure in figures(study)}


def spec(figure):
    return figure.chart.to_dict()


def within(value, key):
    """Everything that stands under this key, however deep."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name == key:
                yield part
            yield from within(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from within(part, key)


def rows(figure):
    """The columns that all layers of a chart share."""
    (row,) = spec(figure)["data"]["values"]
    return row


def test_a_full_study_has_every_chart_and_a_bare_one_what_it_can():
    assert list(by_name(drawn.full())) == [
        "stream",
        "recent",
        "cumulative-error",
        "error-against-persistence",
        "memory",
        "expert-weights",
        "coefficients",
        "hindsight-frontier",
        "regret",
        "calibration",
    ]
    assert list(by_name(drawn.bare())) == [
        "stream",
        "cumulative-error",
        "error-against-persistence",
    ]


def test_one_level_of_coverage_is_a_sentence_and_no_chart():
    inside = replace(drawn.inside(), coverage=((0.9, 0.91),))
    study = drawn.full(inside=inside)
    assert "calibration" not in by_name(study)
    assert "Its 90 % intervals held the label 91 % of the time." in summary(study)


def test_the_last_rounds_are_drawn_one_by_one():
    row = rows(by_name(drawn.full())["recent"])
    assert row["round"] == list(range(drawn.ROUNDS - 199, drawn.ROUNDS + 1))
    assert len(row["observed"]) == len(row["forecast"]) == 200


@pytest.mark.parametrize("make", ALL)
def test_every_chart_compiles_and_says_what_it_is(make):
    for figure in figures(make()):
        vl_convert.vegalite_to_vega(spec(figure), vl_version=VEGA_LITE)
        assert spec(figure)["description"] and figure.title and figure.caption


@pytest.mark.parametrize("make", ALL)
def test_charts_name_styles_and_no_colours(make):
    for figure in figures(make()):
        styled = spec(figure)
        for layer in styled["layer"]:
            assert not {"color", "fill", "stroke"} & set(layer["mark"])
            for channel in within(layer["encoding"], "color"):
                assert channel["scale"]["range"] == "category"


def test_names_from_outside_are_data_and_never_fields_or_expressions():
    for figure in figures(drawn.hostile()):
        found = spec(figure)
        code = [*within(found, "field"), *within(found, "expr")]
        code += [*within(found, "test"), *within(found, "labelExpr")]
        code += [*within(found, "filter"), *within(found, "sort")]
        assert code
        for name in drawn.HOSTILE:
            assert not any(name in json.dumps(part) for part in code)


def test_the_extremes_of_the_stream_are_in_its_chart():
    values = np.zeros(100_000)
    values[77_777], values[5] = 50.0, -20.0
    curve = drawn.curve(values)
    columns = rows(by_name(drawn.full(observed=curve, forecast=curve))["stream"])
    assert max(columns["high"]) == 50.0 and min(columns["low"]) == -20.0


def test_the_last_value_of_the_cumulative_error_is_the_sum_of_all():
    study = drawn.full()
    columns = rows(by_name(study)["cumulative-error"])
    total = study.tracker.squared * study.scored
    assert columns["s0"][-1] == pytest.approx(total, rel=1e-5)  # six digits are kept


def test_the_ratio_to_persistence_ends_at_the_ratio_of_mean_errors():
    study = drawn.full()
    columns = rows(by_name(study)["error-against-persistence"])
    ratio = study.ratio("Tracker", "persistence")
    assert columns["s0"][-1] == pytest.approx(ratio, rel=1e-5)
    assert columns["s1"][-1] == 1.0 and columns["s1"][0] is None  # not yet scored


def test_sixty_coefficients_leave_the_eight_largest_and_the_caption_says_so():
    study = drawn.crowded()
    figure = by_name(study)["coefficients"]
    assert "The 8 largest of 60 coefficients" in figure.caption
    sizes = {
        name: np.abs(curve.mean).mean()
        for name, curve in study.inside.coefficients.items()
    }
    largest = sorted(sizes, key=sizes.get)[: -MOST_LINES - 1 : -1]
    scales = [part for part in within(spec(figure), "domain") if len(part) == 8]
    assert scales and scales[0] == largest


def test_features_that_were_not_followed_are_counted():
    study = drawn.full(features=("flow", "pressure", "level"))
    assert "2 of 3 features were followed" in by_name(study)["coefficients"].caption


def test_of_many_learners_the_interesting_ones_have_lines():
    study = drawn.crowded()
    names = [entry.name for entry in entries_drawn(study)]
    assert names[:2] == ["Tracker", "persistence"] and len(names) == MOST_LINES
    for best_of_role in ("RLS, γ = 0.98", "RLS, γ = 1", "the paper's mixture",
                         "sliding window", "another library"):  # fmt: skip
        assert best_of_role in names
    caption = by_name(study)["cumulative-error"].caption
    assert "8 learners are drawn; 8 more are in the table" in caption


def test_a_learner_that_explodes_leaves_the_frame_and_is_named():
    caption = by_name(drawn.full())["cumulative-error"].caption
    assert "Out of the frame: RLS, γ = 1 and another library." in caption


def test_learners_have_the_same_colours_on_the_frontier_as_elsewhere():
    charts = by_name(drawn.full())
    lines = next(within(spec(charts["cumulative-error"])["layer"][0], "color"))
    marks = next(within(spec(charts["hindsight-frontier"])["layer"][-1], "color"))
    order = lines["scale"]["domain"]
    assert marks["scale"]["domain"] == order[: len(marks["scale"]["domain"])]
    assert marks["legend"]["values"] == ["Tracker", "RLS, γ = 0.98", "RLS, γ = 1"]


def test_a_broken_bound_is_named():
    rows = (Regret("honest", "static", 1.0, 2.0), Regret("broken", "static", 3.0, 2.0))
    caption = by_name(drawn.full(regrets=rows))["regret"].caption
    assert "Beyond its bound: broken." in caption


@pytest.mark.parametrize("count", [0, 1, 3])
def test_alarms_are_counted_in_the_caption(count):
    study = drawn.full(inside=drawn.inside(alarms=range(100, 100 + count)))
    words = {0: "none here", 1: "one here", 3: "3 here"}[count]
    assert words in by_name(study)["memory"].caption


def test_numbers_for_json_have_six_digits_and_null_for_what_is_not_finite():
    assert numbers(np.array([1 / 3, np.nan, np.inf, 1e-9])) == [
        0.333333,
        None,
        None,
        1e-9,
    ]
    assert numbers(np.array([3, 4])) == [3, 4]


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


def test_names_in_a_caption_are_cut_and_counted():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcd")) == "4 learners"
    assert listed(["x" * 50]) == "x" * 39 + "…"


def legends(figure):
    """The names that a reader finds in the legend."""
    found = [one["values"] for one in within(spec(figure), "legend")]
    assert all(one == found[0] for one in found)
    return found[0]


def test_legends_speak_of_what_a_reader_knows():
    assert list(WORDS) == [kind.name for kind in KINDS]
    charts = by_name(drawn.full())
    assert set(legends(charts["expert-weights"])) == {
        WORDS[name] for name in ("level", "step", "season")
    }
    for name in ("stream", "recent"):
        assert legends(charts[name]) == ["Tracker's forecast", "observed"]
    assert legends(charts["memory"]) == ["past rounds that count", "abrupt change"]
    quiet = by_name(drawn.full(inside=drawn.inside(alarms=())))["memory"]
    assert legends(quiet) == ["past rounds that count"]


def test_a_regret_without_a_bound_speaks_of_none():
    bounded = by_name(drawn.full())["regret"]
    assert legends(bounded) == ["measured", "most that theory allows"]
    free = drawn.full(regrets=(Regret("Tracker", "dynamic", 3.0, None),))
    figure = by_name(free)["regret"]
    assert (figure.title, legends(figure)) == ("Regret", ["measured"])
    assert "theory" not in figure.caption
    assert rows(figure)["row"] == ["best moving\nTracker"]
