"""A small UK Open Banking bank in memory: real tokens, real signatures, no sockets.

It is a `flow.Transport` in front of `testing.authorization_server`. It judges what a bank judges:
the token and its certificate, whose consent it is, signatures, idempotency keys, the repeated
Initiation and the limits of a mandate. Faults are on request: `faults` are given out instead of an
answer, `cuts` lose an answer after the bank has acted.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from op_openbanking.errors import OpenBankingError, TransportError
from op_openbanking.flow import Clock, Request, Response
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.jose.jwt import sign_jwt
from op_openbanking.jose.strict_json import parse_object
from op_openbanking.signing.local import LocalSigner
from op_openbanking.signing.obie_signature import OBIESignatures, OBIEVerifier

from .authorization_server import RESOURCE, AuthorizationServer
from .obie_bodies import account, error_answer, json_answer, links, members, row

HOST: Final = "https://api.bank.example"
BASE: Final = f"{HOST}/open-banking/v3.1"
BANK_ISSUER: Final = "0015800001BANKxAAA"
TPP_ISSUER: Final = "0015800001TPPxxAAA/software-1"
_LIMIT: Final = 1 << 20
_PAGE: Final = 25
_FUNDS: Final = Decimal(1000)

_SIGNED: Final = ("-payment", "-standing-order", "-vrp", "event-subscription", "file")


@dataclass(slots=True)
class HeldConsent:
    """A consent at the bank."""

    kind: str
    body: dict[str, object]
    status: str = "AwaitingAuthorisation"


@dataclass(slots=True)
class _Call:
    request: Request
    path: str
    query: Mapping[str, str]
    scope: str
    consent_id: str | None
    body: dict[str, object] = field(default_factory=dict)


class OBIEBank:
    """One bank with two accounts.

    Args:
        server: Its authorization server; it must have the client.
        signer: Signs its answers and events, PS256.
        client_keys: Keys that the client signs messages with.
        clock: Seconds since 1970.
        rows: Transactions of the first account, 25 to a page.

    Attributes:
        requests: Requests to the resources, in order.
        consents: By id.
        payments: Bodies of the payments made, by id: one for each that moved money.
        faults: Given out, first to last, instead of acting.
        cuts: How many of the next answers to POST are lost after the bank has acted.
        events: Event tokens that wait to be polled, by jti.
        signs: Whether answers are signed.
    """

    def __init__(
        self,
        server: AuthorizationServer,
        *,
        signer: LocalSigner,
        client_keys: JWKSet,
        clock: Clock,
        rows: int = 60,
    ) -> None:
        self.server = server
        self.requests: list[Request] = []
        self.consents: dict[str, HeldConsent] = {}
        self.payments: dict[str, dict[str, object]] = {}
        self.faults: list[Response | OpenBankingError] = []
        self.cuts = 0
        self.events: dict[str, str] = {}
        self.signs = True
        self._signer = signer
        self._verifier = OBIEVerifier(client_keys, TPP_ISSUER, max_age_s=300)
        self._clock = clock
        self._rows = rows
        self._keys: dict[str, tuple[str, bytes, Response]] = {}
        self._owners: dict[str, str] = {}
        self._codes: dict[str, str] = {}
        self._approved = ""

    def send(self, request: Request) -> Response:
        """Answer one request."""
        if not request.url.startswith(HOST):
            return self._authorization(request)
        self.requests.append(request)
        if self.faults:
            fault = self.faults.pop(0)
            if isinstance(fault, OpenBankingError):
                raise fault
            return fault
        answer = self._signed(request, self._answer(request))
        if request.method == "POST" and self.cuts:
            self.cuts -= 1
            raise TransportError("the connection was cut", retryable=request.idempotent)
        return answer

    def visit(self, url: str, consent_id: str) -> str:
        """Be the owner, who agrees to a consent in the browser; returns where it ends."""
        self.server.user_claims["openbanking_intent_id"] = consent_id
        self._approved = consent_id
        self.consents[consent_id].status = "Authorised"
        return self.server.visit(url)

    def revoke(self, consent_id: str) -> None:
        """Be the owner, who ends a consent at the bank."""
        self.consents[consent_id].status = "Revoked"

    def event(self, consent_id: str, **claims: object) -> str:
        """An event token: the consent was revoked."""
        name = "urn:uk:org:openbanking:events:consent-authorization-revoked"
        link = f"{BASE}/aisp/account-access-consents/{consent_id}"
        subject = {
            "subject_type": "http://openbanking.org.uk/rid_http://openbanking.org.uk/rty",
            "http://openbanking.org.uk/rid": consent_id,
            "http://openbanking.org.uk/rty": "account-access-consent",
            "http://openbanking.org.uk/rlk": [{"version": "v3.1", "link": link}],
        }
        members: dict[str, object] = {
            "iss": "https://auth.bank.example",
            "iat": int(self._clock()),
            "jti": secrets.token_hex(16),
            "aud": "client-1",
            "sub": link,
            "txn": secrets.token_hex(8),
            "toe": int(self._clock()),
            "events": {name: {"subject": subject}},
            **claims,
        }
        token = sign_jwt(members, self._signer)
        self.events[str(members["jti"])] = token
        return token

    # Tokens: which consent an access token is for.

    def _authorization(self, request: Request) -> Response:
        answer = self.server.send(request)
        if urlsplit(request.url).path != "/token" or answer.status != 200:  # noqa: PLR2004
            return answer
        fields = dict(parse_qsl(request.body.decode("ascii")))
        members = parse_object(answer.body, what="token", limit_bytes=_LIMIT)
        owner = None
        if fields.get("grant_type") == "authorization_code":
            owner = self._approved
        elif fields.get("grant_type") == "refresh_token":
            owner = self._owners.get(fields["refresh_token"])
        if owner is not None:
            for name in ("access_token", "refresh_token"):
                self._owners[str(members.get(name))] = owner
        return answer

    def _answer(self, request: Request) -> Response:
        allowed = self.server.send(
            Request(
                "GET",
                RESOURCE,
                headers=(("authorization", request.header("authorization") or ""),),
                client_certificate=request.client_certificate,
            )
        )
        if allowed.status != 200:  # noqa: PLR2004
            return Response(401)
        parts = urlsplit(request.url)
        token = (request.header("authorization") or "").partition(" ")[2]
        scope = parse_object(allowed.body, what="scope", limit_bytes=_LIMIT)["scope"]
        call = _Call(
            request,
            parts.path.removeprefix("/open-banking/v3.1/"),
            dict(parse_qsl(parts.query)),
            str(scope),
            self._owners.get(token),
        )
        if request.body and not parts.path.endswith("/file"):
            call.body = parse_object(request.body, what="body", limit_bytes=_LIMIT)
        refusal = self._judged(call)
        return refusal or self._once(call)

    def _judged(self, call: _Call) -> Response | None:
        request = call.request
        if request.header("x-fapi-interaction-id") is None:
            return error_answer("UK.OBIE.Header.Missing")
        if request.method == "POST" and _is_signed(call.path):
            stated = request.header("x-jws-signature")
            if stated is None:
                return error_answer("UK.OBIE.Signature.Missing")
            try:
                self._verifier.verify(stated, request.body, now_s=self._clock())
            except OpenBankingError:
                return error_answer("UK.OBIE.Signature.Invalid")
        elif request.header("x-jws-signature") is not None:
            return error_answer("UK.OBIE.Signature.Unexpected")
        if call.consent_id is not None:
            consent = self.consents[call.consent_id]
            if consent.status not in {"Authorised", "Consumed"}:
                return Response(401)
        return None

    def _once(self, call: _Call) -> Response:
        key = call.request.header("x-idempotency-key")
        if key is None:
            return self._routed(call)
        if len(key) > 40:  # noqa: PLR2004
            return error_answer("UK.OBIE.Header.Invalid")
        held = self._keys.get(key)
        if held is not None:
            same = held[:2] == (call.path, call.request.body)
            return held[2] if same else error_answer("UK.OBIE.Header.Invalid")
        answer = self._routed(call)
        if answer.status < 300:  # noqa: PLR2004
            self._keys[key] = (call.path, call.request.body, answer)
        return answer

    def _routed(self, call: _Call) -> Response:
        service, _, path = call.path.partition("/")
        routes: tuple[tuple[Callable[[], bool], Callable[[_Call, str], Response]], ...] = (
            (lambda: call.request.method == "GET" and path.endswith("file"), _document),
            (lambda: path.endswith("/file"), self._file),
            (lambda: path.endswith("/payment-details"), self._details),
            (lambda: path.endswith("funds-confirmation"), self._funds),
            (lambda: path == "funds-confirmations", self._funds),
            (lambda: "-consents" in path, self._consent),
            (lambda: service == "pisp", self._payment),
            (lambda: service == "aisp" and call.consent_id is None, _forbidden),
            (lambda: service == "aisp", self._accounts),
            (lambda: service == "event-subscriptions", self._subscription),
            (lambda: service == "events", self._events),
        )
        for fits, route in routes:
            if fits():
                return route(call, path)
        return Response(404)

    # Consents.

    def _consent(self, call: _Call, path: str) -> Response:
        kind, _, consent_id = path.partition("-consents")
        consent_id = consent_id.strip("/")
        if call.request.method == "POST":
            consent_id = f"{kind}-{secrets.token_hex(4)}"
            status = "AwaitingUpload" if kind == "file-payment" else "AwaitingAuthorisation"
            self.consents[consent_id] = HeldConsent(kind, call.body, status)
            return self._consent_body(consent_id, 201)
        consent = self.consents.get(consent_id)
        if consent is None:
            return error_answer("UK.OBIE.Resource.NotFound")
        if call.request.method == "DELETE":
            del self.consents[consent_id]
            return Response(204)
        return self._consent_body(consent_id, 200)

    def _consent_body(self, consent_id: str, status: int) -> Response:
        consent = self.consents[consent_id]
        data = {**members(consent.body, "Data"), **self._stamped(consent_id, consent.status)}
        body: dict[str, object] = {"Data": data}
        if "Risk" in consent.body:
            body["Risk"] = consent.body["Risk"]
        return json_answer(status, {**body, **links(f"{BASE}/{consent_id}")})

    def _stamped(self, consent_id: str, status: str) -> dict[str, object]:
        now = self._now()
        return {
            "ConsentId": consent_id,
            "CreationDateTime": now,
            "Status": status,
            "StatusUpdateDateTime": now,
        }

    def _now(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")

    # Accounts.

    def _accounts(self, call: _Call, path: str) -> Response:
        parts = path.split("/")
        resource = parts[2] if len(parts) > 2 else parts[0]  # noqa: PLR2004
        if len(parts) > 1 and parts[1] not in {"a-1", "a-2"}:
            return error_answer("UK.OBIE.Resource.NotFound")
        if resource == "transactions":
            return self._transactions(call, parts[1])
        rows: dict[str, object] = {
            "accounts": {"Account": [account("a-1"), account("a-2")]},
            "balances": {"Balance": [self._balance(parts[-2])]} if len(parts) > 1 else {},
            "beneficiaries": {"Beneficiary": []},
        }
        if resource not in rows:
            return Response(404)
        return json_answer(200, {"Data": rows[resource], **links(f"{BASE}/{call.path}")})

    def _balance(self, account_id: str) -> dict[str, object]:
        return {
            "AccountId": account_id,
            "CreditDebitIndicator": "Debit",
            "Type": "InterimAvailable",
            "DateTime": self._now(),
            "Amount": {"Amount": "12.30", "Currency": "GBP"},
        }

    def _transactions(self, call: _Call, account_id: str) -> Response:
        page = int(call.query.get("page", "1"))
        count = self._rows if account_id == "a-1" else 0
        first = (page - 1) * _PAGE
        rows = [row(account_id, n) for n in range(first, min(first + _PAGE, count))]
        own = f"{BASE}/{call.path}"
        more = {"Next": f"{own}?page={page + 1}"} if first + _PAGE < count else {}
        return json_answer(200, {"Data": {"Transaction": rows}, **links(own, **more)})

    # Payments, funds, mandates.

    def _payment(self, call: _Call, path: str) -> Response:
        kind, _, payment_id = path.partition("s/")
        if call.request.method == "GET":
            body = self.payments.get(payment_id.partition("/")[0])
            return (
                error_answer("UK.OBIE.Resource.NotFound")
                if body is None
                else json_answer(200, body)
            )
        kind = kind.removesuffix("s")
        data = members(call.body, "Data")
        consent = self.consents.get(str(data["ConsentId"]))
        if consent is None or data["ConsentId"] != call.consent_id or consent.kind != kind:
            return Response(403)
        if consent.status != "Authorised":
            return error_answer("UK.OBIE.Resource.InvalidConsentStatus")
        asked = members(consent.body, "Data")
        if (data["Initiation"], call.body.get("Risk")) != (
            asked["Initiation"],
            consent.body.get("Risk"),
        ):
            return error_answer("UK.OBIE.Resource.ConsentMismatch")
        return self._vrp(call, asked) if kind == "domestic-vrp" else self._pay(call, kind, data)

    def _details(self, call: _Call, path: str) -> Response:
        payment_id = path.split("/")[1]
        if payment_id not in self.payments:
            return error_answer("UK.OBIE.Resource.NotFound")
        row = {
            "PaymentTransactionId": payment_id,
            "Status": "AcceptedSettlementInProcess",
            "StatusUpdateDateTime": self._now(),
        }
        return json_answer(200, {"Data": {"PaymentStatus": [row]}, **links(call.request.url)})

    def _pay(self, call: _Call, kind: str, data: dict[str, object]) -> Response:
        payment_id = secrets.token_hex(8)
        name = "".join(part.capitalize() for part in kind.split("-")) + "Id"
        consent_id = str(data["ConsentId"])
        is_now = kind in {"domestic-payment", "international-payment"}
        status = "AcceptedSettlementInProcess" if is_now else "InitiationPending"
        stamped = self._stamped(consent_id, status)
        body = {name: payment_id, **stamped, "Initiation": data["Initiation"]}
        self.payments[payment_id] = {"Data": body, **links(f"{call.request.url}/{payment_id}")}
        self.consents[consent_id].status = "Consumed"
        return json_answer(201, self.payments[payment_id])

    def _vrp(self, call: _Call, asked: dict[str, object]) -> Response:
        data = members(call.body, "Data")
        instruction = members(data, "Instruction")
        maximum = members(members(asked, "ControlParameters"), "MaximumIndividualAmount")
        wanted = members(instruction, "InstructedAmount")
        if Decimal(str(wanted["Amount"])) > Decimal(str(maximum["Amount"])):
            return error_answer("UK.OBIE.Rules.FailsControlParameters")
        payment_id = secrets.token_hex(8)
        stamped = self._stamped(str(data["ConsentId"]), "AcceptedSettlementInProcess")
        body: dict[str, object] = {
            "DomesticVRPId": payment_id,
            **stamped,
            "Initiation": data["Initiation"],
            "Instruction": instruction,
        }
        self.payments[payment_id] = {
            "Data": body,
            "Risk": call.body.get("Risk"),
            **links(f"{call.request.url}/{payment_id}"),
        }
        return json_answer(201, self.payments[payment_id])

    def _funds(self, call: _Call, path: str) -> Response:
        if call.consent_id is None:
            return Response(403)
        now, result = self._now(), True
        own = links(f"{BASE}/{call.path}")
        if call.request.method == "GET":
            found: object = {"FundsAvailableDateTime": now, "FundsAvailable": result}
            return json_answer(200, {"Data": {"FundsAvailableResult": found}, **own})
        data = members(call.body, "Data")
        wanted = Decimal(str(members(data, "InstructedAmount")["Amount"]))
        result = wanted <= _FUNDS
        body: dict[str, object] = {
            "FundsConfirmationId": secrets.token_hex(8),
            "CreationDateTime": now,
            **data,
        }
        if path == "funds-confirmations":
            body["FundsAvailable"] = result
            return json_answer(201, {"Data": body, **own})
        body["FundsAvailableResult"] = {
            "FundsAvailableDateTime": now,
            "FundsAvailable": "Available" if result else "NotAvailable",
        }
        return json_answer(201, {"Data": body})

    def _file(self, call: _Call, path: str) -> Response:
        del call
        consent = self.consents.get(path.split("/")[1])
        if consent is None or consent.status != "AwaitingUpload":
            return error_answer("UK.OBIE.Resource.InvalidConsentStatus")
        consent.status = "AwaitingAuthorisation"
        return Response(200, (("content-type", "application/json"),), b"{}")

    # Events.

    def _subscription(self, call: _Call, path: str) -> Response:
        if call.request.method == "DELETE":
            return Response(204)
        data = {"EventSubscriptionId": secrets.token_hex(8), **members(call.body, "Data")}
        return json_answer(201, {"Data": data, **links(f"{BASE}/{call.path}{path}")})

    def _events(self, call: _Call, path: str) -> Response:
        del path
        done = call.body.get("ack")
        for name in done if isinstance(done, list) else []:
            self.events.pop(str(name), None)
        limit = call.body.get("maxEvents")
        names = list(self.events)[: limit if isinstance(limit, int) else None]
        sets = {name: self.events[name] for name in names}
        return json_answer(200, {"moreAvailable": len(names) < len(self.events), "sets": sets})

    def _signed(self, request: Request, answer: Response) -> Response:
        path = urlsplit(request.url).path.removeprefix("/open-banking/v3.1/")
        headers = [*answer.headers]
        interaction = request.header("x-fapi-interaction-id")
        if interaction is not None:
            headers.append(("x-fapi-interaction-id", interaction))
        good = answer.status in {200, 201} and answer.body
        if good and self.signs and _is_signed(path):
            ours = OBIESignatures(BANK_ISSUER)
            made = ours.sign(answer.body, self._signer, now_s=int(self._clock()))
            headers.append(("x-jws-signature", made))
        return replace(answer, headers=tuple(headers))


def _document(call: _Call, path: str) -> Response:
    """A document that is no JSON: it says where it was asked for."""
    media = (("content-type", call.request.header("accept") or ""),)
    return Response(200, media, path.encode())


def _forbidden(call: _Call, path: str) -> Response:
    del call, path
    return Response(403)


def _is_signed(path: str) -> bool:
    return path.split("/", maxsplit=1)[0] in {"pisp", "event-subscriptions"} and any(
        part in path for part in _SIGNED
    )
