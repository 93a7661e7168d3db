"""Banks as data: a profile for each, read strictly from TOML.

`profile` says what a profile holds, `load` reads one, `profiles/` has examples. To add a bank: a
TOML file, nowhere registered but in your own folder; `docs/openpay-add-a-bank.md` says how.
"""
