"""The rules that earlier systems learnt the hard way, one or more tests each, and none forgotten.

The number in a test's name is the rule's. Where a rule contradicts a newer wire reference or a decision of
the design, the test holds the newer one and says so.
"""

from __future__ import annotations

import re

from tests.reasoning import test_rules_anthropic, test_rules_gemini, test_rules_openai

MODULES = (test_rules_anthropic, test_rules_gemini, test_rules_openai)
RULES = range(1, 58)


def test_every_rule_has_a_test() -> None:
    names = [name for module in MODULES for name, value in vars(module).items() if callable(value)]
    numbers = [int(found[1]) for name in names if (found := re.match(r"test_rule_(\d+)_", name))]
    assert set(numbers) == set(RULES)
