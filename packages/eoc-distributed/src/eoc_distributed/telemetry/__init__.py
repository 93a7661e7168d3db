"""What the gateway tells of itself."""
