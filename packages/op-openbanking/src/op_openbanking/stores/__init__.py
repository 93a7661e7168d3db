"""Where consents, tokens and submissions live between two calls, and between two processes.

`base` has the Protocol (three methods), `memory` and `sqlite` fill it, `records` says what is kept.
To add one: a file with a class that passes `testing.store_contract`, and its test.
"""
