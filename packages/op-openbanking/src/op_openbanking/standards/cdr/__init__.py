"""Australia's Consumer Data Standards 1.31.0, banking and common. Read only."""
