"""How hard to think: intents in any vocabulary in, one plan out."""

from thinkwire.reasoning.intent import Intent
from thinkwire.reasoning.levels import LEVELS, Level, budget_for, parse_level
from thinkwire.reasoning.model_names import ModelName, parse_name

__all__ = ["LEVELS", "Intent", "Level", "ModelName", "budget_for", "parse_level", "parse_name"]
