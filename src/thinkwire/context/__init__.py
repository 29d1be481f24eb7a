"""What a conversation weighs: tokens by kind, as they will be sent; when to compact; what a change costs."""

from thinkwire.context.calibration import Calibration
from thinkwire.context.effective import COMPRESS_AT, Effective, effective_tokens, should_compress
from thinkwire.context.estimate import Count, count, estimate_text
from thinkwire.context.prediction import Fingerprint, predict

__all__ = [
    "COMPRESS_AT",
    "Calibration",
    "Count",
    "Effective",
    "Fingerprint",
    "count",
    "effective_tokens",
    "estimate_text",
    "predict",
    "should_compress",
]
