"""docs/forecaster.md: its examples run, and print what they say."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/forecaster.md"

pytest.importorskip("pandas")


def test_the_examples_of_the_page_run_and_print_what_it_says(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S))
    names = {}
    exec(compile(code, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    assert "mean" in printed.splitlines()[0]
    assert printed.count("1204") == 1 and printed.count("True") == 2
    assert "2026-04-02 00:00:00+02:00" in printed

    backtest, sold = names["backtest"], names["sold"]
    assert backtest.mean.shape == (len(sold), 24)
    inside = backtest.is_inside[200:]
    assert 0.85 < inside[:900, 0].mean() < 0.95
    # The dear hours to come are forecast four less than the cheap ones.
    mean, price = names["shop"].forecast(future=names["later"]).mean, names["price"]
    cheap = tuple(0 * price[1200:] + 2)
    same = names["shop"].forecast(future={"price": cheap}).mean
    assert abs((same - mean)[price[1200:] > 2] - 4).max() < 0.5
