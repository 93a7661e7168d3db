"""Edges: HTTP and DNS under one guard, since strangers choose the names that are asked."""
