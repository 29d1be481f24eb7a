"""What the user knows about a model or server that no table says."""

from __future__ import annotations

import msgspec

from thinkwire.catalog import Facts
from thinkwire.catalog.facts import Shape


class ModelOverrides(msgspec.Struct, frozen=True, omit_defaults=True):
    """Settings that stand over a model's facts: the wire shape, the words for levels, the reasoning field."""

    shape: Shape | None = None
    names: dict[str, str] = {}
    field: str | None = None

    def applied(self, facts: Facts) -> Facts:
        """The facts as the user describes them."""
        if self.shape is not None:
            facts = msgspec.structs.replace(facts, shape=self.shape)
        if self.names:
            facts = msgspec.structs.replace(
                facts, names=facts.names | self.names, efforts=tuple(dict.fromkeys(self.names.values()))
            )
        return facts
