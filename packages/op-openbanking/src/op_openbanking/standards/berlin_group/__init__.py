"""Berlin Group NextGenPSD2 XS2A 1.3, checked against the file of 1.3.12 (2022-07-01).

Earlier 1.3 releases have the same paths; members were added on the way, and all additions are
optional here. Of 1.3.13 no public file was found: it is known as an errata release of the same
interface, without other paths. What it may add is kept as unknown members, at every depth.
"""
