"""Runs whose page nobody looks at write an empty one, as commands do."""

from tests.cli.conftest import empty_page as empty_page
