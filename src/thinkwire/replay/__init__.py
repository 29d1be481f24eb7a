"""What goes back: which of a conversation's thinking a model is given again, and in what shape."""

from thinkwire.replay.planner import Destination, Replay, plan_replay
from thinkwire.replay.policy import ReplaySettings

__all__ = ["Destination", "Replay", "ReplaySettings", "plan_replay"]
