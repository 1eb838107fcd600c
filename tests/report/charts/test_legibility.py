"""Marks can be seen, and captions match what is visible."""

from dataclasses import replace

import numpy as np
import pytest
import vl_convert

from tests.report import example_studies
from thalweg.evaluation.study import LastRounds, Mark
from thalweg.report.charts.chart_elements import VEGA_LITE
from thalweg.report.charts.figure_files import _without_pointer_marks
from thalweg.report.page import ASSETS
from thalweg.report.study_sections import study_section

STEPS = np.array([0.0, 0.4, 1.0])


def charts(study):
    return {figure.name: figure for figure in study_section(study).all_figures()}


def svg(figure):
    """The figure as SVG."""
    spec = _without_pointer_marks(figure.chart.to_dict()) | {"width": 640}
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)


def legend_names(figure):
    """The names in the legend of a chart of lines."""
    return figure.chart.to_dict()["layer"][0]["encoding"]["color"]["legend"]["values"]


@pytest.mark.slow
def test_a_learner_that_is_never_in_the_frame_is_not_in_the_legend():
    far = example_studies.entry("far off", "peer", 50.0, 9)
    study = example_studies.full(entries=(*example_studies.entries(), far))
    figures = charts(study)
    against = figures["error-against-persistence"]
    assert "far off" not in legend_names(against) and "Tracker" in legend_names(against)
    assert against.caption.endswith("and far off.")
    assert "far off" in legend_names(figures["cumulative-error"])  # it begins at 0
    colours = [
        figures[name].chart.to_dict()["layer"][0]["encoding"]["color"]["scale"][
            "domain"
        ]
        for name in ("error-against-persistence", "cumulative-error")
    ]
    assert colours[0] == colours[1]


@pytest.mark.slow
def test_marks_in_one_place_lie_smaller_on_top_of_each_other():
    before = example_studies.hindsight()
    places = [Mark(mark.name, 3.0, before.marks[0].loss) for mark in before.marks]
    study = example_studies.full(hindsight=replace(before, marks=tuple(places)))
    chart = charts(study)["hindsight-frontier"].chart.to_dict()
    (row,) = chart["layer"][-1]["data"]["values"]
    assert len(row["size"]) == len(places) > 1
    assert (np.diff(row["size"]) < 0).all()
    assert chart["layer"][-1]["encoding"]["size"]["scale"] is None


@pytest.mark.parametrize(
    ("scale", "label"), [(5e3, "5,000"), (5e6, "5M"), (5e9, "5G"), (5e15, "5e+15")]
)
@pytest.mark.sampled(1)
def test_large_numbers_are_written_one_way(scale, label):
    last = LastRounds(9, scale * STEPS, scale * STEPS)
    shown = svg(charts(example_studies.full(last_rounds=last))["recent"])
    assert f">{label}</text>" in shown
    assert ("e+" in shown) == ("e+" in label)


def test_there_is_space_above_and_below_the_values():
    last = LastRounds(9, STEPS, STEPS)
    spec = charts(example_studies.full(last_rounds=last))["recent"].chart.to_dict()
    ends = {one["name"]: one["value"] for one in spec["params"] if "value" in one}
    assert ends["y_low"] < 0 < 1 < ends["y_high"]


def test_the_note_on_bars_is_hidden_where_the_bars_are():
    narrow = (ASSETS / "page.css").read_text().partition("@media (max-width: 40rem)")[2]
    assert ".bars, .bars-note { display: none; }" in narrow
    assert (
        '<span class="bars-note">The dashed line' in (ASSETS / "page.html").read_text()
    )
