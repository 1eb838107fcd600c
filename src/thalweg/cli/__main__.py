"""``python -m thalweg.cli``."""

from thalweg.cli.main import app

app(prog_name="thalweg")
