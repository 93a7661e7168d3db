"""Identity: DID documents and what they say of an account."""
