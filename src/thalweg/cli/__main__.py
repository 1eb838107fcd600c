"""``python -m thalweg.cli``."""

from thalweg.cli.program import main

main()
