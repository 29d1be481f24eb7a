"""How many inputs a fuzz target tries: THINKWIRE_FUZZ_EXAMPLES, or enough for a minute or less."""

from __future__ import annotations

import os

EXAMPLES = int(os.environ.get("THINKWIRE_FUZZ_EXAMPLES", "2000"))
