from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from smart_byte_atproto.data import dag_cbor, varint
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.mst import (
    Action,
    Operation,
    Tree,
    covering_proof,
    diff,
    invert,
    prove,
    validate,
    verify_exclusion,
    verify_inclusion,
)
from smart_byte_atproto.mst.node import common_prefix, depth_of
from smart_byte_atproto.mst.source import SliceNodes

pytestmark = pytest.mark.conformance

BESIDE = Path(__file__).parents[5] / "shared/vectors/atproto"
VECTORS = Path(os.environ.get("VECTORS_DIR") or BESIDE)
SUITE = VECTORS / "mst-test-suite"
CARS = sorted((SUITE / "cars/exhaustive").glob("*.car"))
# 700 files: one test for each first tree keeps the report readable.
DIFFS = sorted({path.name[:14] for path in (SUITE / "tests/diff/exhaustive").glob("*.json")})


@cache
def read_car(path: Path) -> tuple[CID, dict[CID, bytes]]:
    data = path.read_bytes()
    size, at = varint.decode(data)
    header = dag_cbor.decode(data[at : at + size])
    assert isinstance(header, dict)
    roots = header["roots"]
    assert isinstance(roots, list)
    root = roots[0]
    assert isinstance(root, CID)
    at += size
    blocks = {}
    while at < len(data):
        size, at = varint.decode(data, at)
        blocks[CID.decode(data[at : at + 36])] = data[at + 36 : at + size]
        at += size
    return root, blocks


def _strings(cids: Iterator[CID] | dict[CID, bytes]) -> set[str]:
    return {str(cid) for cid in cids}


@pytest.mark.parametrize("path", CARS, ids=lambda path: path.name)
def test_cars_exhaustive(path: Path) -> None:
    root, blocks = read_car(path)
    report = validate(root, blocks)
    tree = Tree.load(root, blocks)
    pairs = list(tree.items())
    assert report.entries == len(pairs)
    assert report.nodes == len(blocks)
    rebuilt = Tree.build(pairs)
    assert rebuilt.root == root
    assert {CID(node.link): node.data for node in rebuilt.nodes()} == blocks


def _operations(case: dict[str, Any]) -> list[Operation]:
    operations = []
    for op in case["record_ops"]:
        before = None if op["old_value"] is None else CID.parse(op["old_value"])
        after = None if op["new_value"] is None else CID.parse(op["new_value"])
        action = Action.UPDATE
        if before is None:
            action = Action.CREATE
        elif after is None:
            action = Action.DELETE
        operations.append(Operation(action, op["rpath"].encode(), after, before))
    return operations


@pytest.mark.parametrize("name", DIFFS)
def test_diff_exhaustive(name: str) -> None:
    cases = sorted((SUITE / "tests/diff/exhaustive").glob(f"{name}_*.json"))
    assert cases
    for path in cases:
        case = json.loads(path.read_text("utf-8"))
        _check_diff(case["inputs"], case["results"])


def _check_diff(inputs: dict[str, str], results: dict[str, Any]) -> None:
    root_a, blocks_a = read_car(SUITE / inputs["mst_a"])
    root_b, blocks_b = read_car(SUITE / inputs["mst_b"])
    before, after = Tree.load(root_a, blocks_a), Tree.load(root_b, blocks_b)
    found = diff(before, after)
    assert _strings(found.created) == set(results["created_nodes"])
    assert _strings(found.deleted) == set(results["deleted_nodes"])
    operations = _operations(results)
    assert {(c.key, c.before, c.after) for c in found.records} == {
        (op.key, op.prev, op.cid) for op in operations
    }

    # Our proofs of absence go down to the gap even where the root alone would do.
    paths: set[str] = set()
    for op in operations:
        proof = prove(after, op.key)
        paths |= _strings(proof)
        if op.cid is None:
            verify_exclusion(root_b, op.key, proof)
        else:
            verify_inclusion(root_b, op.key, op.cid, proof)
    assert paths >= set(results["proof_nodes"])
    if all(op.cid or depth_of(op.key) <= after.layer for op in operations):
        assert paths == set(results["proof_nodes"])

    # Undoing opens exactly the nodes of the minimal inductive proof, and needs no others.
    minimal = set(results["inductive_proof_nodes"])
    source = SliceNodes({c.raw: data for c, data in blocks_b.items() if str(c) in minimal})
    if not operations:
        assert not minimal
        return
    assert invert(Tree.open(root_b.raw, source), operations).root == root_a
    assert {str(CID(link)) for link in source.opened} == minimal
    assert _strings(covering_proof(after, [op.key for op in operations])) >= minimal


def test_key_heights_json(vectors: Path) -> None:
    path = vectors / "atproto-interop-tests/mst/key_heights.json"
    cases = json.loads(path.read_text("utf-8"))
    assert Counter(depth_of(case["key"].encode()) == case["height"] for case in cases) == {True: 9}


def test_common_prefix_json(vectors: Path) -> None:
    path = vectors / "atproto-interop-tests/mst/common_prefix.json"
    cases = json.loads(path.read_text("utf-8"))
    assert len(cases) == 13
    for case in cases:
        assert common_prefix(case["left"].encode(), case["right"].encode()) == case["len"]


def test_commit_proof_fixtures_json(vectors: Path) -> None:
    path = vectors / "atproto-interop-tests/firehose/commit-proof-fixtures.json"
    cases = json.loads(path.read_text("utf-8"))
    assert len(cases) == 6
    for case in cases:
        value = CID.parse(case["leafValue"])
        tree = Tree.build((key.encode(), value) for key in case["keys"])
        assert str(tree.root) == case["rootBeforeCommit"]
        for key in case["adds"]:
            tree = tree.put(key.encode(), value)
        for key in case["dels"]:
            removed = tree.remove(key.encode())
            assert removed is not None
            tree = removed[0]
        assert str(tree.root) == case["rootAfterCommit"]
        proof = covering_proof(tree, [key.encode() for key in case["adds"] + case["dels"]])
        assert _strings(proof) == set(case["blocksInProof"]), case["comment"]
        slice_ = SliceNodes({cid.raw: data for cid, data in proof.items()})
        operations = [Operation(Action.CREATE, k.encode(), value, None) for k in case["adds"]]
        operations += [Operation(Action.DELETE, k.encode(), None, value) for k in case["dels"]]
        undone = invert(Tree.open(tree.root.raw, slice_), operations)
        assert str(undone.root) == case["rootBeforeCommit"]
