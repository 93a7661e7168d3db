from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import StoreBusy, StoreFailed
from smart_byte_atproto.stores import SQLiteStore

WRITER = """
import sys
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.stores import SQLiteStore

store = SQLiteStore(sys.argv[1])
for number in range(1_000_000):
    blocks = [(CID.of(b"%d %d" % (number, part)), b"%d %d" % (number, part)) for part in range(20)]
    store.put_many(blocks, root=blocks[0][0])
    print(number, flush=True)
"""

MIDWAY = """
import sys
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.stores import SQLiteStore

def blocks():
    yield CID.of(b"half"), b"half"
    print("midway", flush=True)
    sys.stdin.read()
    yield CID.of(b"rest"), b"rest"

SQLiteStore(sys.argv[1]).put_many(blocks(), root=CID.of(b"rest"))
"""


def _start(program: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_what_was_kept_is_there_after_closing(tmp_path: Path) -> None:
    path = tmp_path / "blocks.sqlite"
    cid = CID.of(b"x")
    with SQLiteStore(path) as store:
        store.put_many([(cid, b"x")], root=cid)
    with SQLiteStore(path) as store:
        assert (store.get(cid), store.root(), len(store)) == (b"x", cid, 1)


def test_a_killed_writer_loses_nothing_that_it_had_committed(tmp_path: Path) -> None:
    path = tmp_path / "blocks.sqlite"
    with _start(WRITER, path) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(15)]
        writer.kill()
    with SQLiteStore(path) as store:
        root = store.root()
        assert root is not None
        block = store.get(root)
        assert block is not None
        last = int(block.split()[0])
        assert last >= acknowledged[-1]
        for number in range(last + 1):
            for part in range(20):
                text = b"%d %d" % (number, part)
                assert store.get(CID.of(text)) == text
        assert len(store) == 20 * (last + 1)


def test_a_writer_killed_between_two_blocks_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "blocks.sqlite"
    old = CID.of(b"old")
    with SQLiteStore(path) as store:
        store.put_many([(old, b"old")], root=old)
    with _start(MIDWAY, path) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "midway\n"
        writer.kill()
    with SQLiteStore(path) as store:
        assert store.root() == old
        assert store.get(CID.of(b"half")) is None
        store.put_many([(CID.of(b"half"), b"half")])


def test_a_held_store_is_busy_and_may_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "blocks.sqlite"
    with SQLiteStore(path, timeout_s=0) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy) as caught:
            store.put_many([(CID.of(b"x"), b"x")])
        assert caught.value.retryable
        other.execute("ROLLBACK")
        other.close()
        store.put_many([(CID.of(b"x"), b"x")])


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("this is no database " * 100)
    with pytest.raises(StoreFailed):
        SQLiteStore(text)
    path = tmp_path / "other.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE something (x)")
    other.commit()
    other.close()
    with pytest.raises(StoreFailed, match="no block store"):
        SQLiteStore(path)


def test_a_folder_that_is_not_there_fails(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed):
        SQLiteStore(tmp_path / "none" / "blocks.sqlite")
