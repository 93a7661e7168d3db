"""Repositories: signed commits over a tree of records."""

from __future__ import annotations

from .commit import SignedCommit, UnsignedCommit
from .repo import Committed, Repo
from .verify import RepoReport, verify_repo

__all__ = [
    "Committed",
    "Repo",
    "RepoReport",
    "SignedCommit",
    "UnsignedCommit",
    "verify_repo",
]
