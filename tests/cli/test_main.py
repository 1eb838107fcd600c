import subprocess
import sys

import thalweg as tw
from tests.cli.streams import thalweg
from thalweg.cli.main import Commands

HEAVY = ("numba", "altair", "pyarrow", "scipy", "pandas", "thalweg.learners")


def loaded_by(*arguments):
    """The heavy modules that a command imports."""
    code = (
        "import sys\n"
        "from thalweg.cli.main import app\n"
        f"app({list(arguments)!r}, standalone_mode=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_help_imports_nothing_heavy():
    assert loaded_by("--help") == "[]"
    for name in Commands.command_infos:
        assert loaded_by(name, "--help") == "[]", name


def test_every_command_is_named_and_has_help():
    done = thalweg("--help")
    assert done.exit_code == 0
    for name in Commands.command_infos:
        assert f" {name} " in done.output
        help_page = thalweg(name, "--help")
        assert help_page.exit_code == 0, help_page.output
        assert max(map(len, help_page.output.splitlines())) <= 80


def test_a_word_too_few_or_wrong_is_answered():
    assert "Usage" in thalweg().output
    wrong = thalweg("rum")
    assert wrong.exit_code == 2 and "Did you mean 'run'?" in wrong.output
    assert thalweg("--version").output == f"thalweg {tw.__version__}\n"


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    def needs_pandas(*options):
        raise ModuleNotFoundError("No module named 'pandas'", name="pandas.core")

    monkeypatch.setattr("thalweg.runs.demonstration.show_demo", needs_pandas)
    done = thalweg("demo")
    assert done.exit_code == 2
    assert done.stderr == ("This needs pandas. Install it: pip install pandas.\n")
