"""FDX Core 5.0 to 6.4, one set of shapes built from a table of names, types and requirements."""
