"""``thalweg accuracy``: the Tracker against the best fixed settings in hindsight."""

from typing import Annotated

import typer

from thalweg.cli import options, work


def accuracy(
    synthetic: Annotated[
        bool,
        typer.Option(
            "--synthetic", help="Ten kinds of streams made up, instead of real ones."
        ),
    ] = False,
    rivals: Annotated[
        bool,
        typer.Option(
            "--rivals", help="Against River, persistence and the paper's mixture."
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="The first 5,000 rounds of each stream: under a minute."
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Measure the Tracker's error on many streams, beside what others achieve.

    By default on the public streams that `make data` installs, against the best of 30
    pairs of discount and ridge that hindsight would have chosen for each stream.

        thalweg accuracy --quick
        thalweg accuracy --synthetic
        thalweg accuracy --rivals
    """
    work.measure_accuracy(synthetic, rivals, quick, json)
