"""``thalweg``: the program, and the list of its commands."""

from typing import Annotated

import typer

from thalweg import __version__
from thalweg.cli.command_group import CommandInfo, LazyGroup

YOUR_DATA, DEMONSTRATION = "Your data", "Demonstration"


class Commands(LazyGroup):
    """The commands of ``thalweg``."""

    command_infos = {
        "run": CommandInfo("Predict every row of a table, then learn it", YOUR_DATA),
        "forecast": CommandInfo("Forecast the next values of a column", YOUR_DATA),
        "compare": CommandInfo("Run every learner on a table, with regret", YOUR_DATA),
        "serve": CommandInfo("Serve a model for each key over HTTP", YOUR_DATA),
        "repair": CommandInfo("Set aside what a file of models cannot read", YOUR_DATA),
        "report": CommandInfo("Write the page or the figures again", YOUR_DATA),
        "warm": CommandInfo("Compile all kernels now, not at first use", YOUR_DATA),
        "demo": CommandInfo("Forecasts and every learner on real data", DEMONSTRATION),
        "reproduce": CommandInfo("The paper's theorems as experiments", DEMONSTRATION),
    }


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="Start with: thalweg run stream.csv --target y",
)


def _print_version(show: bool) -> None:
    if show:
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
