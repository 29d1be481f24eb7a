"""The client: prepares, sends, retries and recovers one request, and yields its events."""
