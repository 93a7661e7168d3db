from __future__ import annotations

import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from op_openbanking.errors import ConfigError, StoreFailed
from op_openbanking.model.consent import ConsentPurpose
from op_openbanking.stores import records
from op_openbanking.stores.base import Store
from op_openbanking.stores.memory import MemoryStore
from op_openbanking.stores.records import ConsentRecord, Submission, SubmissionState
from op_openbanking.stores.sqlite import SQLiteStore
from op_openbanking.testing.store_contract import check_store


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    with SQLiteStore(tmp_path / "bank.db") as opened:
        yield opened


def test_every_store_keeps_the_contract(store: Store) -> None:
    check_store(store)


def test_the_contract_finds_a_store_that_overwrites() -> None:
    class Careless(MemoryStore):
        def swap(self, kind: str, key: str, *, before: bytes | None, after: bytes | None) -> bool:
            return super().swap(kind, key, before=self.get(kind, key), after=after)

    with pytest.raises(ConfigError, match="contract"):
        check_store(Careless())


def test_one_of_many_writers_wins(store: Store) -> None:
    won: list[int] = []

    def write(number: int) -> None:
        if store.swap("a", "1", before=None, after=str(number).encode()):
            won.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert [str(number).encode() for number in won] == [store.get("a", "1")]


def test_a_memory_store_that_is_full_drops_nothing() -> None:
    store = MemoryStore(limit=1)
    store.swap("a", "1", before=None, after=b"x")
    with pytest.raises(StoreFailed, match="full"):
        store.swap("a", "2", before=None, after=b"x")
    assert store.swap("a", "1", before=b"x", after=b"y")


def test_a_file_of_tokens_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "bank.db"
    with SQLiteStore(path) as store:
        store.swap("token", "c-1", before=None, after=b"secret")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "secret" not in repr(store)
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="0600"):
        SQLiteStore(path)


def test_a_link_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "other.db")
    with pytest.raises(ConfigError, match="cannot be opened"):
        SQLiteStore(tmp_path / "link.db")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bank.db"
    path.write_bytes(b"something else" * 100)
    path.chmod(0o600)
    with pytest.raises(StoreFailed):
        SQLiteStore(path)


def test_records_outlive_the_process(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "bank.db") as store:
        store.swap("a", "1", before=None, after=b"x")
    with SQLiteStore(tmp_path / "bank.db") as store:
        assert store.get("a", "1") == b"x"
    with pytest.raises(StoreFailed):
        store.get("a", "1")


def record(key: str, state: SubmissionState, created_at_s: float = 0) -> Submission:
    return Submission(
        key=key,
        idempotency_key="k",
        url="https://bank.example/x",
        content_type="application/json",
        body=b"{}",
        created_at_s=created_at_s,
        state=state,
    )


def test_only_finished_submissions_are_forgotten(store: Store) -> None:
    for state in SubmissionState:
        records.replace(store, None, record(state.value, state))
    records.replace(store, None, record("young", SubmissionState.ANSWERED, created_at_s=10))
    assert records.forget(store, before_s=5) == 2
    assert {each.key for each in records.unfinished(store)} == {"open", "doubtful"}
    assert records.load(store, Submission, "young") is not None


def test_an_unreadable_record_is_an_error_and_no_empty_one(store: Store) -> None:
    store.swap(records.CONSENT, "c-1", before=None, after=b'{"id":1}')
    with pytest.raises(StoreFailed, match="consent"):
        records.load(store, ConsentRecord, "c-1")


def test_a_record_shows_no_octets() -> None:
    consent = ConsentRecord(
        id="c-1",
        purpose=ConsentPurpose.ACCOUNTS,
        product="p",
        request=b"secret",
        answer=b"secret",
        created_at_s=0,
    )
    assert "secret" not in repr(consent)
    assert "{}" not in repr(record("k", SubmissionState.OPEN))


def test_a_record_read_and_written_again_is_the_same_record(store: Store) -> None:
    whole = record("k", SubmissionState.OPEN, created_at_s=1_800_000_000)
    assert records.replace(store, None, whole)
    held = records.load(store, Submission, "k")
    assert held is not None
    assert records.replace(store, held, record("k", SubmissionState.ANSWERED, created_at_s=1))
    assert not records.replace(store, held, whole)


def test_a_writer_who_is_always_too_late_gives_up() -> None:
    class Busy(MemoryStore):
        def swap(self, kind: str, key: str, *, before: bytes | None, after: bytes | None) -> bool:
            return False

    with pytest.raises(StoreFailed, match="faster") as caught:
        records.put(Busy(), "token", "c-1", b"x")
    assert caught.value.retryable
