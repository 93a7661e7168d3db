"""Workers that answer requests: engines behind a URL and engines inside the process."""
