"""What real providers refuse, one small rule each."""

from thinkwire.sim.rules.rule import Refusal, Rule, RuleInput

__all__ = ["Refusal", "Rule", "RuleInput"]
