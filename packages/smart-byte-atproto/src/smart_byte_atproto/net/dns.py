"""TXT records, bounded in time and number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import dns.asyncresolver
import dns.exception
import dns.rdatatype
import dns.resolver

from smart_byte_atproto.errors import NetworkFailed

from .fetch import TextRecords

MAX_RECORDS: Final = 100
"""Records of one name that are read (ours)."""
_MAX_NAME: Final = 253


class DNS:
    """Asks for TXT records.

    Args:
        nameservers: Addresses to ask; those of the system by default.
        port: Of the name servers.
    """

    def __init__(self, nameservers: Sequence[str] = (), *, port: int = 53) -> None:
        self._nameservers = list(nameservers)
        self._port = port

    def text_records(self, wanted: TextRecords) -> list[str]:
        """Return the records, the strings of each joined; none if there are none.

        Raises:
            NetworkFailed: No answer.
        """
        if len(wanted.name) > _MAX_NAME:
            return []
        try:
            answer = self._set_up(dns.resolver.Resolver).resolve(
                wanted.name, dns.rdatatype.TXT, lifetime=wanted.timeout_s, search=False
            )
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer, dns.resolver.YXDOMAIN):
            return []
        except (dns.exception.DNSException, OSError) as error:
            raise NetworkFailed(wanted.name, f"DNS: {type(error).__name__}") from error
        return _texts(answer)

    async def atext_records(self, wanted: TextRecords) -> list[str]:
        """Return the records; see `text_records`."""
        if len(wanted.name) > _MAX_NAME:
            return []
        try:
            answer = await self._set_up(dns.asyncresolver.Resolver).resolve(
                wanted.name, dns.rdatatype.TXT, lifetime=wanted.timeout_s, search=False
            )
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer, dns.resolver.YXDOMAIN):
            return []
        except (dns.exception.DNSException, OSError) as error:
            raise NetworkFailed(wanted.name, f"DNS: {type(error).__name__}") from error
        return _texts(answer)

    def _set_up(self, kind: Any) -> Any:  # noqa: ANN401 - two classes without a common base
        try:
            resolver = kind(configure=not self._nameservers)
        except dns.resolver.NoResolverConfiguration as error:
            raise NetworkFailed("DNS", "this machine names no name servers") from error
        if self._nameservers:
            resolver.nameservers = self._nameservers
            resolver.port = self._port
        return resolver


def _texts(answer: Iterable[Any]) -> list[str]:
    texts = []
    for record in answer:
        texts.append(b"".join(record.strings).decode("utf-8", "replace"))
        if len(texts) >= MAX_RECORDS:
            break
    return texts
