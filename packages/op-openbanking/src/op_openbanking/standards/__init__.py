"""The standards, a folder each: their wire shapes, and the mapping to the one model.

`base.py` holds the rules of reading and writing that all share. A standard's folder has `wire.py`
(or one file for each group of resources), `resources.py` (which shape a named resource has) and
`mapping.py` (wire to model). `registry.py` names them. To add a standard: add such a folder, one
entry in `registry.py`, and bodies of its own in `tests/data/standards`.
"""
