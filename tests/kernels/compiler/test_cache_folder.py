"""Where machine code is cached: no home, nothing writable, a folder of someone else."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import thalweg
from thalweg.kernels.compiler.jit import ANNOUNCEMENT

pytestmark = pytest.mark.nightly

PACKAGE = Path(thalweg.__file__).parent
OTHER_USER = 12345  # has no passwd entry
KERNEL = "*.dot-*"  # files of the kernel that COMPILE calls
COMPILE = """
import numpy as np
from thalweg.kernels.predict import dot
# PREPARE
out = np.empty(1)
dot(np.ones(2), np.ones((2, 1)), out)
assert out == 2
print("hits:", sum(dot.stats.cache_hits.values()))
"""


def run_python(code, folder, **changes):
    """Run the code as someone without a home who may only write to ``folder``.

    ``changes`` are those of the environment; None removes a variable.
    """
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment = kept | {
        "HOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(folder / "site"),
        "TMPDIR": str(folder / "tmp"),
    }
    environment |= changes
    return subprocess.run(
        [*other_user(), sys.executable, "-c", code],
        env={name: value for name, value in environment.items() if value is not None},
        cwd=folder / "work",
        capture_output=True,
        text=True,
    )


def other_user():
    """The start of a command by which root becomes a user who can read everything."""
    if os.getuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("root may write everywhere, and setpriv is not installed")
    user = ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}"]
    read = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    command = [*user, "--clear-groups", *read]
    if subprocess.run([*command, "true"], capture_output=True).returncode:
        pytest.skip("root may write everywhere, and setpriv cannot change the user")
    return command


@pytest.fixture
def folder():
    """A read-only copy of the package, an empty folder to work in, one for tempfile."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PACKAGE, folder / "site" / "thalweg", ignore=ignored)
        for path in [folder / "site", *(folder / "site").rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        for name, mode in (("work", 0o777), ("tmp", 0o1777)):
            (folder / name).mkdir()
            (folder / name).chmod(mode)
        yield folder
        for path in (folder / "site").rglob("*/"):
            path.chmod(0o755)


def written(folder):
    """The folders and files at the top of those that may be written to."""
    return sorted(
        path.name for part in ("work", "tmp") for path in (folder / part).iterdir()
    )


NOTHING_WRITABLE = {
    "no home": {"HOME": None},
    "a home that does not exist": {},
    "a cache folder that cannot be written": {"NUMBA_CACHE_DIR": "/proc/cache"},
    "a cache that is a file": {"XDG_CACHE_HOME": "/dev/null"},
    "a cache relative to where Python runs": {"XDG_CACHE_HOME": "cache"},
    "an empty name of a cache": {"XDG_CACHE_HOME": "", "HOME": None},
}


@pytest.mark.parametrize("reason", NOTHING_WRITABLE)
def test_kernels_compile_where_no_cache_can_be_written(folder, reason):
    """All processes of a user share one folder, which is the only thing left behind."""
    if reason == "no home" and os.getuid() != 0:
        pytest.skip("only root can become a user without a passwd entry")
    own = OTHER_USER if os.getuid() == 0 else os.getuid()
    for _ in range(2):
        result = run_python(COMPILE, folder, **NOTHING_WRITABLE[reason])
        assert result.returncode == 0, result.stderr
        assert written(folder) == [f"thalweg-{own}"]
    assert result.stdout == "hits: 1\n"  # the second finds what the first has compiled
    status = (folder / "tmp" / f"thalweg-{own}").stat()
    assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (own, 0o700)


@pytest.mark.parametrize("squatter", ["another user's", "writable by all", "a link"])
def test_a_cache_that_someone_else_can_write_to_is_not_used(folder, squatter):
    """Machine code from it would be run: kernels are compiled without a cache."""
    own = OTHER_USER if os.getuid() == 0 else os.getuid()
    place, other = folder / "tmp" / f"thalweg-{own}", folder / "work" / "other"
    if squatter == "a link":
        other.mkdir()
        other.chmod(0o777)
        place.symlink_to(other)
    else:
        place.mkdir()
        if os.getuid() == 0 and squatter == "writable by all":
            os.chown(place, own, own)
        elif squatter == "another user's" and os.getuid() != 0:
            pytest.skip("only root can make another user's folder")
        place.chmod(0o777)
    result = run_python(COMPILE, folder)
    assert result.returncode == 0, result.stderr
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("squatter", ["another user's", "writable by all"])
def test_a_users_cache_that_someone_else_can_write_to_is_not_used(folder, squatter):
    own = OTHER_USER if os.getuid() == 0 else os.getuid()
    if squatter == "another user's" and os.getuid() != 0:
        pytest.skip("only root can make another user's folder")
    place = folder / "work" / "thalweg"
    place.mkdir()
    if os.getuid() == 0 and squatter == "writable by all":
        os.chown(place, own, own)
    place.chmod(0o777)
    result = run_python(COMPILE, folder, XDG_CACHE_HOME=str(place.parent))
    assert result.returncode == 0, result.stderr
    assert list(place.iterdir()) == []
    assert [path.name for path in (folder / "tmp").iterdir()] == [f"thalweg-{own}"]


def test_kernels_compile_where_nothing_at_all_can_be_written(folder):
    for part in ("work", "tmp"):
        (folder / part).chmod(0o555)
    # /tmp, which tempfile would try next, can be written everywhere but in containers.
    code = "import tempfile; tempfile._candidate_tempdir_list = lambda: []\n" + COMPILE
    result = run_python(code, folder)
    assert result.returncode == 0, result.stderr
    assert written(folder) == []


def test_a_cache_that_is_named_or_at_home_is_used(folder):
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        place = folder / "work" / name
        place.mkdir()
        place.chmod(0o777)
        result = run_python(COMPILE, folder, **{name: str(place)})
        assert result.returncode == 0, result.stderr
        assert list(place.rglob(KERNEL))
    assert not list((folder / "tmp").iterdir())


def named_cache(folder):
    place = folder / "work" / "cache"
    place.mkdir()
    place.chmod(0o777)
    return place


def test_a_damaged_cache_is_written_anew(folder):
    place = named_cache(folder)
    for hits in (0, 1, 0, 1):
        result = run_python(COMPILE, folder, NUMBA_CACHE_DIR=str(place))
        expected = "" if hits else f"{ANNOUNCEMENT}\n"
        assert (result.stdout, result.stderr) == (f"hits: {hits}\n", expected)
        if hits:
            for path in place.rglob(KERNEL):
                path.write_bytes(b"")


def test_a_cache_that_disappears_is_done_without(folder):
    place = named_cache(folder)
    remove = f"import shutil; shutil.rmtree({str(place)!r}); open({str(place)!r}, 'w')"
    code = COMPILE.replace("# PREPARE", remove)
    result = run_python(code, folder, NUMBA_CACHE_DIR=str(place))
    assert (result.stdout, result.stderr) == ("hits: 0\n", f"{ANNOUNCEMENT}\n")


def test_a_cache_that_an_administrator_made_is_read_by_all(folder):
    """As in an image: filled while it is built, read-only for who runs it."""
    place = named_cache(folder)
    for hits in (0, 1):
        result = run_python(COMPILE, folder, NUMBA_CACHE_DIR=str(place))
        assert result.stdout == f"hits: {hits}\n"
        for path in [place, *place.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
