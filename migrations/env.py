"""Runs migrations on the connection that app/core/migrations.py hands over, in its transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
