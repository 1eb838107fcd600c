"""What is drawn can be seen, and what is said is there."""

from dataclasses import replace

import numpy as np
import pytest
import vl_convert

from tests.report import drawn
from thalweg.evaluation.study import Mark, Recent
from thalweg.report.charts import VEGA_LITE, figures
from thalweg.report.figures import _still
from thalweg.report.page import ASSETS

STEPS = np.array([0.0, 0.4, 1.0])


def charts(study):
    return {figure.name: figure for figure in figures(study)}


def texts(figure):
    """The figure as SVG."""
    spec = _still(figure.chart.to_dict()) | {"width": 640}
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)


def told(figure):
    """The names that the legend of a chart of lines tells."""
    return figure.chart.to_dict()["layer"][0]["encoding"]["color"]["legend"]["values"]


def test_who_is_never_in_the_frame_is_not_in_the_legend():
    far = drawn.entry("far off", "peer", 50.0, 9)
    study = drawn.full(entries=(*drawn.entries(), far))
    found = charts(study)
    against = found["error-against-persistence"]
    assert "far off" not in told(against) and "Tracker" in told(against)
    assert against.caption.endswith("and far off.")
    assert "far off" in told(found["cumulative-error"])  # it begins at 0
    colours = [
        found[name].chart.to_dict()["layer"][0]["encoding"]["color"]["scale"]["domain"]
        for name in ("error-against-persistence", "cumulative-error")
    ]
    assert colours[0] == colours[1]


def test_marks_in_one_place_lie_smaller_on_top_of_each_other():
    before = drawn.hindsight()
    places = [Mark(mark.name, 3.0, before.marks[0].loss) for mark in before.marks]
    study = drawn.full(hindsight=replace(before, marks=tuple(places)))
    chart = charts(study)["hindsight-frontier"].chart.to_dict()
    (row,) = chart["layer"][-1]["data"]["values"]
    assert len(row["size"]) == len(places) > 1
    assert (np.diff(row["size"]) < 0).all()
    assert chart["layer"][-1]["encoding"]["size"]["scale"] is None


@pytest.mark.parametrize(
    ("scale", "label"), [(5e3, "5,000"), (5e6, "5M"), (5e9, "5G"), (5e15, "5e+15")]
)
def test_large_numbers_are_written_one_way(scale, label):
    last = Recent(9, scale * STEPS, scale * STEPS)
    shown = texts(charts(drawn.full(recent=last))["recent"])
    assert f">{label}</text>" in shown
    assert ("e+" in shown) == ("e+" in label)


def test_a_peak_keeps_clear_of_the_frame_by_the_breadth_of_its_line():
    last = Recent(9, STEPS, STEPS)
    layer = charts(drawn.full(recent=last))["recent"].chart.to_dict()["layer"][0]
    assert (
        layer["encoding"]["y"]["scale"]["padding"] >= layer["mark"]["strokeWidth"] / 2
    )


def test_what_is_said_of_bars_goes_with_them():
    narrow = (ASSETS / "page.css").read_text().partition("@media (max-width: 40rem)")[2]
    assert ".bars, .of-bars { display: none; }" in narrow
    assert '<span class="of-bars">The dashed line' in (ASSETS / "page.html").read_text()
