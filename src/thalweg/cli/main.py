"""``thalweg``: one command for each thing a person wants done."""

from typing import Annotated

import typer

from thalweg import __version__
from thalweg.cli.lazy import Command, LazyGroup

YOURS, OURS = "Your data", "What it is worth"


class Commands(LazyGroup):
    """The commands of ``thalweg``."""

    known = {
        "run": Command("Predict a stream, learn it, and say how well that went", YOURS),
        "compare": Command("Run every learner on a stream, beside hindsight", YOURS),
        "report": Command("Make the page or the figures of a study again", YOURS),
        "demo": Command("Every learner on real data, and a page to look at", OURS),
        "accuracy": Command("The Tracker against the best fixed settings", OURS),
        "reproduce": Command("The paper's theorems as experiments", OURS),
        "bench": Command("Speed, side by side with other libraries", OURS),
    }


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="Begin with: thalweg run stream.csv --target y",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"thalweg {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:  # fmt: skip
    """Online learning on drifting streams, with the regret measured."""
