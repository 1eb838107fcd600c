"""``python -m thalweg.cli``."""

from thalweg.cli.entry import main

main()
