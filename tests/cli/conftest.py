"""Commands whose page nobody looks at write an empty one."""

import pytest


@pytest.fixture(autouse=True)
def empty_page(request, monkeypatch):
    """Draw pages for tests marked ``page`` alone: that takes longer than most runs."""

    def write_nothing(content, path, title=None):
        path.write_text("")

    if request.node.get_closest_marker("page") is None:
        monkeypatch.setattr("thalweg.report.write_page", write_nothing)
