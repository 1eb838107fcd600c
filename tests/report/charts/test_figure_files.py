import struct
from xml.etree import ElementTree

import pytest

from tests.report import example_studies
from thalweg.errors import InvalidParameterError
from thalweg.report import write_figures
from thalweg.report.charts.figure_files import WIDTH
from thalweg.report.charts.theme import DARK, LIGHT
from thalweg.report.study_sections import study_section


@pytest.mark.slow
def test_every_chart_is_saved_as_every_kind(tmp_path):
    study = example_studies.full()
    saved = write_figures([study_section(study)], tmp_path / "new")
    names = {f"{figure.name}.{kind}" for figure in study_section(study).all_figures()
             for kind in ("png", "svg", "pdf")}  # fmt: skip
    assert {path.name for path in saved} == names
    assert {path.name for path in (tmp_path / "new").iterdir()} == names
    for path in saved:
        start = {".png": b"\x89PNG", ".svg": b"<svg", ".pdf": b"%PDF"}[path.suffix]
        assert path.read_bytes().startswith(start)


@pytest.mark.slow
def test_a_png_has_twice_the_pixels(tmp_path):
    write_figures([study_section(example_studies.bare())], tmp_path, kinds=["png"])
    head = (tmp_path / "stream.png").read_bytes()[16:24]
    assert struct.unpack(">II", head)[0] > 2 * WIDTH


@pytest.mark.slow
def test_a_figure_for_a_paper_is_light_and_has_nothing_for_a_pointer(tmp_path):
    write_figures([study_section(example_studies.full())], tmp_path, kinds=["svg"])
    text = (tmp_path / "cumulative-error.svg").read_text(encoding="utf-8")
    assert LIGHT.accent in text and DARK.accent not in text and "var(" not in text
    assert "mark-line role-mark" in text and "mark-rule role-mark" not in text
    names = ["".join(part.itertext()) for part in ElementTree.fromstring(text).iter()]
    assert "persistence" in names and "Cumulative error" in names


@pytest.mark.slow
def test_several_studies_have_their_titles_in_the_file_names(tmp_path):
    studies = (example_studies.bare(), example_studies.hostile())
    saved = write_figures([*map(study_section, studies)], tmp_path, kinds=["svg"])
    names = {path.name for path in saved}
    assert "1-bare-stream.svg" in names
    assert "2-title-script-alert-1-script-stream.svg" in names


def test_an_unknown_kind_is_refused_by_name(tmp_path):
    with pytest.raises(InvalidParameterError, match="takes png, svg, pdf. Got 'gif'"):
        write_figures([study_section(example_studies.bare())], tmp_path, kinds=["gif"])
