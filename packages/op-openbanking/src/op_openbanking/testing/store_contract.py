"""What every store must do, as a check that your own tests can call."""

from __future__ import annotations

from op_openbanking.errors import ConfigError
from op_openbanking.stores.base import MAX_KEY_CHARS, MAX_VALUE_BYTES, Store


def check_store(store: Store) -> None:
    """Keep, replace, refuse and remove records in an empty store; leaves it empty.

    Args:
        store: An empty store.

    Raises:
        ConfigError: Something does not hold; the message says what.
    """
    _that(store.get("a", "1") is None, "what was never kept is None")
    _that(list(store.scan("a")) == [], "an empty store has nothing to scan")
    _that(not store.swap("a", "1", before=b"x", after=b"y"), "nothing there is not x")
    _that(store.swap("a", "1", before=None, after=b"\x00one"), "a new record is kept")
    _that(not store.swap("a", "1", before=None, after=b"two"), "a record is not overwritten")
    _that(not store.swap("a", "1", before=b"two", after=None), "another record is not removed")
    _that(store.get("a", "1") == b"\x00one", "octets come back, and a refusal changes nothing")
    _that(store.swap("a", "1", before=b"\x00one", after=b""), "a record is replaced")
    _that(store.get("a", "1") == b"", "an empty record is a record")
    for kind, key in (("a", "3"), ("b", "1"), ("a", "2")):
        _that(store.swap(kind, key, before=None, after=key.encode()), "kinds are apart")
    _that(
        list(store.scan("a")) == [("1", b""), ("2", b"2"), ("3", b"3")],
        "a scan shows one kind, by key",
    )
    for kind in ("a", "b"):
        for key, octets in store.scan(kind):
            _that(store.swap(kind, key, before=octets, after=None), "a scan bears changes")
    _that(list(store.scan("a")) == [], "removed records are gone")
    for key, value in (
        ("", b""),
        ("k" * (MAX_KEY_CHARS + 1), b""),
        ("k", bytes(MAX_VALUE_BYTES + 1)),
    ):
        try:
            store.swap("a", key, before=None, after=value)
        except ConfigError:
            continue
        _that(holds=False, what=f"a key of {len(key)} and {len(value)} bytes are refused")


def _that(holds: bool, what: str) -> None:
    if not holds:
        raise ConfigError(f"the store breaks its contract: {what}")
