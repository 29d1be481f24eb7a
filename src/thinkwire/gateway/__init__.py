"""The gateway: any client on any model, with its reasoning intact."""
