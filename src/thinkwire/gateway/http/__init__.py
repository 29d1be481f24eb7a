"""HTTP details of the gateway: routes, headers, security checks, errors and the client response."""
