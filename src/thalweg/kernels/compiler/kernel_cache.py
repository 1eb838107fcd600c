"""Machine code of kernels on disk: never stale, checked, and shipped with a wheel.

Numba's own cache looks at the file that defines a kernel, not at the files of what the
kernel calls. Here the name of the folder is a digest of all that machine code is made
of: every file of kernels/, which is all that thalweg's version can change, the versions
of Python, numba and llvmlite, numba's options, and the processor with its features. So
another version of anything has a folder of its own, and nothing is ever out of date. A
file begins with the SHA-256 of that digest, its name and its content, and counts as
missing where it differs: a damaged disk, a file of another folder or an emptied
temporary one costs a compilation, never a result or an exception.

A wheel may bring kernels that were compiled for ``BASELINES``, as files of the same
kind in the archive ``SHIPPED``. They are used where the digest fits, with the processor
of the archive in place of this one, and this one has its features. The cache
comes first: ``thalweg warm --native`` fills it.
"""

import contextlib
import functools
import hashlib
import json
import os
import pickle
import platform
import secrets
import shutil
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar
from zipfile import ZIP_DEFLATED, ZipFile

import llvmlite
import numba
from llvmlite import binding
from numba import config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from thalweg.kernels.compiler.cache_folder import readable_folders, writable_folder
from thalweg.kernels.compiler.compilation_lock import lock_kernel, unlock_kernel

SOURCES = Path(__file__).parents[1]
SHIPPED = SOURCES / "shipped_kernels.zip"
SHIPPED_VARIABLE = "THALWEG_SHIPPED_KERNELS"
"""Environment variable: 0 makes a process compile in place of loading shipped ones."""
BASELINES = {
    "x86_64": (
        "x86-64-v3",
        "+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sahf,+sse3,"
        "+sse4.1,+sse4.2,+ssse3,+xsave",
    ),
    "aarch64": ("generic", "+neon"),
}
"""Processor and features, in LLVM's words, that shipped kernels are compiled for."""
KEPT_FOLDERS = 8
"""Number of digests whose folders are kept: those of several environments, branches."""
CHECKSUM_SIZE = hashlib.sha256().digest_size
_CODE_OPTIONS = (
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "EXTEND_VARIABLE_LIFETIMES",
    "USING_SVML",
)
"""Options of numba, set by the environment, that machine code depends on."""


def _read_sources() -> tuple[str, dict[Path, tuple[int, int]]]:
    """The digest of every file that kernels are made of, and the files' stamps."""
    digest, stamps = hashlib.sha256(), {}
    for path in sorted(SOURCES.rglob("*.py")):
        stamps[path] = _stamp(path)
        text = path.read_bytes()
        digest.update(f"{path.relative_to(SOURCES)} {len(text)} ".encode() + text)
    return digest.hexdigest(), stamps


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


_SOURCE_DIGEST, _STAMPS = _read_sources()


def _sources_are_as_read() -> bool:
    """Whether files are there and unchanged: else what this process runs is unknown."""
    try:
        return bool(_STAMPS) and all(_stamp(path) == _STAMPS[path] for path in _STAMPS)
    except OSError:
        return False


@functools.cache
def environment_digest(processor: tuple[str, str, str]) -> str:
    """The digest of all that machine code is made of, for (triple, CPU, features)."""
    parts = (
        _SOURCE_DIGEST,
        (sys.implementation.cache_tag, sysconfig.get_config_var("SOABI")),
        (numba.__version__, llvmlite.__version__),
        [str(getattr(config, name, None)) for name in _CODE_OPTIONS],
        processor,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


class KernelCache(_Cache):  # type: ignore[misc]
    """The cache of one kernel, with numba's interface.

    Processes that need a kernel wait while another one compiles it
    (compilation_lock.py).
    """

    loaded: ClassVar[set[str]] = set()
    """Names of the kernels' files that this process has loaded."""

    def __init__(self, function: Any) -> None:
        self._function = function

    @property
    def cache_path(self) -> str | None:
        folder = writable_folder()
        return None if folder is None else str(folder)

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        processor = target_context.codegen().magic_tuple()
        name, digest = self._file_name(sig), environment_digest(processor)
        found = self._load(name, processor, target_context)
        folder = writable_folder()
        if found is None and folder is not None:
            lock_kernel(str(folder / digest), name)
            found = self._load(name, processor, target_context)
            if found is not None:
                unlock_kernel(str(folder / digest), name)
        return found

    def save_overload(self, sig: Any, result: Any) -> None:
        folder = writable_folder()
        if folder is None:
            return
        folder /= environment_digest(result.codegen.magic_tuple())
        name = self._file_name(sig)
        can_be_saved = not result.library.has_dynamic_globals and not result.lifted
        with contextlib.suppress(OSError):
            if can_be_saved and _sources_are_as_read():
                _write(folder, name, _to_bytes(result))
        unlock_kernel(str(folder), name)

    def _load(self, name: str, processor: tuple[str, str, str], context: Any) -> Any:
        """The kernel from a folder or the shipped archive; None where it is nowhere."""
        if not _sources_are_as_read():
            return None
        digest = environment_digest(processor)
        readers: list[Callable[[], bytes]] = [
            functools.partial(_read, folder / digest, name)
            for folder in readable_folders()
        ]
        readers.append(functools.partial(_read_shipped, name, processor))
        for read in readers:
            with contextlib.suppress(Exception):  # a damaged file raises anything
                kernel = _from_bytes(read(), context)
                KernelCache.loaded.add(name)
                _mark_as_used(digest)
                return kernel
        return None

    def _file_name(self, sig: Any) -> str:
        """The name of the file of the kernel for arguments of these types.

        A kernel outside of kernels/, as in a test, is known by the text of its file.
        """
        function = self._function
        code = function.__code__
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        path = Path(code.co_filename)
        text = b"" if SOURCES in path.parents else _text_of(path)
        parts = (str(sig), code.co_firstlineno, code.co_code, dumps(cells), text)
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
        return f"{function.__module__}.{function.__name__}-{digest}"


def _text_of(path: Path) -> bytes:
    """The text of a source file; of one that cannot be read, what no other one has."""
    try:
        return path.read_bytes()
    except OSError:
        return secrets.token_bytes(CHECKSUM_SIZE)


def _to_bytes(kernel: Any) -> bytes:
    """A compiled kernel as bytes: its machine code, and LLVM code for others to link.

    Numba parses the latter whenever it loads a kernel, which takes longer than all
    else, to know which names are defined. So a module that has nothing but these names
    takes its place, and the code itself is parsed where another kernel links it.
    """
    (name, kind, (machine_code, linked_code)), *others = kernel._reduce()
    module = kernel.library._get_module_for_linking()
    symbols = (*module.functions, *module.global_variables)
    names = {symbol.name for symbol in symbols if not symbol.is_declaration}
    lines = "".join(f'@"{name}" = global i8 0\n' for name in sorted(names))
    stub = binding.parse_assembly(lines).as_bitcode()
    return bytes(dumps((linked_code, (name, kind, (machine_code, stub)), *others)))


def _from_bytes(content: bytes, context: Any) -> Any:
    linked_code, *parts = pickle.loads(content)
    # Numba would load all that it compiles with: machine code needs its runtime only.
    rtsys.initialize(context)
    kernel = CompileResult._rebuild(context, *parts)
    parse = functools.partial(binding.parse_bitcode, linked_code)
    kernel.library._get_module_for_linking = functools.cache(parse)
    return kernel


def _write(folder: Path, name: str, content: bytes) -> None:
    """Write a kernel's file at once, so that no process reads half of it."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / secrets.token_hex(8)
    try:
        unfinished.write_bytes(_checksum(folder.name, name, content) + content)
        unfinished.replace(folder / name)
    finally:
        unfinished.unlink(missing_ok=True)
    _remove_old(folder.parent)


def _mark_as_used(digest: str) -> None:
    folder = writable_folder()
    with contextlib.suppress(OSError):
        if folder is not None:
            os.utime(folder / digest)


def _remove_old(folder: Path) -> None:
    """Remove the folders of all but the digests that were last used."""
    digests = [path for path in folder.iterdir() if path.is_dir()]
    digests.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in digests[KEPT_FOLDERS:]:
        shutil.rmtree(path, ignore_errors=True)


def _read(folder: Path, name: str) -> bytes:
    """The content of a kernel's file in a folder; raises where it is not there."""
    return _check_content((folder / name).read_bytes(), folder.name, name)


def _check_content(file: bytes, digest: str, name: str) -> bytes:
    """The content of a kernel's file, which begins with its checksum."""
    checksum, content = file[:CHECKSUM_SIZE], file[CHECKSUM_SIZE:]
    if checksum != _checksum(digest, name, content):
        raise ValueError("The kernel's file is damaged, or another's.")
    return content


def _checksum(digest: str, name: str, content: bytes) -> bytes:
    return hashlib.sha256(f"{digest}/{name}\n".encode() + content).digest()


def _read_shipped(name: str, processor: tuple[str, str, str]) -> bytes:
    """The content of a kernel's file in the wheel; raises where it is not there."""
    triple, _, features = processor
    with ZipFile(SHIPPED) as archive:
        digest, *baseline = json.loads(archive.comment)
        is_ours = environment_digest((triple, *baseline)) == digest
        can_run = set(baseline[1].split(",")) <= set(features.split(","))
        if not (is_ours and can_run) or os.environ.get(SHIPPED_VARIABLE) == "0":
            raise LookupError("Shipped kernels are for something else.")
        return _check_content(archive.read(name), digest, name)


def ship(folder: Path, names: set[str], archive_path: Path) -> None:
    """Write the archive of these kernels, which processes with the baseline compiled.

    ``folder`` is the one named by NUMBA_CACHE_DIR, used for nothing else.
    """
    [compiled] = folder.glob(f"thalweg/{'?' * 32}")
    with ZipFile(archive_path, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        archive.comment = json.dumps([compiled.name, *baseline()]).encode()
        for name in sorted(names):
            archive.write(compiled / name, name)


def baseline() -> tuple[str, str]:
    """The processor and its features that kernels are shipped for on such a machine."""
    return BASELINES[platform.machine().lower().replace("amd64", "x86_64")]
