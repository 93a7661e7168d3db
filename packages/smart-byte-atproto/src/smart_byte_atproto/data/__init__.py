"""Data model: CIDs, DAG-CBOR, JSON, blobs, varints."""
