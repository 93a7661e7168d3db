"""Identifiers and formats, each parsed once into a type of its own."""
