"""STET PSD2 1.4, checked against the file of 1.4.0.47.

Of 1.4.2 to 1.7 no openly licensed file exists. Known from banks' documentation and taken in:
remittance information as an object (1.4.2). Known and not modelled, because no shape is public: the
answers of transaction details, overdrafts, owners and end-user identity (1.4.2), the single-SCA
flow (1.6.2). Members that they add to the shapes here are kept as unknown.
"""
