"""The event stream of repositories: frames, events, and their verification."""
