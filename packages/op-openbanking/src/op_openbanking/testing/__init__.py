"""Real small implementations for tests: authorities, certificates, a server, a man in the middle.

They are shipped so that a user's own tests can use them. None of them is for production.
"""

from __future__ import annotations
