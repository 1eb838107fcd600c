"""Files that were cut, changed or made up, to throw at ``loads``."""

import copy
import hashlib
import json

from thalweg.persistence.format import CHECKSUM, MAGIC, START, VERSION

DEEP_LIST = json.loads("[" * 40 + "]" * 40)
HOSTILE_VALUES = [
    None, True, -1, 0, 1, 2**31, 2**62, 2**63, 10**400, 0.5, 1e308, -1e308,
    "", "x", "Ball", [], {}, DEEP_LIST, [2**40, 2**40], [0, 2**62, 2**62],
    {"float": "nan"}, {"float": "inf"}, {"float": "0x1p+1"},
    {"class": "os.system", "settings": {"command": "touch /tmp/thalweg-was-here"}},
    {"class": "Functions", "settings": {"functions": []}},
    {"class": "Ball", "settings": {}}, {"class": ["Ball"], "settings": {}},
    {"class": "SlidingWindow", "settings": {"window": 10**12, "ridge": 1.0}},
    {"class": "__import__", "settings": {"name": "os"}},
    {"state": "RLSState", "fields": {}}, {"state": "tuple", "fields": {}},
    {"array": "|O8", "order": "C", "shape": [1], "offset": 0},
    {"array": "<f8", "order": "C", "shape": [2**40], "offset": 0},
    {"array": "<f8", "order": "C", "shape": [-1], "offset": 0},
    {"array": "<f8", "order": "C", "shape": [0, 2**62], "offset": 0},
    {"array": "<f4", "order": "F", "shape": [3], "offset": 0},
    {"scalar": "<f8", "offset": 0}, {"scalar": "<U99", "offset": 0},
    {"scalar": "|b1", "offset": 0}, {"scalar": {}, "offset": 0},
]  # fmt: skip


def sign_file(header, arrays, version=VERSION, sizes=None):
    """A file with a right checksum around any header, by someone who knows how."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    lengths = (len(text), len(arrays)) if sizes is None else sizes
    body = START.pack(MAGIC, version, *lengths) + text + arrays
    return body + hashlib.sha256(body).digest()


def split_file(data):
    """The header as text and the arrays of a sound file."""
    length = START.unpack(data[: START.size])[2]
    cut = START.size + length
    return data[START.size : cut], data[cut:-CHECKSUM]


def flip(rng, data):
    changed = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        changed[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(rng, data):
    return data[: rng.integers(len(data))]


def lengthen(rng, data):
    return data + rng.bytes(int(rng.integers(1, 100)))


def noise(rng, data):
    start = data[: rng.choice([0, 8, 12, 24, 60])]
    return start + rng.bytes(int(rng.integers(0, 300)))


def splice(rng, data):
    at, to = sorted(rng.integers(len(data), size=2))
    return data[:at] + data[to:] if rng.random() < 0.5 else data[:to] + data[at:]


def other_version(rng, data):
    header, arrays = split_file(data)
    version = int(rng.choice([0, 2, 3, 255, 2**31, 2**32 - 1]))
    return sign_file(header, arrays, version)


def false_sizes(rng, data):
    header, arrays = split_file(data)
    right, huge = (len(header), len(arrays)), (2**32 - 1, 2**64 - 1)
    sizes = [int(rng.choice([r, 0, r - 1, r + 1])) for r in right]
    which = rng.integers(3)
    if which < 2:
        sizes[which] = huge[which]
    return sign_file(header, arrays, sizes=sizes)


def signed_flip(rng, data):
    """The header's bits changed, and the checksum made right."""
    header, arrays = split_file(data)
    return sign_file(flip(rng, header), arrays)


def signed_arrays(rng, data):
    header, arrays = split_file(data)
    how = rng.integers(3)
    if how == 0:
        return sign_file(header, arrays[: rng.integers(len(arrays))])
    if how == 1:
        return sign_file(header, arrays + bytes(int(rng.integers(1, 99))))
    return sign_file(header, flip(rng, arrays))


def signed_tree(rng, data):
    """One to three values of the header replaced, moved or lost."""
    header, arrays = split_file(data)
    return sign_file(mutate_tree(rng, json.loads(header)), arrays)


def mutate_tree(rng, tree):
    """The tree with one to three values replaced, moved or lost."""
    for _ in range(rng.integers(1, 4)):
        places = list(_places(tree))
        parent, name = places[rng.integers(len(places))]
        how = rng.random()
        if how < 0.6:
            parent[name] = copy.deepcopy(
                HOSTILE_VALUES[rng.integers(len(HOSTILE_VALUES))]
            )
        elif how < 0.8:
            other, key = places[rng.integers(len(places))]
            parent[name] = copy.deepcopy(other[key])
        elif how < 0.9 and isinstance(parent, dict):
            parent["new"] = parent.pop(name)
        else:
            del parent[name]
        if not tree:
            break
    return tree


def signed_text(rng, data):
    """A header that is no proper JSON."""
    header, arrays = split_file(data)
    deep = b"[" * int(rng.choice([50, 900, 100_000]))
    texts = [
        b"", b"{}", b"null", b"\xff", deep, deep + b"]" * len(deep), b'{"a":' * 5000,
        header.replace(b"0", b"NaN", 1), header.replace(b"0", b"1e999", 1),
        header.replace(b"0", b"9" * 5000, 1), header[:-1], header + b" ",
        b"[" + b"[]," * 5000 + b"[]]",
    ]  # fmt: skip
    return sign_file(texts[rng.integers(len(texts))], arrays)


def _places(node):
    """(parent, key) of every value in the tree."""
    inside = node.items() if isinstance(node, dict) else enumerate(node)
    for name, value in list(inside):
        yield node, name
        if isinstance(value, dict | list):
            yield from _places(value)


UNSIGNED_MUTATIONS = (flip, cut, lengthen, noise, splice)
SIGNED_MUTATIONS = (
    other_version,
    false_sizes,
    signed_flip,
    signed_arrays,
    signed_tree,
    signed_tree,
    signed_tree,
    signed_text,
)
