from __future__ import annotations

import functools
import json
import random

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, settings, strategies as st

from op_openbanking.errors import OpenBankingError
from op_openbanking.fapi.authorization import AuthorizationResponse, begin, finish
from op_openbanking.fapi.callback import Callback
from op_openbanking.fapi.client import CertificateBinding, Client
from op_openbanking.fapi.client_auth import PrivateKeyJWT
from op_openbanking.fapi.fapi1_advanced import FAPI1_ADVANCED
from op_openbanking.fapi.metadata import discover, parse_metadata
from op_openbanking.fapi.pending import PendingAuthorization
from op_openbanking.fapi.pending_memory import MemoryPendingStore
from op_openbanking.fapi.profile import AnswerForm
from op_openbanking.fapi.tokens import client_credentials
from op_openbanking.flow import Request, Response, run
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.signing.local import LocalSigner
from op_openbanking.testing.authorization_server import ISSUER, AuthorizationServer
from op_openbanking.testing.middle import Middle

NOW_S = 1_800_000_000.0


class Kept:
    """A store that hands the one request out again and again, so that each example can use it."""

    def __init__(self) -> None:
        self.pending: PendingAuthorization | None = None

    def put(self, pending: PendingAuthorization) -> None:
        self.pending = pending

    def take(self, state: str) -> PendingAuthorization | None:
        return self.pending if self.pending and self.pending.state == state else None


@functools.cache
def world() -> tuple[AuthorizationServer, Client]:
    own = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()))
    bank = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()))
    server = AuthorizationServer(clock=lambda: NOW_S, signer=bank)
    server.clients["client-1"] = {
        "redirect_uris": ["https://tpp.example/cb"],
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks": JWKSet.of([own.jwk]).to_members(),
    }
    client = Client(
        profile=FAPI1_ADVANCED,
        server=run(discover(ISSUER), server),
        client_id="client-1",
        redirect_uri="https://tpp.example/cb",
        authentication=PrivateKeyJWT(own),
        binding=CertificateBinding("C" * 43),
        clock=lambda: NOW_S,
        entropy=random.Random(1).randbytes,
        request_signer=own,
    )
    return server, client


@functools.cache
def landed(answer: AnswerForm) -> tuple[str, Kept]:
    server, client = world()
    store = Kept()
    flow = begin(client, scope="openid accounts", store=store, user_agent="b", answer=answer)
    return server.visit(run(flow, server).url), store


@pytest.mark.parametrize("answer", [AnswerForm.HYBRID, AnswerForm.JARM])
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_no_change_of_one_letter_is_accepted(answer: AnswerForm, data: st.DataObject) -> None:
    server, client = world()
    url, store = landed(answer)
    first = url.index("#" if answer is AnswerForm.HYBRID else "?") + 1
    where = data.draw(st.integers(first, len(url) - 1))
    letter = data.draw(st.sampled_from("ABCabc019-_.&=%# é"))
    changed = f"{url[:where]}{letter}{url[where + 1 :]}"
    if changed == url:
        return
    with pytest.raises(OpenBankingError):
        run(finish(client, Callback.from_url(changed), store=store, user_agent="b"), server)


@pytest.mark.parametrize("answer", [AnswerForm.HYBRID, AnswerForm.JARM])
def test_the_unchanged_answer_is_accepted(answer: AnswerForm) -> None:
    server, client = world()
    url, store = landed(answer)
    made = run(finish(client, Callback.from_url(url), store=store, user_agent="b"), server)
    assert isinstance(made, AuthorizationResponse)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["code", "state", "id_token", "response", "error", "iss", "x"]),
            st.text(max_size=30),
        ),
        max_size=6,
    )
)
@settings(max_examples=150, deadline=None)
def test_invented_parameters_never_become_an_answer(pairs: list[tuple[str, str]]) -> None:
    server, client = world()
    callback = Callback("https://tpp.example/cb", (), tuple(pairs))
    store = MemoryPendingStore(clock=lambda: NOW_S)
    with pytest.raises(OpenBankingError):
        run(finish(client, callback, store=store, user_agent="b"), server)


@given(
    st.integers(100, 599), st.binary(max_size=80), st.sampled_from(["application/json", "x", ""])
)
@settings(max_examples=150, deadline=None)
def test_any_token_answer_gives_a_typed_error(status: int, body: bytes, kind: str) -> None:
    server, client = world()

    def change(request: Request, _: Response) -> Response:
        return Response(status, (("content-type", kind),), body)

    with pytest.raises(OpenBankingError):
        run(client_credentials(client, scope="accounts"), Middle(server, change))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=10),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
@settings(max_examples=150, deadline=None)
def test_any_member_of_the_metadata_is_read_or_refused(value: object) -> None:

    server, _ = world()
    for name in server.metadata:
        octets = json.dumps({**server.metadata, name: value}).encode()
        try:
            assert parse_metadata(octets, issuer=ISSUER).issuer == ISSUER
        except OpenBankingError:
            continue
