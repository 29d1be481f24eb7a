"""Error bodies in the vendors' own shapes."""

from __future__ import annotations

from thinkwire.sim.error_bodies import Complaint, write


def test_mistrals_validator_lists_the_place_of_a_flaw() -> None:
    complaint = Complaint(422, "Extra inputs are not permitted", None, "extra_forbidden", "body.messages.1.x")
    place = ["body", "messages", 1, "x"]
    flaw = {"type": "extra_forbidden", "loc": place, "msg": "Extra inputs are not permitted"}
    assert write("mistral", "openai-chat", complaint) == {"detail": [flaw]}
    assert write("mistral", "openai-chat", Complaint(401, "Unauthorized")) == {"detail": "Unauthorized"}
