"""One model over all standards: money, time, codes, accounts, payments, consents, pages.

Values only: nothing here opens a socket or reads a clock. Each object keeps the wire object that it
was read from in `raw`, so nothing that a bank sent is lost.
"""
