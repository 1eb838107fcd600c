import json

import pytest

from tests.cli.streams import thalweg
from tests.cli.test_program import run_without
from thalweg.runs.demonstration import DATA, FORECAST_FILE, STREAMS

FILES = sorted(path.name for path in DATA.glob("*.gz"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """What the demonstration printed on short streams, and the folder it wrote."""
    folder = tmp_path_factory.mktemp("demo")
    return thalweg("demo", "--rows", "120", "--out", folder), folder


def test_demo_forecasts_compares_and_ends_with_three_numbers(finished):
    done, folder = finished
    assert done.exit_code == 0, done.output
    _, _, forecast = done.stdout.partition("The next 52 values of co2")
    values, _, rest = forecast.partition("typical errors of co2")
    assert "2002-12-28" in values and "over seasonal" in rest
    assert "Three numbers that matter" in rest
    assert max(map(len, done.stdout.splitlines())) <= 80
    saved = {path.name for path in folder.iterdir()}
    assert {"study.json", "forecast.csv", "report.html", "SOURCES.md", *FILES} <= saved


def test_the_page_shows_all_three_files_by_dates(finished):
    page = (finished[1] / "report.html").read_text()
    for title in (*(stream.title for stream in STREAMS), "Mauna Loa"):
        assert title in page
    studies = json.loads((finished[1] / "study.json").read_text())
    assert len(studies) == len(STREAMS)
    for study in studies:
        assert study["times"] is not None


def test_demo_needs_no_package_that_brings_data(tmp_path):
    """Nor pandas: none of these is an extra of the command line."""
    absent = ["pandas", "river", "statsmodels", "sklearn"]
    given = ("demo", "--rows", "100", "--no-report", "--json")
    done = run_without(absent, *given, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert len(content["studies"]) == len(STREAMS)
    assert len(content["forecast"]["series"]) == 1


def test_every_file_of_the_demonstration_has_a_source_and_a_licence():
    text = (DATA / "SOURCES.md").read_text()
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    assert sorted(row[1].strip(" `") for row in rows) == FILES
    for row in rows:
        assert "public domain" in row[-2] or "CC0" in row[-2]
    assert {stream.file for stream in STREAMS} | {FORECAST_FILE} == set(FILES)
    assert sum(path.stat().st_size for path in DATA.iterdir()) <= 400_000
