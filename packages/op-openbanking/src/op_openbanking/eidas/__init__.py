"""What a qualified certificate says about its holder: roles, authority, organisation.

`certificate` reads one certificate, `qc_statements` the PSD2 extension inside it,
`organization_identifier` the name the authority gave, `distinguished_name` writes names in the
forms that banks compare. Nothing here builds a chain of trust: whether a qualified trust service
provider issued the certificate is decided where its roots are known (TLS, or the bank).
"""

from __future__ import annotations
