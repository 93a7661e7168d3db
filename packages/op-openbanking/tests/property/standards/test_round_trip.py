from __future__ import annotations

import contextlib
import json
from typing import TypeAlias

from hypothesis import given, strategies as st
from msgspec import UNSET

from op_openbanking.errors import MalformedBody
from op_openbanking.standards.base import Maybe, Number, Wire, decode, encode


class Amount(Wire, frozen=True, kw_only=True, rename="pascal"):
    amount: str
    currency: Maybe[str] = UNSET
    rate: Maybe[Number] = UNSET


class Row(Wire, frozen=True, kw_only=True, rename="pascal"):
    amount: Maybe[Amount] = UNSET
    parts: Maybe[list[Amount]] = UNSET
    by_name: Maybe[dict[str, Amount]] = UNSET


class Body(Wire, frozen=True, kw_only=True, rename="pascal"):
    row: Row


JSON: TypeAlias = dict[str, "JSON"] | list["JSON"] | str | int | float | bool | None

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, text),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
    max_leaves=8,
)
unknown = st.dictionaries(text.map(lambda name: f"x{name}"), anything, max_size=2)


def objects(required: dict[str, object], optional: dict[str, object]) -> st.SearchStrategy[object]:
    return st.builds(
        lambda known, more: more | known,
        st.fixed_dictionaries(required, optional=optional),  # type: ignore[arg-type]
        unknown,
    )


amounts = objects({"Amount": text}, {"Currency": st.none() | text, "Rate": st.none() | numbers})
rows = objects(
    {},
    {
        "Amount": st.none() | amounts,
        "Parts": st.none() | st.lists(amounts, max_size=3),
        "ByName": st.none() | st.dictionaries(text, amounts, max_size=3),
    },
)
bodies = objects({"Row": rows}, {})


def texts_of(octets: bytes) -> object:
    return json.loads(octets, parse_float=lambda t: f"#{t}", parse_int=lambda t: f"#{t}")


@given(bodies, st.booleans(), st.sampled_from([None, 1]))
def test_every_body_comes_back_as_it_was(
    body: object, ascii_only: bool, indent: int | None
) -> None:
    octets = json.dumps(body, ensure_ascii=ascii_only, indent=indent).encode()
    read = decode(octets, Body, standard="test", resource="body")
    assert texts_of(encode(read)) == texts_of(octets)
    assert decode(encode(read), Body, standard="test", resource="body") == read


@given(st.binary(max_size=60) | st.text('{}[]":,\\u0e1-. RowAmount', max_size=40).map(str.encode))
def test_any_octets_are_read_or_refused_by_type(octets: bytes) -> None:
    with contextlib.suppress(MalformedBody):
        read = decode(octets, Body, standard="test", resource="body")
        assert texts_of(encode(read)) == texts_of(octets)
