"""SGFinDex: the public Myinfo finance items, and a seam for decoders of what is not public."""
