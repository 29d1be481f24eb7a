"""Facts about models, as data: one table per maker, a lookup, and the user's own table on top."""

from thinkwire.catalog.facts import Budget, Facts
from thinkwire.catalog.lookup import Catalog, CatalogMatch, default_catalog

__all__ = ["Budget", "Catalog", "CatalogMatch", "Facts", "default_catalog"]
