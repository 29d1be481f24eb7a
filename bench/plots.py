"""Plots as SVG, by hand: bars on a logarithmic scale, and curves on two of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

_INK, _OURS, _OTHERS, _GRID = "#1f2430", "#2f6fdb", "#9aa3b2", "#e3e6ec"
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
    'height="{height}" font-family="system-ui, sans-serif" font-size="13" fill="{ink}" '
    'role="img" aria-label="{title}">'
    '<rect width="100%" height="100%" fill="#ffffff"/>'
    '<text x="16" y="26" font-size="16" font-weight="600">{title}</text>'
)


def bars(title: str, values: Mapping[str, float], *, ours: str = "thinkwire", unit: str = "µs") -> str:
    """One bar for each name, the shortest first; the scale is logarithmic."""
    rows = sorted(((name, value) for name, value in values.items() if value > 0), key=lambda row: row[1])
    left, width, step = 210, 760, 30
    height = 56 + step * len(rows) + 10
    low = math.log10(min((value for _, value in rows), default=1.0)) - 0.3
    span = max(math.log10(max((value for _, value in rows), default=10.0)) - low, 0.1)
    drawn = [_HEAD.format(width=width, height=height, ink=_INK, title=escape(title))]
    for number, (name, value) in enumerate(rows):
        y = 46 + number * step
        length = (math.log10(value) - low) / span * (width - left - 110)
        colour = _OURS if name == ours else _OTHERS
        drawn.append(f'<text x="{left - 10}" y="{y + 15}" text-anchor="end">{escape(name)}</text>')
        drawn.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="20" rx="3" fill="{colour}"/>')
        drawn.append(f'<text x="{left + length + 8:.1f}" y="{y + 15}">{number_words(value)} {unit}</text>')
    return "\n".join([*drawn, "</svg>\n"])


def curve(title: str, points: Sequence[tuple[float, float]], *, x: str, y: str) -> str:
    """A curve on two logarithmic scales, with the straight line of linear growth from its last point back."""
    width, height, left, top, right, bottom = 560, 340, 70, 46, 24, 50
    xs = [math.log10(max(size, 1e-9)) for size, _ in points]
    ys = [math.log10(max(cost, 1e-9)) for _, cost in points]
    low_y, high_y = math.floor(min(ys)), max(math.ceil(max(ys)), math.floor(min(ys)) + 1)

    def at(place: tuple[float, float]) -> str:
        across = left + (place[0] - xs[0]) / max(xs[-1] - xs[0], 0.1) * (width - left - right)
        down = height - bottom - (place[1] - low_y) / (high_y - low_y) * (height - top - bottom)
        return f"{across:.1f},{down:.1f}"

    drawn = [_HEAD.format(width=width, height=height, ink=_INK, title=escape(title))]
    for power in range(low_y, high_y + 1):
        down = float(at((xs[0], power)).partition(",")[2])
        drawn.append(f'<path d="M{left},{down}H{width - right}" stroke="{_GRID}"/>')
        drawn.append(_label(left - 8, down + 4, number_words(10.0**power), "end"))
    back = max(xs[0], xs[-1] - (ys[-1] - low_y))
    linear = f"{at((back, ys[-1] - (xs[-1] - back)))} {at((xs[-1], ys[-1]))}"
    drawn.append(f'<polyline points="{linear}" fill="none" stroke="{_OTHERS}" stroke-dasharray="4 4"/>')
    line = " ".join(map(at, zip(xs, ys, strict=True)))
    drawn.append(f'<polyline points="{line}" fill="none" stroke="{_OURS}" stroke-width="2.5"/>')
    for place, (size, _) in zip(zip(xs, ys, strict=True), points, strict=True):
        across, _, down_text = at(place).partition(",")
        drawn.append(f'<circle cx="{across}" cy="{down_text}" r="3.5" fill="{_OURS}"/>')
        drawn.append(_label(float(across), height - bottom + 18, number_words(size), "middle"))
    drawn.append(_label((left + width - right) / 2, height - 10, x, "middle"))
    drawn.append(_label(width - right, 26, f"{y}; dashed: linear", "end"))
    return "\n".join([*drawn, "</svg>\n"])


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def number_words(value: float) -> str:
    """A number short enough to be read: 0.45, 13, 2,400, 10M."""
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 10 and value == int(value) else f"{value:.3g}"
