"""The server side of sockets and processes: protocol, request cycle, start and stop."""
