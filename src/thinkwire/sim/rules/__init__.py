"""What real providers refuse, one small rule each."""

from thinkwire.sim.rules.rule import Asked, Refusal, Rule

__all__ = ["Asked", "Refusal", "Rule"]
