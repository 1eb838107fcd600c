"""``thalweg``: one command for each thing a person wants done."""

import typer

from thalweg.cli.reproduce import reproduce

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Online learning on drifting streams, with the regret measured.",
)
app.command()(reproduce)


@app.callback()
def main() -> None:
    """Keep ``reproduce`` a command of its own while it is the only one."""
