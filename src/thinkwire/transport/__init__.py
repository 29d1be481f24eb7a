"""Connections to providers: the only package that opens sockets for requests."""
