import re
from pathlib import Path

import numpy as np

README = Path(__file__).parent.parent / "README.md"


def test_what_the_readme_shows_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names = {}
    exec(compile("\n".join(shown), str(README), "exec"), names)
    np.testing.assert_allclose(
        names["truth"][-1], names["model"].coefficients[:3], atol=0.1
    )
