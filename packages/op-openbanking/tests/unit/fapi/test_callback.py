from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from op_openbanking.errors import OpenBankingError, ProtocolViolation
from op_openbanking.fapi.callback import Callback


def test_query_and_fragment_are_kept_apart() -> None:
    callback = Callback.from_url("https://a.example/cb?x=1&y=#code=a%20b&state=s")
    assert callback.location == "https://a.example/cb"
    assert callback.query == (("x", "1"), ("y", ""))
    assert callback.body == (("code", "a b"), ("state", "s"))


def test_a_form_counts_as_the_body() -> None:
    callback = Callback.from_form("https://a.example/cb?x=1", b"response=a.b.c")
    assert callback.body == (("response", "a.b.c"),)
    assert "a.b.c" not in repr(callback)


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/cb?" + "x" * 70_000,
        "https://a.example/cb?" + "&".join(f"a{n}=1" for n in range(60)),
        "https://a.example/cb?code",
        "https://a.example/cb?code=%ff",
        "https://[::1",
        "https://a.example:port/",
    ],
)
def test_refuses_what_is_too_long_or_unreadable(url: str) -> None:
    with pytest.raises(ProtocolViolation):
        Callback.from_url(url)


@pytest.mark.parametrize("form", [b"\xff", b"x" * 70_000, b"code", b"a=%ff"])
def test_refuses_a_form_that_is_unreadable(form: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        Callback.from_form("https://a.example/cb", form)


@given(st.text(max_size=200))
def test_any_text_gives_a_callback_or_a_typed_error(text: str) -> None:
    for url in (text, f"https://a.example/cb?{text}", f"https://a.example/cb#{text}"):
        try:
            Callback.from_url(url)
        except OpenBankingError:
            continue


@given(st.binary(max_size=200))
def test_any_form_gives_a_callback_or_a_typed_error(form: bytes) -> None:
    try:
        Callback.from_form("https://a.example/cb", form)
    except OpenBankingError:
        return
