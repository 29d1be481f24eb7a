"""The catalog that commands use: the package's tables, and the user's own on top."""

from __future__ import annotations

import os
import time
from pathlib import Path

from thinkwire.catalog import Catalog, Found, default_catalog
from thinkwire.errors import ConfigError
from thinkwire.folders import config_folder
from thinkwire.lessons import default_book
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


def as_learnt(target: Target) -> Target:
    """The target with what its provider's refusals have taught."""
    if target.found is None:
        return target
    facts = default_book().corrected(target.found.facts, time.time())
    return Target(target.model, target.provider, Found(facts, target.found.by))
