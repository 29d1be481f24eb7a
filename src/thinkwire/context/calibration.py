"""What providers really count: a factor for each model, learnt from the usage that they report."""

from __future__ import annotations

import math

import msgspec

from thinkwire.errors import MalformedInput

LEAST_INPUT = 200
"""Below this many reported tokens, what stands around messages weighs more than the messages."""
_BOUND = 3.0
_STEP = 2.0
"""One report moves a factor as if it were at most this far off."""
_MEMORY = 7
_MOST_MODELS = 500


class CalibrationFactor(msgspec.Struct, frozen=True):
    """Reported tokens for an estimated one, and how many reports say so."""

    factor: float = 1.0
    seen: int = 0


class Calibration(msgspec.Struct, frozen=True, omit_defaults=True):
    """Factors by `provider/model`, the latest learnt last. A value: learning gives another one."""

    models: dict[str, CalibrationFactor] = {}

    def learned(
        self, provider: str, model: str, estimated: int, reported_input_total: int | None
    ) -> Calibration:
        """The same with one report more. Reported input counts what was read from and written to a cache."""
        if reported_input_total is None or reported_input_total < LEAST_INPUT or estimated <= 0:
            return self
        key = _key(provider, model)
        known = self.models.get(key, CalibrationFactor())
        ratio = reported_input_total / estimated / known.factor
        pull = max(1 / _STEP, min(_STEP, ratio)) ** (1 / (min(known.seen, _MEMORY) + 2))
        factor = max(1 / _BOUND, min(_BOUND, known.factor * pull))
        rest = {name: learnt for name, learnt in self.models.items() if name != key}
        kept = dict(list(rest.items())[-(_MOST_MODELS - 1) :])
        return Calibration(kept | {key: CalibrationFactor(round(factor, 4), known.seen + 1)})

    def factor(self, provider: str, model: str) -> float:
        """1 for a model that nothing was reported of."""
        return self.models.get(_key(provider, model), CalibrationFactor()).factor

    def corrected(self, provider: str, model: str, estimated: int) -> int:
        return math.ceil(estimated * self.factor(provider, model))

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)

    @staticmethod
    def from_json(data: bytes | str) -> Calibration:
        try:
            read = msgspec.json.decode(data, type=Calibration)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise MalformedInput(f"not a token calibration: {error}") from None
        factors = [learnt.factor for learnt in read.models.values()]
        if not all(1 / _BOUND - 0.001 <= factor <= _BOUND for factor in factors):
            raise MalformedInput(f"not a token calibration: factors are from 1/{_BOUND:g} to {_BOUND:g}")
        return read


def _key(provider: str, model: str) -> str:
    return f"{provider}/{model}"
