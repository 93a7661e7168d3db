from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, strategies as st

from op_openbanking.standards.base import Remainder, Wire, decode, encode
from op_openbanking.standards.registry import standard

DATA = Path(__file__).parents[2] / "data" / "standards"
BODIES = sorted(path for path in DATA.glob("*/*.json") if not path.stem.endswith("-5"))

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6).map(lambda n: f"own {n}")
values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=5,
)


def objects(node: object) -> list[dict[str, Any]]:
    if isinstance(node, dict):
        return [node, *(o for child in node.values() for o in objects(child))]
    if isinstance(node, list):
        return [o for child in node for o in objects(child)]
    return []


def texts_of(octets: bytes) -> object:
    return json.loads(octets, parse_float=lambda t: f"#{t}", parse_int=lambda t: f"#{t}")


def count(value: object) -> int:
    """How many objects of a wire tree hold unknown members."""
    if isinstance(value, Wire):
        own = 1 if isinstance(value.unknown, Remainder) else 0
        return own + sum(
            count(getattr(value, name)) for name in value.__struct_fields__ if name != "unknown"
        )
    if isinstance(value, list):
        return sum(map(count, value))
    if isinstance(value, dict):
        return sum(map(count, value.values()))
    return 0


@given(st.data())
def test_members_of_a_banks_own_survive_wherever_it_puts_them(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(BODIES))
    tree = json.loads(path.read_bytes())
    # Maps by name (`_links`) have members of any name, of one shape: nothing can be unknown there.
    places = [o for o in objects(tree) if not all(isinstance(v, dict) for v in o.values())]
    if places:
        for place in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
            place[data.draw(names)] = data.draw(values)
    octets = json.dumps(tree).encode()
    shape = standard(path.parent.name.replace("_", "-")).shape(path.stem)
    read = decode(octets, shape, standard=path.parent.name, resource=path.stem)
    assert texts_of(encode(read)) == texts_of(octets)
    assert count(read) >= (1 if places else 0)
