import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[2] / "docs/scikit-learn.md"


def test_the_example_of_the_page_runs_and_beats_gradient_descent(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names = {}
    exec(compile(example, str(PAGE), "exec"), names)
    assert "thalweg" in capsys.readouterr().out
    errors = names["errors"]
    assert errors["thalweg"] < 0.5 * errors["SGD"]
    np.testing.assert_allclose(names["tracker"].coef_, names["truth"][-1], atol=0.05)
    assert (names["low"] < names["mean"]).all() and (
        names["mean"] < names["high"]
    ).all()
