"""UK Open Banking over one link."""

from __future__ import annotations

from op_openbanking.standards.uk_obie.client.aisp import OBIEAccounts
from op_openbanking.standards.uk_obie.client.capabilities import capabilities
from op_openbanking.standards.uk_obie.client.channel import Channel
from op_openbanking.standards.uk_obie.client.consents import OBIEConsents
from op_openbanking.standards.uk_obie.client.files import OBIEFiles
from op_openbanking.standards.uk_obie.client.mandates import OBIEMandates
from op_openbanking.standards.uk_obie.client.notices import OBIEEvents
from op_openbanking.standards.uk_obie.client.piis import OBIEFunds
from op_openbanking.standards.uk_obie.client.pisp import OBIEPayments
from op_openbanking.traits.dialect import Dialect, Traits
from op_openbanking.traits.link import Link


def connect(link: Link) -> Traits:
    """The traits over a link; see `Dialect.connect`."""
    channel = Channel.over(link)
    consents = OBIEConsents(channel)
    return Traits(
        consents=consents,
        authorisations=consents,
        aisp=OBIEAccounts(channel, consents),
        pisp=OBIEPayments(channel, consents),
        piis=OBIEFunds(channel, consents),
        vrp=OBIEMandates(channel, consents),
        events=OBIEEvents(channel),
        files=OBIEFiles(channel, consents),
    )


DIALECT = Dialect("uk-obie", ("3.1.10", "3.1.11"), capabilities, connect)
