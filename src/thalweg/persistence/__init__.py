"""Serialisation (serialization): saved models in a versioned file without pickle."""

from thalweg.persistence.files import load as load
from thalweg.persistence.files import save as save
from thalweg.persistence.format import SavedModel as SavedModel
from thalweg.persistence.format import dumps as dumps
from thalweg.persistence.format import loads as loads
from thalweg.persistence.snapshots import restore_snapshot as restore_snapshot

__all__ = ["SavedModel", "dumps", "load", "loads", "restore_snapshot", "save"]
