"""UK Open Banking Read/Write 3.1.10 and 3.1.11.

Both versions share the shapes: what 3.1.11 added is optional in answers of 3.1.10. One difference
is a requirement: `VRPType` of a VRP payment, so 3.1.10 has `VRPPaymentWithoutType`.
"""
