"""Repositories: signed commits over a tree of records."""
