from __future__ import annotations

import json
from pathlib import Path

import pytest

from op_openbanking.errors import UnknownPlugin
from op_openbanking.standards.base import decode, encode
from op_openbanking.standards.registry import standard, standards

DATA = Path(__file__).parents[2] / "data" / "standards"
BODIES = sorted(path.relative_to(DATA).as_posix() for path in DATA.glob("*/*.json"))


def texts_of(octets: bytes) -> object:
    return json.loads(octets, parse_float=lambda t: f"#{t}", parse_int=lambda t: f"#{t}")


@pytest.mark.parametrize("body", BODIES)
def test_a_body_with_members_of_a_banks_own_comes_back_as_it_was(body: str) -> None:
    folder, _, file = body.partition("/")
    resource = file.removesuffix(".json")
    version = "5.3.2" if resource.endswith("-5") else None
    resource = resource.removesuffix("-5")
    shape = standard(folder.replace("_", "-")).shape(resource, version=version)
    octets = (DATA / body).read_bytes()
    read = decode(octets, shape, standard=folder, resource=resource)
    assert texts_of(encode(read)) == texts_of(octets)


def test_every_standard_has_a_body_here() -> None:
    assert {body.partition("/")[0].replace("_", "-") for body in BODIES} == standards().keys()


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownPlugin, match="uk-obie"):
        standard("uk")
    with pytest.raises(UnknownPlugin, match="transactions"):
        standard("cdr").shape("payments")
    with pytest.raises(UnknownPlugin, match=r"3\.1\.11"):
        standard("uk-obie").shape("accounts", version="3.1.4")


def test_versions_have_their_own_shape_where_they_differ() -> None:
    obie = standard("uk-obie")
    request = "domestic-vrp-request"
    assert obie.shape(request, version="3.1.10") is not obie.shape(request, version="3.1.11")
    assert obie.shape(request) is obie.shape(request, version="3.1.11")
    fdx = standard("fdx")
    assert fdx.shape("accounts", version="5.0.0") is not fdx.shape("accounts", version="6.0.0")
