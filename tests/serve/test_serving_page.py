"""docs/serving.md: its examples run, and print what they say."""

import re
import sys
from dataclasses import asdict
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np

import thalweg as tw
from tests.serve.server_process import serving
from thalweg.serve.limits import Limits

PAGE = Path(__file__).parents[2] / "docs/serving.md"


def stand_in_for_mlflow(monkeypatch):
    """The base class that the example derives from."""
    mlflow, pyfunc = ModuleType("mlflow"), ModuleType("mlflow.pyfunc")
    pyfunc.PythonModel = type("PythonModel", (), {})
    mlflow.pyfunc = pyfunc
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    monkeypatch.setitem(sys.modules, "mlflow.pyfunc", pyfunc)


def test_the_examples_of_the_page_run_and_print_what_it_says(
    tmp_path, monkeypatch, capsys
):
    stand_in_for_mlflow(monkeypatch)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S))
    names = {}
    with serving(tmp_path / "models.sqlite") as (address, _):
        local = code.replace("http://127.0.0.1:8000", address)
        exec(compile(local, str(PAGE), "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("{'key': 'pump-7', 'seq': 49, 'outcome': 'learnt'")
    pump, band = tw.Online(), eval(lines[1])
    for seq in range(50):
        pump.update([float(seq % 7), 1.0], 3.0 * (seq % 7) + 1.0)
    expected = pump.predict([2.0, 1.0], 0.9)
    assert list(band.values()) == [float(end) for end in expected]
    assert len(eval(lines[2])["high"]) == 2
    assert lines[3:5] == ["3", "3"]
    assert eval(lines[5])[0]["data"] == [band["prediction"]]

    # The wrapper for MLflow predicts what the saved model does, rows and frames alike.
    model = tw.Online(tw.RecursiveLeastSquares(0.99))
    x = np.random.default_rng(0).normal(size=(40, 2))
    model.run(x, x.sum(axis=1))
    model.save(tmp_path / "pump.thalweg")
    wrapper = names["ThalwegModel"]()
    artifacts = {"model": str(tmp_path / "pump.thalweg")}
    wrapper.load_context(SimpleNamespace(artifacts=artifacts))
    np.testing.assert_array_equal(wrapper.predict(None, x), model.predict(x))
    band = wrapper.predict(None, x, params={"interval": 0.8})
    np.testing.assert_array_equal(band.low, model.predict(x, 0.8).low)


def test_the_page_states_the_limits_that_there_are():
    """A row of the table for each, or for several with a default each."""
    stated = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 5 and cells[1].startswith("`") and cells[2][:1].isdigit():
            names = re.findall(r"`(\w+)`", cells[1])
            numbers = [int(n.replace(",", "")) for n in cells[2].split(", ")]
            stated |= zip(names, numbers, strict=True)
    assert stated == asdict(Limits())
