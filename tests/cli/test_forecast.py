"""``thalweg forecast``: the numbers of Forecaster, from files of any shape."""

import csv
import json

import numpy as np
import pytest

from tests.cli.streams import thalweg, written
from thalweg import Forecaster

ROWS = 130
MONTHS = np.datetime64("2014-01", "M") + np.arange(ROWS)
CITIES = ("Austin", "Waco")


def values(seed=0, count=ROWS):
    rng = np.random.default_rng(seed)
    season = np.sin(np.arange(count) / 12 * 2 * np.pi)
    return np.round(100 + 20 * season + rng.normal(0, 3, count), 3)


def lines(y, extra=None, start=0, key=""):
    """Lines of CSV without the header; a value that is NaN is left blank."""
    made = []
    for k, value in enumerate(y):
        cells = [
            f"{MONTHS[start] + k}-01",
            "" if np.isnan(value) else repr(float(value)),
        ]
        cells += [] if extra is None else [repr(float(extra[k]))]
        made.append(",".join([key, *cells] if key else cells) + "\n")
    return made


def forecasts(folder):
    with (folder / "forecast.csv").open() as file:
        return list(csv.DictReader(file))


def column(rows, name):
    return np.array([float(row[name]) for row in rows])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_forecast_is_that_of_forecaster_to_the_last_bit(folder):
    y = values()
    written(folder / "sales.csv", ["month,sales\n", *lines(y)])
    done = thalweg("forecast", "sales.csv", "-t", "sales", "--horizon", "12")
    assert done.exit_code == 0, done.output
    assert max(map(len, done.output.splitlines())) <= 80
    times = MONTHS.astype("datetime64[D]")
    expected = Forecaster(12).update(y, time=times).forecast()
    rows = forecasts(folder / "out/sales-forecast")
    assert list(rows[0]) == ["time", "forecast", "low", "high"]
    for name, part in (("forecast", "mean"), ("low", "low"), ("high", "high")):
        assert np.array_equal(column(rows, name), getattr(expected, part))
    assert [row["time"][:10] for row in rows[:2]] == ["2024-11-01", "2024-12-01"]
    names = {"forecast.csv", "model.thalweg", "report.html"}
    assert {path.name for path in (folder / "out/sales-forecast").iterdir()} == names
    loaded = Forecaster.load(folder / "out/sales-forecast/model.thalweg")
    assert np.array_equal(loaded.forecast().mean, expected.mean)


def test_features_may_be_none(folder):
    y = values()
    written(folder / "a.csv", ["month,sales\n", *lines(y)])
    written(folder / "b.csv", ["month,sales,price\n", *lines(y, extra=values(1))])
    arguments = ("-t", "sales", "--horizon", "2", "--no-report")
    assert thalweg("forecast", "a.csv", *arguments).exit_code == 0
    done = thalweg("forecast", "b.csv", *arguments, "--features", "none")
    assert done.exit_code == 0, done.output
    own, other = (folder / f"out/{name}-forecast/forecast.csv" for name in "ab")
    assert own.read_bytes() == other.read_bytes()


def test_the_errors_are_those_of_the_backtest(folder):
    y = values()
    written(folder / "sales.csv", ["month,sales\n", *lines(y)])
    options = ("--horizon", "3", "--json", "--no-report")
    found = json.loads(thalweg("forecast", "sales.csv", "-t", "sales", *options).stdout)
    times = MONTHS.astype("datetime64[D]")
    backtest = Forecaster(3).run(y, time=times)
    # The first 24 origins warm up; forecasts beyond the last row have no value yet.
    errors = backtest.errors[23:]
    expected = np.sqrt(np.nanmean(errors**2, axis=0))
    (series,) = found["series"]
    own, *naive = series["errors"]
    assert [step["rmse"] for step in own["by_step"]] == pytest.approx(expected)
    rows = np.arange(24, ROWS)
    season_ago = np.sqrt(np.mean((y[rows] - y[rows - 12]) ** 2))
    (seasonal,) = (one for one in naive if one["name"] == "seasonal naive 12")
    assert seasonal["by_step"][0]["rmse"] == pytest.approx(season_ago)
    inside = backtest.is_inside[23:]
    assert series["coverage"] == pytest.approx(np.nanmean(inside), abs=0.005)


def test_rows_without_a_target_are_the_future_with_what_they_hold(folder):
    y, promotion = values(), np.arange(ROWS + 5) % 3.0
    times = (MONTHS[0] + np.arange(ROWS + 5)).astype("datetime64[D]")
    rows = lines(y, promotion) + [
        f"{time},,{value!r}\n"
        for time, value in zip(times[ROWS:], promotion[ROWS:].tolist(), strict=True)
    ]
    written(folder / "sales.csv", ["month,sales,promotion\n", *rows])
    done = thalweg("forecast", "sales.csv", "-t", "sales", "--no-report")
    assert "Known in advance" in done.stderr and "promotion" in done.stderr
    found = forecasts(folder / "out/sales-forecast")
    expected = (
        Forecaster(5, known=[0])
        .update(y, promotion[:ROWS, None], times[:ROWS])
        .forecast(future=promotion[ROWS:, None])
    )
    assert np.array_equal(column(found, "forecast"), expected.mean)
    assert [row["time"][:10] for row in found] == [str(time) for time in times[ROWS:]]


def test_a_resumed_forecast_is_that_of_one_go(folder):
    y = values()
    y[40] = np.nan  # a missing value, as a row with a target follows
    whole = ["month,sales\n", *lines(y)]
    written(folder / "all.csv", whole)
    written(folder / "part.csv", whole[:101])
    options = ("-t", "sales", "--horizon", "6", "--no-report")
    thalweg("forecast", "all.csv", *options)
    thalweg("forecast", "part.csv", *options)
    model = folder / "out/part-forecast/model.thalweg"
    # Rows that were seen are passed over by their times; the rest is learnt.
    done = thalweg("forecast", "all.csv", "--resume", model, "--out", "on", "--json")
    assert done.exit_code == 0, done.output
    assert forecasts(folder / "on") == forecasts(folder / "out/all-forecast")
    one_go = json.loads(thalweg("forecast", "all.csv", *options, "--json").stdout)
    (resumed,), (expected,) = json.loads(done.stdout)["series"], one_go["series"]
    assert resumed == expected
    # New rows alone do as well, and blank targets after them are forecast.
    blank = f"{MONTHS[-1] + 1}-01,\n"
    written(folder / "new.csv", [whole[0], *whole[101:], blank])
    done = thalweg("forecast", "new.csv", "--resume", model, "--no-report")
    assert done.exit_code == 0, done.output
    assert forecasts(folder / "out/part-forecast") == forecasts(folder / "on")


@pytest.mark.page
def test_a_resumed_forecast_says_which_rows_of_which_file_were_new(folder):
    whole = ["month,sales\n", *lines(values())]
    written(folder / "day1.csv", whole[:101])
    written(folder / "day2.csv", [whole[0], *whole[98:]])
    options = ("-t", "sales", "--horizon", "6")
    first = thalweg("forecast", "day1.csv", *options)
    assert "new row" not in first.stderr
    model = folder / "out/day1-forecast/model.thalweg"
    done = thalweg("forecast", "day2.csv", "--resume", model)
    said = " ".join(done.stderr.split())
    assert "30 new rows of day2.csv were learnt, after 100 before." in said
    passed = "3 rows at the start of day2.csv are no later than the last row that was"
    assert passed in said
    assert "day2.csv: typical errors" in done.stdout
    page = (folder / "out/day1-forecast/report.html").read_text()
    assert passed in page and "day2.csv" in page and "day1.csv" not in page
    again = thalweg("forecast", "day2.csv", "--resume", model, "--json")
    found = json.loads(again.stdout)
    assert found["source"] == "day2.csv"
    none = "No new row in day2.csv: the model has learnt 130 before."
    assert none in found["notes"]


@pytest.fixture(scope="module")
def cities():
    return {city: lines(values(k), key=city) for k, city in enumerate(CITIES)}


HEADER = "city,month,sales\n"


def test_glued_interleaved_and_single_files_give_the_same_forecasts(folder, cities):
    glued = [line for city in CITIES for line in cities[city]]
    mixed = [line for pair in zip(*cities.values(), strict=True) for line in pair]
    written(folder / "glued.csv", [HEADER, *glued])
    written(folder / "mixed.csv", [HEADER, *mixed])
    options = ("-t", "sales", "--horizon", "4", "--no-report")
    for name in ("glued", "mixed"):
        done = thalweg("forecast", f"{name}.csv", *options)
        assert done.exit_code == 0, done.output
        assert "The rows are 2 series, distinguished by 'city'" in done.stderr
    found = forecasts(folder / "out/glued-forecast")
    assert found == forecasts(folder / "out/mixed-forecast")
    assert list(found[0]) == ["city", "time", "forecast", "low", "high"]
    for city in CITIES:
        written(folder / f"{city}.csv", [HEADER, *cities[city]])
        thalweg("forecast", f"{city}.csv", *options, "--key", "city")
        alone = forecasts(folder / f"out/{city}-forecast")
        assert alone == [row for row in found if row["city"] == city]


def test_a_forecast_by_key_goes_on_where_it_was(folder, cities):
    mixed = [line for pair in zip(*cities.values(), strict=True) for line in pair]
    written(folder / "all.csv", [HEADER, *mixed])
    written(folder / "part.csv", [HEADER, *mixed[:200]])
    options = ("-t", "sales", "--horizon", "4", "--no-report", "--key", "city")
    thalweg("forecast", "all.csv", *options)
    thalweg("forecast", "part.csv", *options)
    models = folder / "out/part-forecast/models.db"
    done = thalweg("forecast", "all.csv", "--resume", models, "--no-report")
    assert done.exit_code == 0, done.output
    on = forecasts(folder / "out/part-forecast")
    assert on == forecasts(folder / "out/all-forecast")


@pytest.mark.slow
@pytest.mark.page
def test_the_page_of_many_series_has_an_overview_and_a_few_keys(folder):
    keys = [f"item {k:02}" for k in range(12)]
    rows = [
        line for k, key in enumerate(keys) for line in lines(values(k, 40), key=key)
    ]
    written(folder / "items.csv", ["item,month,sales\n", *rows])
    done = thalweg("forecast", "items.csv", "-t", "sales", "--horizon", "2")
    assert done.exit_code == 0, done.output
    page = (folder / "out/items-forecast/report.html").read_text()
    assert "All series of items.csv" in page
    assert page.count('<section class="study"') == 1 + 9
    words = " ".join(done.stdout.split())
    assert "of every series, the best and the worst" in words
    assert "Errors of each series, the best and the worst" in words
    _, _, after = done.stdout.partition("The next value of sales of every series")
    assert "sum of 2" in after
    first = next(
        row for row in forecasts(folder / "out/items-forecast") if row["item"] in after
    )
    line = next(line for line in after.splitlines() if first["item"] in line)
    assert float(line.split()[-4]) == pytest.approx(float(first["forecast"]), rel=0.01)


def test_a_table_that_shows_the_first_values_says_so(folder):
    written(folder / "sales.csv", ["month,sales\n", *lines(values(count=300))])
    options = ("-t", "sales", "--no-report", "--horizon")
    full = thalweg("forecast", "sales.csv", *options, "60").stdout
    assert "The next 60 values of sales " in full and "2043-12" in full
    cut = thalweg("forecast", "sales.csv", *options, "61").stdout
    title = "The next 61 values of sales, the first 60 shown"
    assert title in " ".join(cut.split()) and "2044-01" not in cut


@pytest.mark.parametrize(("count", "is_known"), [(16, False), (30, False), (47, True)])
def test_errors_are_promised_only_where_there_are_some(folder, count, is_known):
    written(folder / "sales.csv", ["month,sales\n", *lines(values(count=count))])
    done = thalweg("forecast", "sales.csv", "-t", "sales", "--no-report")
    said = " ".join(done.stderr.split())
    assert f"a quarter of the {count} there are" in said
    assert ("so that errors are known" in said) == is_known
    told = " ".join(done.stdout.split())
    assert ("Too few rows for a backtest" in told) == (count == 16)
    assert ("too few to compare methods" in told) == (count == 30)


def test_repeated_hours_are_left_out_and_counted(folder):
    hours = np.datetime64("2024-10-20T00", "h") + np.arange(300)
    hours[200:] -= 1  # the hour that comes twice when summer time ends
    rng = np.random.default_rng(0)
    rows = [f"{hour}:00,{rng.normal():.3f}\n" for hour in hours]
    written(folder / "load.csv", ["when,load\n", *rows])
    done = thalweg("forecast", "load.csv", "-t", "load", "--no-report")
    assert done.exit_code == 0, done.output
    assert "1 row was left out: its time was" in " ".join(done.output.split())
    assert "The horizon is 24 rows" in done.stderr


def test_rows_without_times_are_steps(folder):
    y = values()
    written(folder / "plain.csv", ["y\n", *(f"{value!r}\n" for value in y.tolist())])
    done = thalweg("forecast", "plain.csv", "-t", "y", "--horizon", "3", "--no-report")
    found = forecasts(folder / "out/plain-forecast")
    assert [row["step"] for row in found] == ["1", "2", "3"]
    assert np.array_equal(
        column(found, "forecast"), Forecaster(3).update(y).forecast().mean
    )
    assert "seasonal mean" in done.stdout
    rng = np.random.default_rng(0)
    written(folder / "noise.csv", ["y\n", *(f"{v}\n" for v in rng.normal(size=90))])
    done = thalweg("forecast", "noise.csv", "-t", "y", "--season", "1", "--no-report")
    assert "season found: none" in " ".join(done.output.split())


def test_years_are_times_that_are_numbers(folder):
    rows = [f"{1900 + k},{value!r}\n" for k, value in enumerate(values().tolist())]
    written(folder / "years.csv", ["year,y\n", *rows])
    options = ("-t", "y", "--time", "year", "--horizon", "2", "--no-report")
    thalweg("forecast", "years.csv", *options)
    found = forecasts(folder / "out/years-forecast")
    assert [row["time"] for row in found] == ["2030", "2031"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--horizon", "0"), "number of rows to forecast, from 1 on. Got 0"),
        (("--interval", "90"), "a share between 0 and 1"),
        (("--key", "town"), "no column 'town'"),
        (("--key", "month"), "which holds the times of the rows"),
        (("--key", "name"), "fewer than two values"),
        (("--known", "price"), "'price', which is not among the columns"),
        (("--known", "size"), "has no such row"),
        (("--season", "1,2,3"), "one number of rows or two"),
        (("--target", "name"), "A forecast is of numbers"),
        (("--target", "size"), "One column is forecast at a time"),
    ],
)
def test_what_cannot_be_forecast_is_said(folder, options, sentence):
    rows = [f"{line.strip()},{k}.5,x{k}\n" for k, line in enumerate(lines(values()))]
    written(folder / "sales.csv", ["month,sales,size,name\n", *rows])
    target = () if options == ("--target", "name") else ("--target", "sales")
    done = thalweg("forecast", "sales.csv", *target, *options)
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())


def test_rows_in_mixed_order_are_refused(folder):
    mixed = [line for k in range(3) for line in lines(values())[k::3]]
    written(folder / "sales.csv", ["month,sales\n", *mixed])
    done = thalweg("forecast", "sales.csv", "-t", "sales")
    text = " ".join(done.output.split())
    assert done.exit_code == 2 and "Sort the rows by 'month' first." in text
    assert (
        "'month' goes back 2 times, first in row 45, from 2024-10-01 to 2014-02-01"
        in text
    )


@pytest.mark.parametrize("hours", [0, 7.5])
def test_a_wrong_year_is_said_and_not_to_be_sorted(folder, hours):
    start = np.datetime64("2018-01-01T00:00") + np.timedelta64(int(60 * hours), "m")
    days = start + 1440 * np.arange(200)
    days[3:] -= np.timedelta64(2 * 365, "D")
    rows = [f"{day},{k % 7}.5\n" for k, day in enumerate(days)]
    written(folder / "x.csv", ["when,y\n", *rows])
    done = thalweg("forecast", "x.csv", "-t", "y")
    text, clock = " ".join(done.output.split()), " 07:30" if hours else ""
    assert done.exit_code == 2 and "Sort the rows" not in text
    assert (
        f"x.csv: 'when' goes back once, in row 4, from 2018-01-03{clock} to "
        f"2016-01-05{clock}. So long a step is most often a wrong date, or rows of "
        "different years put together: --time none --horizon ROWS takes the rows in "
        "their order."
    ) in text
    done = thalweg("forecast", "x.csv", "-t", "y", "--time", "none", "--horizon", "7")
    assert done.exit_code == 0 and len(forecasts(folder / "out/x-forecast")) == 7


def test_a_key_with_one_row_is_left_out_by_name(folder, cities):
    glued = [line for city in CITIES for line in cities[city]]
    written(folder / "some.csv", [HEADER, *glued, "Paris,2020-01-01,7\n"])
    done = thalweg(
        "forecast", "some.csv", "-t", "sales", "--key", "city", "--json", "--no-report"
    )
    found = json.loads(done.stdout)
    assert [series["key"] for series in found["series"]] == [["Austin"], ["Waco"]]
    assert any("left out: Paris" in note for note in found["notes"])


def test_options_of_the_forecast_before_are_kept(folder):
    written(folder / "sales.csv", ["month,sales\n", *lines(values())])
    thalweg("forecast", "sales.csv", "-t", "sales", "--horizon", "4", "--no-report")
    model = "out/sales-forecast/model.thalweg"
    done = thalweg("forecast", "sales.csv", "--resume", model, "--horizon", "5")
    assert done.exit_code == 2 and "has --horizon 4" in " ".join(done.output.split())


@pytest.mark.page
def test_a_run_ends_with_the_forecast_that_the_command_makes(folder):
    written(folder / "sales.csv", ["month,sales\n", *lines(values())])
    options = ("-t", "sales", "--horizon", "3")
    thalweg("forecast", "sales.csv", *options, "--no-report")
    done = thalweg("run", "sales.csv", *options, "--lags", "1", "--json")
    assert done.exit_code == 0, done.output
    (series,) = json.loads(done.stdout)["forecast"]["series"]
    assert forecasts(folder / "out/sales") == forecasts(folder / "out/sales-forecast")
    assert len(series["forecast"]) == 3
    page = (folder / "out/sales/report.html").read_text()
    assert page.count('<section class="study"') == 1
    assert "The next values of sales" in page and "Next value</p>" in page


def test_a_run_by_key_ends_with_forecasts(folder, cities):
    glued = [line for city in CITIES for line in cities[city]]
    written(folder / "glued.csv", [HEADER, *glued])
    options = ("--horizon", "2", "--lags", "1", "--no-report")
    done = thalweg("run", "glued.csv", "-t", "sales", *options)
    assert done.exit_code == 0, done.output
    found = forecasts(folder / "out/glued")
    assert [row["city"] for row in found] == ["Austin", "Austin", "Waco", "Waco"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--next", "--resume", "out/sales/model.thalweg"), "with all rows"),
        (("--target", "size"), "one --target"),
    ],
)
def test_a_run_that_cannot_end_with_a_forecast_says_so(folder, options, sentence):
    rows = [f"{line.strip()},{k}.5\n" for k, line in enumerate(lines(values()))]
    written(folder / "sales.csv", ["month,sales,size\n", *rows])
    assert thalweg("run", "sales.csv", "-t", "sales", "--no-report").exit_code == 0
    done = thalweg("run", "sales.csv", "-t", "sales", "--horizon", "3", *options)
    assert done.exit_code == 2 and sentence in " ".join(done.output.split())


def test_numbers_that_rise_and_are_called_so_are_times(folder):
    decades = [f"{1900 + k / 12:.6f},{v!r}\n" for k, v in enumerate(values().tolist())]
    written(folder / "decimal.csv", ["date,y\n", *decades])
    thalweg("forecast", "decimal.csv", "-t", "y", "--horizon", "1", "--no-report")
    (row,) = forecasts(folder / "out/decimal-forecast")
    assert float(row["time"]) == pytest.approx(1900 + ROWS / 12, abs=1e-5)
    falling = [f"{k * 7 % 130},{v!r}\n" for k, v in enumerate(values().tolist())]
    written(folder / "mixed.csv", ["t,y\n", *falling])
    thalweg("forecast", "mixed.csv", "-t", "y", "--horizon", "1", "--no-report")
    assert "step" in forecasts(folder / "out/mixed-forecast")[0]


def test_a_gap_at_the_end_of_one_series_of_many_is_no_future(folder, cities):
    glued = [line for city in CITIES for line in cities[city]]
    third = lines([*values(2), np.nan], key="Paris")
    written(folder / "glued.csv", [HEADER, *glued, *third])
    done = thalweg("forecast", "glued.csv", "-t", "sales", "--no-report", "--json")
    assert json.loads(done.stdout)["horizon"] == 12


def test_a_file_of_something_else_is_not_resumed(folder, cities):
    written(folder / "sales.csv", ["month,sales\n", *lines(values())])
    Forecaster(3).update(values()).save(folder / "plain.thalweg")
    written(folder / "no.thalweg", ["nothing"])
    glued = [line for city in CITIES for line in cities[city]]
    written(folder / "glued.csv", [HEADER, *glued])
    options = ("-t", "sales", "--lags", "1", "--no-report")
    thalweg("run", "glued.csv", *options)
    thalweg("forecast", "glued.csv", "-t", "sales", "--horizon", "2", "--no-report")
    for command, model in (
        ("forecast", "plain.thalweg"),
        ("forecast", "no.thalweg"),
        ("forecast", "missing.thalweg"),
        ("forecast", "out/glued/models.db"),
        ("run", "out/glued-forecast/models.db"),
    ):
        done = thalweg(command, "sales.csv", "--resume", model)
        assert done.exit_code == 2, (command, model, done.output)
        assert "Traceback" not in done.output and model.split("/")[-1] in done.output


@pytest.mark.parametrize("first", ["Yes", ""])
def test_yes_and_no_are_known_in_advance_as_ones_and_zeros_are(tmp_path, first):
    """Of a column of text that says neither, a note is printed."""
    rng = np.random.default_rng(3)
    flags = rng.random(ROWS) < 0.3
    y = values() + 40 * flags
    y[-4:] = np.nan
    words = [first, *np.where(flags, "Yes", "no")[1:]]
    numbers = ["" if not first else "1", *flags[1:].astype(int).astype(str)]
    for name, cells in (("words", words), ("numbers", numbers)):
        made = [
            f"{line.rstrip()},{cell},{'red' if k % 2 else 'blue'}\n"
            for k, (line, cell) in enumerate(zip(lines(y), cells, strict=True))
        ]
        text = "month,sold,promotion,colour\n" + "".join(made)
        (tmp_path / f"{name}.csv").write_text(text)
    outputs = {}
    for name in ("words", "numbers"):
        done = thalweg("forecast", f"{name}.csv", "-t", "sold", "--out", name)
        assert done.exit_code == 0, done.output
        outputs[name] = " ".join(done.output.split())
    assert forecasts(tmp_path / "words") == forecasts(tmp_path / "numbers")
    assert "Column 'promotion': yes counts as 1, no as 0." in outputs["words"]
    assert "Known in advance, from rows without 'sold': promotion." in outputs["words"]
    assert "Column 'colour' is not all numbers and is left out." in outputs["words"]


def test_a_column_that_says_neither_yes_nor_no_later_is_left_out(tmp_path):
    made = [f"{line.rstrip()},{'no' if k < 100 else 'maybe'}\n"
            for k, line in enumerate(lines(values()))]  # fmt: skip
    (tmp_path / "a.csv").write_text("month,sold,open\n" + "".join(made))
    done = thalweg("forecast", "a.csv", "-t", "sold", "--features", "open")
    assert done.exit_code == 2
    assert "'open' is 'maybe', which says neither yes nor no" in done.output
    done = thalweg("forecast", "a.csv", "-t", "sold")
    assert done.exit_code == 0, done.output
    assert "Column 'open' is not all numbers and is left out." in done.output


def test_rows_without_times_are_not_said_to_show_no_season(folder):
    written(folder / "y.csv", ["y\n", *(f"{value}\n" for value in values())])
    shown = " ".join(thalweg("forecast", "y.csv", "-t", "y").output.split())
    assert "24 rows: there is no column of dates that could show a season;" in shown
