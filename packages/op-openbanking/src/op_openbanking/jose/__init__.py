"""JSON Object Signing and Encryption for open banking: one file for each operation.

`jws` and `detached` sign and verify, `jwk` holds trusted keys, `rotation` decides when to fetch
them again, `jwt` checks claims, `hashes` computes s_hash, c_hash, at_hash and x5t#S256, `jwe`
encrypts where a standard asks for it. Everything here is a core: bytes in, values out, the clock
handed in. Algorithms are chosen by the caller and by the key, never by the message.
"""

from __future__ import annotations
