"""The schema's history, one file per step, run by Alembic."""
