"""What a bank can be asked, whatever standard it speaks: one Protocol for each service.

    wish.py          what a caller wants: accounts to read, a payment, funds to confirm, a mandate
    consent.py       Consents (read, revoke), Authorisations (begin, land, proceed)
    aisp.py pisp.py piis.py vrp.py events.py
    pages.py         lists, page by page: `each` and `aeach`
    capability.py    what a standard, its version and a bank offer; refusals before any I/O
    link.py          what a standard is handed: profile, client, store, tokens
    submission.py    what must happen at most once
    dialect.py       the traits of one standard together, and the registry of standards

A standard fills these in `standards/<name>/client/`; `docs/openpay-add-a-standard.md` says how.
Methods that need one answer return a `Flow`, lists return `Pages`; nothing here does I/O.
"""
