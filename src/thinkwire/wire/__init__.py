"""Bytes to frames: SSE, NDJSON, JSON arrays and think tags. Incremental, bounded, and without IO."""
