"""Runs the steps on the connection that `thinkwire.store.schema` hands over, inside its transaction."""

from __future__ import annotations

from alembic import context

from thinkwire.store.schema import VERSION_TABLE
from thinkwire.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
