"""What all scripts are told, and the tool that they offer."""

import os
import sys

URL, WIRE, MODEL, PROMPT = sys.argv[1:5]
KEY = os.environ["GW_KEY"]
NAME, ABOUT = "get_weather", "The weather in a city."
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ROUNDS = 6


def get_weather(city: str) -> str:
    """The weather in a city."""
    return "-".join(["tool", "ran", "7319"])
