"""The catalog that commands use: the package's tables, and the user's own on top."""

from __future__ import annotations

import os
import time
from pathlib import Path

from thinkwire.catalog import Catalog, CatalogMatch, default_catalog
from thinkwire.client.learned_facts import LOCAL_USER, default_learned_facts
from thinkwire.config.paths import config_folder
from thinkwire.errors import ConfigError
from thinkwire.reasoning.target import Target


def the_catalog(overlay: str | None = None) -> Catalog:
    """The catalog with the table named here, in $THINKWIRE_MODELS, or in the configuration folder."""
    named = overlay or os.environ.get("THINKWIRE_MODELS")
    path = Path(named) if named else config_folder() / "models.toml"
    if not path.exists():
        if named:
            raise ConfigError(f"there is no table of models at {path}")
        return default_catalog()
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    return default_catalog().with_table(text, str(path))


def with_learned_facts(target: Target) -> Target:
    """The target with the facts that were learned for the local user, and for everyone."""
    if target.found is None:
        return target
    facts = default_learned_facts().corrected(target.found.facts, time.time(), LOCAL_USER)
    return Target(target.model, target.provider, CatalogMatch(facts, target.found.by))
