"""Logs, metrics, traces, costs and readiness checks of the gateway."""
