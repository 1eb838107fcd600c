"""The cache of kernels is never stale, and no file of it does harm."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import thalweg
from thalweg.kernels.compiler import kernel_cache
from thalweg.kernels.compiler.jit import COMPILED, kernel
from thalweg.kernels.compiler.kernel_cache import KEPT_FOLDERS, KernelCache

needs_compiler = pytest.mark.skipif(not COMPILED, reason="Nothing is compiled.")
NATIVE = ("x86_64-linux", "some-cpu", "+avx2,+fma,+sse3")
BASELINE = ["common-cpu", "+avx2,+fma"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder as the only cache, and no wheel's kernels."""
    monkeypatch.setattr(kernel_cache, "writable_folder", lambda: tmp_path)
    monkeypatch.setattr(kernel_cache, "readable_folders", lambda: [tmp_path])
    monkeypatch.setattr(kernel_cache, "SHIPPED", tmp_path / "missing.zip")
    return tmp_path


def triple(x):
    return 3.0 * x


def hits():
    """1 where a new process, as it were, finds the kernel in the cache; it is right."""
    compiled = kernel(triple)
    assert compiled(2.0) == 6.0
    return sum(compiled.stats.cache_hits.values())


def files(folder):
    return [path for path in folder.glob("*/*") if path.suffix != ".lock"]


@needs_compiler
def test_a_kernel_is_compiled_once(folder):
    assert [hits(), hits(), hits()] == [0, 1, 1]


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "one bit": lambda path: path.write_bytes(
        (data := path.read_bytes())[:-50] + bytes([data[-50] ^ 1]) + data[-49:]
    ),
    "of another kernel": lambda path: path.write_bytes(
        kernel_cache._checksum(path.parent.name, "other", b"") + b""
    ),
    "not what it should hold": lambda path: path.write_bytes(
        kernel_cache._checksum(path.parent.name, path.name, b"no pickle") + b"no pickle"
    ),
    "missing": lambda path: path.unlink(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@needs_compiler
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_is_not_the_kernels_own_counts_as_missing(folder, damage):
    assert hits() == 0
    [path] = files(folder)
    DAMAGES[damage](path)
    assert hits() == 0
    assert hits() == (damage != "a folder")  # which cannot be written over


@needs_compiler
def test_a_kernel_of_another_digest_is_not_found(folder, monkeypatch):
    assert hits() == 0
    [path] = files(folder)
    digest = kernel_cache.environment_digest
    monkeypatch.setattr(kernel_cache, "environment_digest", lambda cpu: digest(NATIVE))
    assert [hits(), hits()] == [0, 1]
    [new] = set(files(folder)) - {path}
    shutil.copy(path, new)  # who copies files between folders gets none of them
    assert hits() == 0


@needs_compiler
def test_nothing_is_read_or_written_once_a_source_has_changed(folder, monkeypatch):
    assert hits() == 0
    source = folder / "source.py"
    source.write_text("")
    stamps = {source: kernel_cache._stamp(source)}
    monkeypatch.setattr(kernel_cache, "_STAMPS", stamps)
    assert hits() == 1
    source.write_text("changed")
    assert hits() == 0
    source.unlink()
    assert hits() == 0
    monkeypatch.setattr(kernel_cache, "_STAMPS", {})  # of a zipped package
    assert hits() == 0


@pytest.mark.parametrize(
    "change",
    [
        {"_SOURCE_DIGEST": "other"},
        {"numba.__version__": "9.9"},
        {"llvmlite.__version__": "9.9"},
        {"config.BOUNDSCHECK": 1},
        {"config.OPT": "max"},
        {"sys.implementation.cache_tag": "cpython-399"},
    ],
    ids=str,
)
def test_all_that_machine_code_depends_on_is_in_the_digest(monkeypatch, change):
    of = kernel_cache.environment_digest.__wrapped__
    before = of(NATIVE)
    [(name, value)] = change.items()
    *owners, name = name.split(".")
    owner = kernel_cache
    for part in owners:
        owner = getattr(owner, part)
    monkeypatch.setattr(owner, name, value)
    assert of(NATIVE) != before


def test_the_digest_knows_the_processor_and_every_file_of_kernels(
    tmp_path, monkeypatch
):
    of = kernel_cache.environment_digest
    others = [(*NATIVE[:i], "other", *NATIVE[i + 1 :]) for i in range(3)]
    assert len({of(NATIVE), *map(of, others)}) == 4
    (tmp_path / "inner").mkdir()
    monkeypatch.setattr(kernel_cache, "SOURCES", tmp_path)
    digests = set()
    for name in ("one.py", "inner/two.py"):
        for text in ("a", "b"):
            (tmp_path / name).write_text(text)
            digest, stamps = kernel_cache._read_sources()
            digests.add(digest)
    assert (len(digests), len(stamps)) == (4, 2)


def test_old_digests_are_removed_and_those_in_use_are_kept(folder):
    for age in range(KEPT_FOLDERS + 3):
        path = folder / f"digest-{age}"
        path.mkdir()
        os.utime(path, (1e9 - age, 1e9 - age))
    kernel_cache._mark_as_used(f"digest-{KEPT_FOLDERS + 2}")
    kernel_cache._write(folder / "new", "kernel", b"code")
    kept = {path.name for path in folder.iterdir()}
    assert kept >= {"new", f"digest-{KEPT_FOLDERS + 2}", "digest-0"}
    assert len(kept) == KEPT_FOLDERS
    assert [path.name for path in files(folder)] == ["kernel"]


def shipped(tmp_path, monkeypatch, digest=None, content=b"code"):
    """An archive as a wheel has it, with one kernel."""
    triple = NATIVE[0]
    digest = digest or kernel_cache.environment_digest((triple, *BASELINE))
    path = tmp_path / "shipped.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = json.dumps([digest, *BASELINE]).encode()
        checksum = kernel_cache._checksum(digest, "kernel", b"code")
        archive.writestr("kernel", checksum + content)
    monkeypatch.setattr(kernel_cache, "SHIPPED", path)
    return path


def test_shipped_kernels_are_found_where_the_processor_has_their_features(
    tmp_path, monkeypatch
):
    shipped(tmp_path, monkeypatch)
    assert kernel_cache._read_shipped("kernel", NATIVE) == b"code"
    for features in ("+avx2,-fma", "+avx2", "", "+avx2,+fma4"):
        with pytest.raises(LookupError):
            kernel_cache._read_shipped("kernel", (*NATIVE[:2], features))
    with pytest.raises(LookupError):
        kernel_cache._read_shipped("kernel", ("aarch64-linux", *NATIVE[1:]))
    with pytest.raises(KeyError):
        kernel_cache._read_shipped("another", NATIVE)
    monkeypatch.setenv(kernel_cache.SHIPPED_VARIABLE, "0")
    with pytest.raises(LookupError):
        kernel_cache._read_shipped("kernel", NATIVE)


def test_shipped_kernels_of_other_sources_or_with_damage_are_refused(
    tmp_path, monkeypatch
):
    shipped(tmp_path, monkeypatch, digest="of other sources")
    with pytest.raises(LookupError):
        kernel_cache._read_shipped("kernel", NATIVE)
    shipped(tmp_path, monkeypatch, content=b"c0de")
    with pytest.raises(ValueError, match="damaged"):
        kernel_cache._read_shipped("kernel", NATIVE)


@needs_compiler
@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:-9], lambda data: b"PK" + data]
)
def test_a_damaged_archive_costs_a_compilation(folder, monkeypatch, damage):
    path = shipped(folder, monkeypatch)
    path.write_bytes(damage(path.read_bytes()))
    assert [hits(), hits()] == [0, 1]


@needs_compiler
def test_a_loaded_kernel_can_be_linked_by_one_that_is_compiled(folder):
    hits()
    inner = kernel(triple)
    assert inner(1.0) == 3.0  # loaded, with no more than its names
    assert sum(inner.stats.cache_hits.values()) == 1

    @kernel
    def outer(x):
        return inner(x) + 1.0

    assert outer(2.0) == 7.0


def test_a_function_without_a_source_file_is_never_found_again():
    names = {KernelCache(eval("lambda x: x"))._file_name(("x",)) for _ in range(2)}
    assert len(names) == 2


FIVE_KERNELS = """
import numpy as np
from thalweg import bandits, learners, Ball, Block, SquaredError
rng = np.random.default_rng(0)
block = Block(rng.normal(size=(50, 2)), rng.normal(size=50))
for learner in (
    learners.OnlineGradientDescent(0.1, Ball(3.0)),
    learners.DiscountedGradient(0.9),
    learners.DiscountedNewton(0.9, 0.5),
    learners.Ader(100, 30.0, Ball(3.0)),
):
    _, trace = learner.run(learner.init(np.zeros(2)), SquaredError(), block)
    print(trace.prediction.sum())
policy = bandits.DiscountedUCB()
print(bandits.simulate(policy, bandits.switching_arms(), rounds=200).regret.sum())
"""
CALLEES = {
    "losses.py": ("    r = p - y\n", "    r = p + y\n"),
    "lin_ucb.py": ("values[k] > values[best]:", "values[k] < values[best]:"),
}
"""Functions of other files that the five kernels call, and other bodies as long."""


@pytest.mark.nightly
@needs_compiler
def test_a_change_of_what_a_kernel_calls_is_seen_at_once(tmp_path):
    """Even where a file keeps its size and its times, as in layers of an image."""
    package = Path(thalweg.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, tmp_path / "thalweg", ignore=ignored)

    def results(cache):
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(tmp_path / cache),
            "PYTHONPATH": str(tmp_path),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-c", FIVE_KERNELS]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    before = results("cache")
    assert results("cache") == before
    for name, (old, new) in CALLEES.items():
        path = tmp_path / "thalweg/kernels" / name
        times, text = path.stat(), path.read_text()
        assert (text.count(old), len(old)) == (1, len(new))
        path.write_text(text.replace(old, new))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = results("cache")
    assert after == results("empty")
    assert len(after) == 5
    assert all(new != old for new, old in zip(after, before, strict=True))
