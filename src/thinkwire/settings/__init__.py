"""Settings: what can be set, who may set it, and what it means. Pure; files are in `thinkwire.config`."""

from thinkwire.settings.interpret import (
    conversation_state_of,
    intent_of,
    model_layer,
    overrides_of,
    replay_of,
    thinking_shown,
)
from thinkwire.settings.keys import KEYS, SettingKey, setting_of
from thinkwire.settings.layers import DEFAULT, SOURCES, Layer, Row, Settings, checked_layer
from thinkwire.settings.overrides import ModelOverrides
from thinkwire.settings.values import check_value, check_values, parse_assignments, parse_value, spelled

__all__ = [
    "DEFAULT",
    "KEYS",
    "SOURCES",
    "Layer",
    "ModelOverrides",
    "Row",
    "SettingKey",
    "Settings",
    "check_value",
    "check_values",
    "checked_layer",
    "conversation_state_of",
    "intent_of",
    "model_layer",
    "overrides_of",
    "parse_assignments",
    "parse_value",
    "replay_of",
    "setting_of",
    "spelled",
    "thinking_shown",
]
