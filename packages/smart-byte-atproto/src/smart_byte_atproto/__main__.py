"""Run the command line with `python -m smart_byte_atproto`."""

from __future__ import annotations

from .cli import main

if __name__ == "__main__":
    main()
