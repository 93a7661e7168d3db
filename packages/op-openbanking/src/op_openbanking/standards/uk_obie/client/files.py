"""Payment files at a UK bank: the consent names the file's hash, then the file follows.

Source: OBIE Read/Write 3.1.11, file-payment-consents.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass

from op_openbanking.errors import ConfigError
from op_openbanking.flow import Flow
from op_openbanking.model.consent import Consent
from op_openbanking.standards.base import decode
from op_openbanking.standards.uk_obie import file
from op_openbanking.standards.uk_obie.client.channel import Channel
from op_openbanking.standards.uk_obie.client.consents import OBIEConsents

_FILE = "file-payment"


@dataclass(frozen=True, slots=True)
class OBIEFiles:
    """Fills `traits.pisp.FileUploads`."""

    channel: Channel
    consents: OBIEConsents

    def upload(self, consent_id: str, octets: bytes, *, media_type: str) -> Flow[Consent]:
        """See `FileUploads.upload`. The hash is base64 of SHA-256."""
        link = self.channel.link
        record = link.consent(consent_id)
        if record.product != _FILE:
            raise ConfigError(f"a consent for {record.product} waits for no file")
        asked = decode(record.request, file.FileConsent, standard="uk-obie", resource=_FILE)
        if not hmac.compare_digest(file_hash(octets), asked.data.initiation.file_hash):
            raise ConfigError("the file is not the one whose hash the consent names")
        yield from self.channel.post(
            link.url("pisp", "/file-payment-consents/{consent_id}/file", consent_id=consent_id),
            octets,
            scope="payments",
            key=self.channel.fresh_key(),
            signed=True,
            media_type=media_type,
        )
        return (yield from self.consents.read(consent_id))

    def uploaded(self, consent_id: str, *, media_type: str) -> Flow[bytes]:
        """The file that the bank has: GET `/file-payment-consents/{ConsentId}/file`."""
        url = self.channel.link.url(
            "pisp", "/file-payment-consents/{consent_id}/file", consent_id=consent_id
        )
        response = yield from self.channel.get(url, scope="payments", accept=media_type)
        return response.body

    def report(self, payment_id: str, *, media_type: str) -> Flow[bytes]:
        """The report on a file's payments: GET `/file-payments/{FilePaymentId}/report-file`."""
        url = self.channel.link.url(
            "pisp", "/file-payments/{payment_id}/report-file", payment_id=payment_id
        )
        response = yield from self.channel.get(url, scope="payments", accept=media_type)
        return response.body


def file_hash(octets: bytes) -> str:
    """`FileHash` of a file: base64 of SHA-256."""
    return base64.b64encode(hashlib.sha256(octets).digest()).decode("ascii")
