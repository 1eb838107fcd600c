"""``thalweg serve`` as a process, as users start it."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import numpy as np


@contextmanager
def serving(path, *options):
    """The address of a server, and its process, which is ended with SIGTERM."""
    command = [sys.executable, "-m", "thalweg.cli", "serve", str(path), "--port", "0"]
    # A shell lets its background processes ignore SIGINT, and children inherit that:
    # the server would then end with 0, as the signal that it raises again does nothing.
    with subprocess.Popen(
        [*command, *options], stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:  # fmt: skip
        try:
            text = ""
            while (found := re.search(r"http://[\w.:]+\d", text)) is None:
                line = process.stderr.readline()
                assert line, text
                text += line
            yield found[0], process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(30)


def post_json(address, body, **headers):
    """The answer to a request that posts JSON."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(
        address,
        json.dumps(body).encode(),
        {"Content-Type": "application/json"} | names,
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.loads(response.read())


def changing_rows(count, change, seed=0):
    """Rows whose target follows their features, with a higher level from ``change``."""
    rng, rows = np.random.default_rng(seed), []
    for seq in range(count):
        x = rng.normal(size=2)
        level = 10.0 if seq < change else 25.0
        y = level + x[0] + 0.5 * x[1] + 0.3 * rng.normal()
        rows.append({"x": x.tolist(), "y": float(y), "seq": seq})
    return rows
