"""``thalweg serve``: a model per key behind a port."""

import ast
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from thalweg import serve as server
from thalweg.cli.options import check_choice
from thalweg.errors import InvalidParameterError
from thalweg.imputer import POLICIES, POLICY_HELP, MissingPolicy
from thalweg.report.console import print_sentence, stderr_console

if TYPE_CHECKING:
    from thalweg.learners import Learner


def parse_learner(text: str) -> "Learner[Any]":
    """The learner in ``Tracker`` or ``RecursiveLeastSquares(discount=0.99)``.

    What a learner's repr gives is taken. Settings are numbers, texts, None, True and
    False; nothing in ``text`` is executed.
    """
    # The help of a command needs no learners.
    learners = import_module("thalweg.learners")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        call = tree if isinstance(tree, ast.Call) else None
        name = call.func if call else tree
        if not isinstance(name, ast.Name) or (call and call.args):
            raise ValueError
        settings = {
            str(word.arg): ast.literal_eval(word.value)
            for word in (call.keywords if call else ())
        }
        kind = getattr(learners, name.id) if name.id in learners.__all__ else None
        if not isinstance(kind, type) or not issubclass(kind, learners.Learner):
            raise ValueError
        learner: Learner[Any] = kind(**settings)
        return learner
    except (SyntaxError, ValueError, TypeError) as error:
        if isinstance(error, InvalidParameterError):
            raise
        reason = f" ({error})" if isinstance(error, TypeError) else ""
        raise InvalidParameterError(
            "--learner takes the name of a learner, with its settings or without, such "
            f"as Tracker or 'RecursiveLeastSquares(discount=0.99)'. Got {text!r} "
            f"instead{reason}."
        ) from None


TOKEN_VARIABLE = "THALWEG_TOKEN"
MIN_TOKEN_LENGTH = 16
ADDRESS = "Address"
SECONDS_OF_DAY = 86_400.0


def serve(
    models: Annotated[
        Path,
        typer.Argument(
            help="SQLite file of the models, as KeyedModels writes it; it is made if "
            "there is none.",
            metavar="MODELS",
        ),
    ],
    learner: Annotated[
        str | None,
        typer.Option(
            help="Learner of every key, with its settings, such as "
            "'RecursiveLeastSquares(discount=0.99)'. If not given: that of MODELS, or "
            "the Tracker, which has nothing to choose, for a new file.",
            metavar="LEARNER",
        ),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            help=f"{POLICY_HELP} If not given: that of MODELS, or refuse.",
            metavar="POLICY",
        ),
    ] = None,
    memory: Annotated[
        float,
        typer.Option(
            help="Gigabytes for models in memory: 1 holds those of 2,000 Trackers or "
            "100,000 keys of least squares with 8 features. Others wait in MODELS.",
            min=0.001, metavar="GB",
        ),
    ] = 1.0,
    ttl: Annotated[
        float | None,
        typer.Option(
            help="Days after which a key is forgotten that has observed no row. If "
            "not given, never.",
            min=0.0, metavar="DAYS",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen at; any but this computer's own needs a token.",
            rich_help_panel=ADDRESS, metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            help="Port to listen at; 0 takes a free one.", min=0, max=65535,
            rich_help_panel=ADDRESS, metavar="PORT",
        ),
    ] = 8000,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Name of this server in the header Host of requests, besides "
            "localhost and --host, as behind a proxy. Can be repeated. With a token "
            "all names are allowed.",
            rich_help_panel=ADDRESS, metavar="NAME",
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="A limit of requests, connections or memory, such as rows=500. Can be "
            "repeated; docs/serving.md lists them.",
            rich_help_panel=ADDRESS, metavar="NAME=NUMBER",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File that holds the token, which requests must bring as "
            "Authorization: Bearer TOKEN. If not given, THALWEG_TOKEN from the "
            "environment; without either, no token is asked for.",
            rich_help_panel=ADDRESS, metavar="FILE",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Serve a model for each key over HTTP: predict, learn, forecast, watch.

    A row is learnt once and is on the disk when the answer comes, whatever crashes; a
    repeated request changes nothing. One process may have MODELS open.

        thalweg serve models.sqlite
        curl -X POST localhost:8000/v1/models/pump-7/observe \\
          -H 'Content-Type: application/json' -d '{"x": [0.5, 1], "y": 2, "seq": 1}'
        curl -X POST localhost:8000/v1/models/pump-7/predict \\
          -H 'Content-Type: application/json' -d '{"x": [0.6, 1], "interval": 0.9}'

    Also: /v1/observe (rows of many keys), /v1/models/KEY/forecast, /v1/models, /health,
    /metrics (Prometheus), /v2 (Open Inference Protocol), /openapi.json; and the live
    page at /, in a browser. All of it is in docs/serving.md.

    Ctrl-C or kill ends it after the requests in hand. Exit codes: 2 something was wrong
    with the input, 130 ended by Ctrl-C, 143 by kill.
    """
    check_choice("--missing", missing, POLICIES)
    server.run_server(
        models,
        None if learner is None else parse_learner(learner),
        host,
        port,
        read_token(token_file),
        server.Limits.parse(limit or ()),
        allowed_hosts=allowed_host or (),
        missing=cast(MissingPolicy | None, missing),
        memory=round(memory * 2**30),
        ttl=None if ttl is None else ttl * SECONDS_OF_DAY,
        on_ready=lambda address: print_sentence(
            stderr_console(), f"Serves {models} at {address}, the live page too."
        ),
    )


def read_token(file: Path | None) -> str | None:
    """The token in a file, or in the environment; None where there is none."""
    name = TOKEN_VARIABLE if file is None else str(file)
    text = os.environ.get(TOKEN_VARIABLE) if file is None else file.read_text()
    if text is None:
        return None
    token = text.strip()
    if len(token) < MIN_TOKEN_LENGTH or not token.isascii() or " " in token:
        raise InvalidParameterError(
            f"The token in {name} must have at least {MIN_TOKEN_LENGTH} characters of "
            f"ASCII and no blanks. Got {len(token)} characters."
        )
    return token
