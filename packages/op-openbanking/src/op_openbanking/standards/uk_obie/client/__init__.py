"""UK Open Banking Read/Write 3.1.10 and 3.1.11, spoken to a bank.

dialect.py       the traits together, and what the standard offers
channel.py       headers, message signatures, errors: the one way out
consents.py      account, funds, payment and VRP consents, and their authorisation
aisp.py reads.py accounts and all other account resources
products.py orders.py pisp.py files.py   payments
piis.py mandates.py notices.py           funds, VRP, events
"""
