"""Requests that the gateway itself refuses."""

from __future__ import annotations

from thinkwire.errors import Failure, FailureKind, ThinkwireError


class Refusal(ThinkwireError):
    """A request that the gateway itself does not serve; the client gets it in its own dialect."""

    def __init__(
        self,
        status: int,
        kind: FailureKind,
        message: str,
        *,
        retry_after: float | None = None,
        closes: bool = False,
    ) -> None:
        super().__init__(message)
        self.closes = closes
        self.status = status
        self.kind = kind
        self.message = message
        self.retry_after = retry_after

    @property
    def failure(self) -> Failure:
        return Failure(self.kind, self.message, status=self.status, retry_after=self.retry_after)


class ClientLeft(ThinkwireError):
    """The client closed the connection before its request was whole."""
