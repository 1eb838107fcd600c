"""The file format: a model as bytes, described by themselves. docs/file-format.md."""

import hashlib
import json
import struct
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from thalweg.errors import PersistenceError, ThalwegError
from thalweg.learners import Learner
from thalweg.losses import Loss
from thalweg.persistence.encoding import Reader, Writer
from thalweg.persistence.state_check import check_state

MAGIC = b"\x89thalweg"
VERSION = 1
START = struct.Struct("<8sIIQ")  # magic, version, lengths of header and of arrays
CHECKSUM = hashlib.sha256().digest_size
MAX_HEADER_BYTES = 2**22
"""A header is read whole, and JSON takes some 25 times its length: 100 MB at most."""
NAMES = ("thalweg", "learner", "loss", "state", "extra")
DAMAGED = "Restore it from a copy, or train the model again"
try:
    WRITER = version("thalweg")
except PackageNotFoundError:  # run from a checkout that was not installed
    WRITER = "unknown"


class SavedModel(NamedTuple):
    """All that a file holds."""

    learner: Learner[Any]
    loss: Loss
    state: Any  # the learner's state, or None before the first round
    extra: Mapping[str, Any] = {}  # numbers, strings and arrays by name


def dumps(saved: SavedModel) -> bytes:
    """The model as bytes; the same model always gives the same bytes."""
    learner, loss, state, extra = saved
    learner.check_loss(loss)
    writer = Writer()
    header = {
        "thalweg": WRITER,
        "learner": writer.write(learner),
        "loss": writer.write(loss),
        "state": writer.write(state),
        "extra": {name: writer.write(value) for name, value in extra.items()},
    }
    if state is not None:
        try:
            check_state(learner, state)
        except PersistenceError as error:
            raise PersistenceError(f"The model cannot be saved: {error}.") from None
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    if len(text) > MAX_HEADER_BYTES:
        raise PersistenceError(f"A header of {len(text)} bytes cannot be saved.")
    start = START.pack(MAGIC, VERSION, len(text), writer.size)
    parts, checksum = [start, text, *writer.arrays], hashlib.sha256()
    for part in parts:
        checksum.update(part)
    return b"".join([*parts, checksum.digest()])


def loads(data: bytes, name: str = "What was given") -> SavedModel:
    """The model that ``dumps`` made into ``data``; ``name`` is what errors call it.

    Nothing in ``data`` is executed or imported, and memory is bounded by its length.
    """
    try:
        header, arrays = _parse_container(memoryview(data))
        return _decode_model(header, arrays)
    except PersistenceError as error:
        raise PersistenceError(f"{name} cannot be loaded: {error}.") from None


def require_length(start: bytes, length: int, name: str) -> None:
    """Raise unless a file with this start and length can be a model; ``name``: its own.

    To be asked before the rest is read, which may be larger than the memory.
    """
    try:
        _parse_start(start, length)
    except PersistenceError as error:
        raise PersistenceError(f"{name} cannot be loaded: {error}.") from None


def _parse_start(start: bytes, length: int) -> int:
    """The length of the header in a file of ``length`` bytes with this start."""
    if start[: len(MAGIC)] != MAGIC:
        raise PersistenceError("it is no thalweg model")
    if len(start) < START.size:
        raise PersistenceError(f"it was cut off after {length} bytes. {DAMAGED}")
    _, number, header, arrays = START.unpack(start)
    if number != VERSION:
        raise PersistenceError(
            f"its format is version {number}, and thalweg {WRITER} reads version "
            f"{VERSION}. Load it with the thalweg that wrote it, or a newer one"
        )
    expected = START.size + header + arrays + CHECKSUM
    if length != expected:
        raise PersistenceError(
            f"it should have {expected} bytes and has {length}. {DAMAGED}"
        )
    return int(header)


def _parse_container(data: memoryview) -> tuple[dict[str, Any], memoryview]:
    """The header and the arrays, of bytes whose lengths and checksum are right."""
    header = _parse_start(bytes(data[: START.size]), len(data))
    body, checksum = data[:-CHECKSUM], data[-CHECKSUM:]
    if hashlib.sha256(body).digest() != checksum:
        raise PersistenceError(f"its checksum is wrong. {DAMAGED}")
    if header > MAX_HEADER_BYTES:
        raise PersistenceError(f"its header of {header} bytes is too long")
    text = body[START.size : START.size + header]
    return _parse_header(bytes(text)), body[START.size + header :]


def _parse_header(text: bytes) -> dict[str, Any]:
    """The header from its JSON, with all its names and no others."""
    try:
        header = json.loads(text.decode())
    except (ValueError, RecursionError):
        raise PersistenceError("its header is no JSON that can be read") from None
    if not isinstance(header, dict) or tuple(header) != NAMES:
        raise PersistenceError(f"its header does not hold {', '.join(NAMES)}")
    if not isinstance(header["extra"], dict):
        raise PersistenceError("its 'extra' has no names")
    return header


def _decode_model(header: dict[str, Any], arrays: memoryview) -> SavedModel:
    """What the header and the arrays stand for, checked."""
    reader = Reader(arrays)
    learner, loss, state = (reader.read(header[name]) for name in NAMES[1:4])
    extra = {name: reader.read(value) for name, value in header["extra"].items()}
    if reader.at != len(arrays):
        raise PersistenceError("it has bytes that belong to no array")
    if not isinstance(learner, Learner) or not isinstance(loss, Loss):
        raise PersistenceError("its learner or its loss is something else")
    try:
        learner.check_loss(loss)
        if state is not None:
            check_state(learner, state)
    except PersistenceError as error:
        by = f"It was written by thalweg {header['thalweg']!s:.20}"
        raise PersistenceError(f"{error}. {by}") from None
    except ThalwegError as error:
        raise PersistenceError(str(error)) from None
    return SavedModel(learner, loss, state, extra)
