"""Merkle Search Trees: the data structure of repositories, and the sketch tree of replicas.

`Tree` is an immutable map from keys to CIDs; `validate` checks a whole tree of somebody else,
`invert` undoes a commit on a partial one, `SketchMST` compares replicas in 32 bytes.
"""

from __future__ import annotations

from .diff import RecordChange, TreeDiff, diff, record_changes
from .invert import Action, Operation, invert
from .proof import covering_proof, prove, verify_exclusion, verify_inclusion
from .sketch import SketchMST
from .sketch_difference import difference
from .tree import Tree
from .validate import TreeReport, validate

__all__ = [
    "Action",
    "Operation",
    "RecordChange",
    "SketchMST",
    "Tree",
    "TreeDiff",
    "TreeReport",
    "covering_proof",
    "diff",
    "difference",
    "invert",
    "prove",
    "record_changes",
    "validate",
    "verify_exclusion",
    "verify_inclusion",
]
