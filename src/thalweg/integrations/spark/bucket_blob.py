"""The models of a bucket of keys as one value of bytes.

=====================  ================================================================
bytes, little-endian   what they are
=====================  ================================================================
8, 4                   ``b"thalwegB"``; the version of this layout, 1
4, 4, 8                the lengths of the settings and of the layouts; how many keys, k
8 k                    when each model changed, in ms since 1970
4 k, 4 k, 8 k          of each key its length, its layout's number, its data's length
the rest               the settings; the layouts, a list in JSON; the keys; the data
=====================  ================================================================

A model is a layout, which many share, and data: persistence/raw_values.py. Keys are in
the order of their code points: the same models are always the same bytes.
"""

import json
import struct
from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from thalweg.errors import PersistenceError, StorageError
from thalweg.integrations.spark.key_models import MIGRATION, ModelBytes

MAGIC = b"thalwegB"
VERSION = 1
START = struct.Struct("<8sIIIQ")  # magic, version, lengths of two parts, keys
MAX_BLOB_BYTES = 2**30
"""Limit of a value in Spark's state: a Java array has less than 2³¹ bytes, and is
copied."""


class Bucket(NamedTuple):
    """The contents of a bucket."""

    settings: bytes
    models: dict[str, ModelBytes]


def pack_bucket(settings: bytes, models: Mapping[str, ModelBytes]) -> bytes:
    """The models of a bucket as bytes."""
    keys = sorted(models)
    stored = [models[key] for key in keys]
    layouts = sorted({model.layout for model in stored})
    number_of = {layout: number for number, layout in enumerate(layouts)}
    texts, layout_text = [key.encode() for key in keys], json.dumps(layouts).encode()
    sizes = (len(settings), len(layout_text), len(keys))
    parts = [
        START.pack(MAGIC, VERSION, *sizes),
        np.array([model.changed_at for model in stored], "<i8").tobytes(),
        np.array([len(text) for text in texts], "<u4").tobytes(),
        np.array([number_of[model.layout] for model in stored], "<u4").tobytes(),
        np.array([len(model.data) for model in stored], "<u8").tobytes(),
        settings,
        layout_text,
        *texts,
        *(model.data for model in stored),
    ]
    size = sum(map(len, parts))
    if size > MAX_BLOB_BYTES:
        raise StorageError(
            f"A bucket of {len(keys)} keys takes {size} bytes, and may take "
            f"{MAX_BLOB_BYTES}. Use more buckets, or layout='rows'."
        )
    return b"".join(parts)


def unpack_bucket(blob: bytes) -> Bucket:
    """The models that ``pack_bucket`` made into bytes."""
    if len(blob) < START.size or blob[: len(MAGIC)] != MAGIC:
        raise PersistenceError("The bytes are no bucket of models.")
    _, version, settings_size, layouts_size, count = START.unpack_from(blob)
    if version != VERSION:
        raise PersistenceError(
            f"The bucket has layout {version}, and this thalweg reads {VERSION}. "
            f"{MIGRATION}."
        )
    at = START.size
    start = at + 24 * count
    if start + settings_size + layouts_size > len(blob):
        raise PersistenceError("The bucket was cut off.")
    changed = np.frombuffer(blob, "<i8", count, at).tolist()
    key_sizes = np.frombuffer(blob, "<u4", count, at + 8 * count).tolist()
    numbers = np.frombuffer(blob, "<u4", count, at + 12 * count).tolist()
    data_sizes = np.frombuffer(blob, "<u8", count, at + 16 * count).tolist()
    sizes = [settings_size, layouts_size, *key_sizes, *data_sizes]
    ends = list(accumulate(sizes, initial=start))
    if ends[-1] != len(blob):
        raise PersistenceError("The bucket was cut off, or has bytes too many.")
    settings, text, *parts = (blob[low:high] for low, high in pairwise(ends))
    layouts = json.loads(text)
    models = {
        key.decode(): ModelBytes(layouts[number], data, changed_at)
        for key, number, data, changed_at in zip(
            parts[:count], numbers, parts[count:], changed, strict=True
        )
    }
    return Bucket(settings, models)
