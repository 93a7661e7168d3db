"""The parts of a consent that a payment must repeat, byte for byte.

They are cut out of the octets, never parsed and written anew: `10` and `10.00` are equal numbers
and different payments, and what a shape of ours does not know is there all the same.

Source: OBIE Read/Write 3.1.11, UK.OBIE.Resource.ConsentMismatch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from op_openbanking.errors import StoreFailed
from op_openbanking.jose.strict_json import encode_object

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Repeated:
    """Octets of one consent.

    Attributes:
        initiation: Member `Data.Initiation`.
        risk: Member `Risk`, or None where the product has none.
    """

    initiation: bytes
    risk: bytes | None

    def body(self, consent_id: str, *, beside: Mapping[str, bytes] | None = None) -> bytes:
        """The body of a payment.

        Args:
            consent_id: The consent.
            beside: Further members of `Data`, each as its octets.
        """
        data = {
            "ConsentId": encode_object(consent_id),
            "Initiation": self.initiation,
            **(beside or {}),
        }
        body = {"Data": _joined(data)}
        if self.risk is not None:
            body["Risk"] = self.risk
        return _joined(body)


def repeated(consent: bytes) -> Repeated:
    """Cut out what must be repeated.

    Args:
        consent: A consent request of ours, or the bank's answer to it.

    Raises:
        StoreFailed: The octets kept are no such consent.
    """
    try:
        outer = _members.decode(consent)
        initiation = _members.decode(outer["Data"])["Initiation"]
    except (msgspec.MsgspecError, KeyError) as error:
        raise StoreFailed("the consent kept is not readable") from error
    risk = outer.get("Risk")
    return Repeated(bytes(initiation), None if risk is None else bytes(risk))


def _joined(members: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(b'"%b":%b' % (k.encode(), v) for k, v in members.items()) + b"}"
