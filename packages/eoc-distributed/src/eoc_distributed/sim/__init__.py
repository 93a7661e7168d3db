"""Traces of requests, and what a fleet would make of them."""
