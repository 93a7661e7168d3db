"""A binding verified offline from a repository alone.

Source: `binding`; the proofs of `repo.record_proof`.
"""

from __future__ import annotations

from smart_byte_atproto.car import CAR
from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.errors import BindingRefused
from smart_byte_atproto.repo.record_proof import verify_record

from .binding import COLLECTION, Bound, read_naming, verify_binding, verify_naming


def verify_in_repository(whole: CAR, *, key: PublicKey, did: str, said: str) -> Bound:
    """Check a binding in both directions from an export, or from proofs of its two records.

    Args:
        whole: The export of the account's repository, every hash checked.
        key: Signing key of the account.
        did: The account.
        said: SAID of the binding.

    Raises:
        BindingRefused: With the code of the first check that fails.
        InvalidRepo, BadSignature, ProofFailed, MissingBlock: The repository does not hold what
            it should, or is not signed by that key.
    """
    naming = verify_record(whole, key=key, did=did, collection=COLLECTION, record_key=said)
    if naming.value is None:
        raise BindingRefused("record", "the repository names no such binding")
    uri = verify_binding(*read_naming(naming.value)).uri
    if uri.authority != did or uri.collection is None or uri.rkey is None:
        raise BindingRefused("account", f"the URI is of {uri.authority}, not of {did}")
    there = verify_record(whole, key=key, did=did, collection=uri.collection, record_key=uri.rkey)
    return verify_naming(naming.value, did=did, record_key=said, bound_cid=there.cid)
