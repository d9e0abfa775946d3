"""A picture per group, for a README: for each cell the peers' figures as dots on a logarithmic scale, ours in colour. Plain SVG, light
and dark."""

import math
from xml.sax.saxutils import escape

from driver import machine
from driver.measure import median, number

ROW, PANEL, LABELS, VALUES, TOP, PER_LINE = 19, 220, 134, 70, 90, 3
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 15px; font-weight: 600 } .small { font-size: 11px; fill: #6e7781 } .ground { fill: #ffffff }
  .line { stroke: #d0d7de } .dot { fill: #8c959f }
  .ours text, text.ours { font-weight: 600 } .ours .dot { fill: #cf4a22 } .raw .dot { fill: none; stroke: #8c959f; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #8d96a0 } .ground { fill: #0d1117 } .line { stroke: #3d444d } .dot { fill: #8d96a0 } .ours .dot { fill: #ff7b54 }
  }
"""


def svg(width, height, label, style, parts):
    """A picture of these elements, whose style has colours for the ground."""
    body = "\n".join(part for part in parts if part)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(label)}">\n<style>{style}</style>\n<rect class="ground" width="{width}" height="{height}"/>\n{body}\n</svg>\n')


def kind(peer):
    return "ours" if peer.startswith("ours") else "raw" if peer == "raw" else "peer"


def axis(values):
    """Whole powers of ten around the values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def dot(value, left, y, low, high, peer, scale):
    x = left + (math.log10(value) - low) / (high - low) * PANEL
    label = number(value, scale)
    return (
        f'<g class="{kind(peer)}"><line class="line" x1="{left}" y1="{y}" x2="{left + PANEL}" y2="{y}"/>'
        f'<circle class="dot" cx="{x:.1f}" cy="{y}" r="4.5"/>'
        f'<text x="{left + PANEL + VALUES - 8}" y="{y + 4}" text-anchor="end">{label}</text></g>'
    )


def panel(group, cell, results, peers, left, top):
    values = {peer: median(results, cell.name, peer, group.metric) for peer in peers}
    values = {peer: value for peer, value in values.items() if value is not None and value > 0}
    parts = [f'<text class="small" x="{left}" y="{top - 8}">{escape(cell.label)}</text>']
    if not values:
        return parts
    low, high = axis(values.values())
    for index, peer in enumerate(peers):
        y = top + index * ROW + ROW // 2
        if peer in values:
            parts.append(dot(values[peer], left, y, low, high, peer, group.scale))
    return parts


def draw(group, results, peers, about):
    """The SVG, or None if there is nothing to show. `peers`: their names and versions."""
    shown = [peer for peer in peers if any(median(results, cell.name, peer, group.metric) for cell in group.cells)]
    if not shown:
        return None
    lines = math.ceil(len(group.cells) / PER_LINE)
    height = TOP + lines * (len(shown) * ROW + 34)
    width = LABELS + min(PER_LINE, len(group.cells)) * (PANEL + VALUES) + 8
    better = "right" if group.more_is_better else "left"
    notes = [f"{group.unit}, median; logarithmic, {better} is better; {about}", machine.versions({peer: peers[peer] for peer in shown})]
    width = max(width, 9 * len(group.title), math.ceil(6.2 * max(map(len, notes))))
    parts = [
        f'<text class="title" x="8" y="22">{escape(group.title)}</text>',
        *(f'<text class="small" x="8" y="{40 + 15 * line}">{escape(note)}</text>' for line, note in enumerate(notes)),
    ]
    for index, cell in enumerate(group.cells):
        line, column = divmod(index, PER_LINE)
        top = TOP + line * (len(shown) * ROW + 34)
        if column == 0:
            for row, peer in enumerate(shown):
                parts.append(f'<text class="{kind(peer)}" x="8" y="{top + row * ROW + ROW // 2 + 4}">{escape(peer)}</text>')
        parts += panel(group, cell, results, shown, LABELS + column * (PANEL + VALUES), top)
    return svg(width, height, group.title, STYLE, parts)
