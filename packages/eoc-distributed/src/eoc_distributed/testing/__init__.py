"""Small real implementations for tests, benchmarks and examples."""
