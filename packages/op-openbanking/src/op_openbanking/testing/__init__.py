"""Real small implementations for tests: certificates, and an authorization server in memory.

They are shipped so that a user's own tests can use them. None of them is for production.
"""

from __future__ import annotations
