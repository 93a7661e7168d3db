"""Every change of a bound document, of its signature or of the log behind it is refused."""

from __future__ import annotations

from hypothesis import given, strategies as st

from smart_byte_atproto.bridge import Binding, SignedEvent, bind, incept, replay, verify_binding
from smart_byte_atproto.bridge.cesr import RAW_BYTES, Primitive
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.errors import BindingRefused, InvalidPrimitive

KEY = PrivateKey(KeyType.ED25519, bytes(range(1, 33)))
LOG = [incept([KEY], next_keys=[PrivateKey(KeyType.P256, bytes(range(1, 33))).public_key])]
BINDING = bind(
    "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3jzfcijpj2z2a",
    replay(LOG),
    [KEY],
    date="2026-01-01T00:00:00.000Z",
    cid="bafyreib2rxk3rybk3aobmv5cjuql3bm2twh4jo5uxgf5kpqcsgz7soitae",
)


def refused(binding: Binding, log: list[SignedEvent]) -> bool:
    try:
        verify_binding(binding, log)
    except BindingRefused:
        return True
    return False


def changed(text: str, at: int, to: int) -> str:
    """Put another byte into a text; what is no UTF-8 then comes as lone surrogates."""
    data = bytearray(text.encode())
    data[at] = to
    return data.decode("utf-8", "surrogateescape")


def test_as_it_was_made_it_holds() -> None:
    assert not refused(BINDING, LOG)


def test_any_byte_of_the_document_changed_by_one_bit_is_refused() -> None:
    size = len(BINDING.text)
    for at in range(size):
        for bit in range(8):
            text = changed(BINDING.text, at, ord(BINDING.text[at]) ^ 1 << bit)
            assert refused(Binding(text, BINDING.signatures), LOG), (at, bit)


@given(at=st.integers(0, len(BINDING.text) - 1), to=st.integers(0, 255))
def test_any_other_byte_in_the_document_is_refused(at: int, to: int) -> None:
    text = changed(BINDING.text, at, to)
    assert (text == BINDING.text) or refused(Binding(text, BINDING.signatures), LOG)


@given(at=st.integers(0, len(BINDING.text)), more=st.text(min_size=1, max_size=8))
def test_anything_put_into_the_document_is_refused(at: int, more: str) -> None:
    text = BINDING.text[:at] + more + BINDING.text[at:]
    assert refused(Binding(text, BINDING.signatures), LOG)


@given(at=st.integers(0, 87), to=st.characters())
def test_any_other_character_in_the_signature_is_refused(at: int, to: str) -> None:
    good = BINDING.signatures[0]
    text = good[:at] + to + good[at + 1 :]
    assert (text == good) or refused(Binding(BINDING.text, {0: text}), LOG)


@given(at=st.integers(0, len(LOG[0].text) - 1), to=st.integers(0, 255))
def test_any_other_byte_in_the_log_is_refused(at: int, to: int) -> None:
    text = changed(LOG[0].text, at, to)
    assert (text == LOG[0].text) or refused(BINDING, [SignedEvent(text, LOG[0].signatures)])


@given(st.sampled_from(sorted(RAW_BYTES)), st.data())
def test_primitives_come_back(code: str, data: st.DataObject) -> None:
    raw = data.draw(st.binary(min_size=RAW_BYTES[code], max_size=RAW_BYTES[code]))
    made = Primitive(code, raw)
    assert Primitive.parse(made.qb64) == made == Primitive.decode(made.qb2)


@given(st.text(max_size=100))
def test_a_text_is_refused_or_is_the_one_form_of_its_value(text: str) -> None:
    try:
        made = Primitive.parse(text)
    except InvalidPrimitive:
        return
    assert made.qb64 == text
