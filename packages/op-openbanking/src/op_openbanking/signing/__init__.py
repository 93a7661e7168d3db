"""Who holds the signing key: one file for each kind of signer.

To add one: write `signing/NAME.py` with a class that has `alg`, `kid` and `sign`, hand what the
device returns to `checks.checked`, and add its line to `registry.SIGNERS`. Optional libraries are
imported inside the function that needs them, and their absence raises `ExtraMissing`. Users need
no entry here: any object with the three members of `base.Signer` will do.

A TLS client key is another matter: it never passes through a signer. See `docs/openpay-signing.md`.
"""

from __future__ import annotations
