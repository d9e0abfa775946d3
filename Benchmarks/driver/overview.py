"""One chart of everything that has a counterpart in the hand-written loop: for each cell the ratios to raw of ours, of CoreFoundation
and of the other libraries, and the goal. Plain SVG, light and dark."""

import math
from xml.sax.saxutils import escape

from driver.measure import ratio
from driver.picture import svg

# In this order.
NAMES = {
    "w1,s": "wake-up and back, one core", "w1,x": "wake-up and back, two cores", "w2,plain": "source that signals itself",
    "w2,descriptor": "the same, with a descriptor", "w3,1": "task from another thread", "w3,4": "tasks from four threads",
    "w4,1,1": "descriptor, the only one", "w4,1000,1": "descriptor, one of 1,000", "w4,1000,100": "descriptors, 100 of 1,000",
    "w5,1000": "timer created and stopped, of 1,000", "w5,100000": "timer created and stopped, of 100,000", "w5r,1000": "timer moved, of 1,000",
    "w5p,1000": "timer replaced, of 1,000", "w5b,10000,0": "timer fired, of 10,000", "w5b,10000,1": "timer fired, with tolerance",
    "w5c,chain": "lateness of a timer", "w6,descriptor": "an iteration with nothing to do", "w7,timers": "memory of a timer",
    "w7,descriptors": "memory of a descriptor source", "w8": "start of a process", "w11,echo,1": "echo server, 1 connection",
    "w11,echo,50": "echo server, 50 connections", "w11,http,1": "HTTP server, 1 connection", "w11,http,50": "HTTP server, 50 connections",
}
# By class of the dot, in the order of the legend. Told apart also by those who don't see red and green as different.
LEGEND = {
    "ours": "ours", "cf": "CFRunLoop", "dispatch": "libdispatch", "uv": "libuv", "ev": "libev", "libevent": "libevent", "glib": "GLib",
    "sdevent": "sd-event",
}
KINDS = {"cf-thread": "cf"}  # CFRunLoop on a thread as ours is; where it wasn't measured, on the initial one
LEFT, PLOT, VALUES, TOP, ROW = 306, 430, 60, 96, 21
LOW, HIGH = -1.5, 2.0  # powers of ten; what is beyond stands at the edge
TICKS = [0.1, 0.5, 1, 2, 10, 100]
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 15px; font-weight: 600 } .small { font-size: 11px; fill: #6e7781 } .ground { fill: #ffffff }
  .line { stroke: #d0d7de } .raw { stroke: #57606a; stroke-width: 1.5 }
  .dispatch { fill: #8250df } .uv { fill: #0a7e8c } .ev { fill: #bf8700 } .libevent { fill: #6f4a2f } .glib { fill: #db61a2 } .sdevent { fill: #6e7781 }
  .cf { fill: #0969da } .ours { fill: #cf4a22 } text.ours { font-weight: 600 } .goal { stroke: #1a7f37; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #8d96a0 } .ground { fill: #0d1117 } .line { stroke: #3d444d } .raw { stroke: #9198a1 }
    .dispatch { fill: #ab7df8 } .uv { fill: #39c5cf } .ev { fill: #d29922 } .libevent { fill: #b08968 } .glib { fill: #f778ba } .sdevent { fill: #8d96a0 }
    .cf { fill: #4493f8 } .ours { fill: #ff7b54 } .goal { stroke: #3fb950 }
  }
"""


def at(value):
    return LEFT + (min(max(math.log10(value), LOW), HIGH) - LOW) / (HIGH - LOW) * PLOT


def cost_ratio(group, cell, results, peer):
    """Less is better, also where more is."""
    return ratio(results, cell.name, peer, "cpu_ns" if group.more_is_better else group.metric)


def ratios(group, cell, results):
    """By class of the dot."""
    found = {}
    for name in results[cell.name]:
        value = cost_ratio(group, cell, results, name)
        if value is None or name == "raw" or (name.startswith("ours") and name != "ours"):
            continue
        kind = KINDS.get(name, name)
        if kind in LEGEND and (kind != "cf" or name == "cf-thread" or "cf" not in found):
            found[kind] = value
    return found


def row(group, cell, found, y):
    goal = next((goal.limit for goal in cell.goals if goal.of == "ratio" and goal.than == "raw"), None)
    parts = [
        f'<text class="small" x="10" y="{y + 4}">{escape(group.title.split(" ", 1)[0])}</text>',
        f'<text x="44" y="{y + 4}">{escape(NAMES[cell.name])}</text>',
        f'<line class="line" x1="{LEFT}" y1="{y}" x2="{LEFT + PLOT}" y2="{y}"/>',
    ]
    if goal:
        parts.append(f'<line class="goal" x1="{at(goal):.1f}" y1="{y - 7}" x2="{at(goal):.1f}" y2="{y + 7}"/>')
    # Ours is on top of all.
    for kind in reversed([kind for kind in LEGEND if kind in found]):
        parts.append(f'<circle class="{kind}" cx="{at(found[kind]):.1f}" cy="{y}" r="{5.5 if kind == "ours" else 4}"/>')
    if "ours" in found:
        parts.append(f'<text class="ours" x="{LEFT + PLOT + VALUES - 8}" y="{y + 4}" text-anchor="end">{found["ours"]:.2f}</text>')
    return parts


def frame(height):
    parts = []
    for tick in TICKS:
        kind = "raw" if tick == 1 else "line"
        parts.append(f'<line class="{kind}" x1="{at(tick):.1f}" y1="{TOP - 12}" x2="{at(tick):.1f}" y2="{height - 32}"/>')
        label = "raw" if tick == 1 else f"{tick:g} x"
        parts.append(f'<text class="small" x="{at(tick):.1f}" y="{TOP - 18}" text-anchor="middle">{label}</text>')
    return parts


def legend():
    x, parts = 14, []
    for kind, text in LEGEND.items():
        parts.append(f'<circle class="{kind}" cx="{x}" cy="54" r="4.5"/><text x="{x + 10}" y="58">{escape(text)}</text>')
        x += 34 + 7 * len(text)
    parts.append(f'<line class="goal" x1="{x}" y1="47" x2="{x}" y2="61"/><text x="{x + 8}" y="58">goal</text>')
    return parts


def draw(groups, results, about, versions):
    rows = [(group, cell) for group in groups for cell in group.cells if cell.name in NAMES and results.get(cell.name)]
    rows.sort(key=lambda each: list(NAMES).index(each[1].name))
    width, height = LEFT + PLOT + VALUES, TOP + len(rows) * ROW + 30
    parts = [
        '<text class="title" x="10" y="22">What RunLoopKit costs, compared with a hand-written loop</text>',
        f'<text class="small" x="10" y="38">Time, CPU time or memory as a multiple of raw: left is better; logarithmic. {escape(about)}</text>',
        *legend(), *frame(height),
    ]
    for index, (group, cell) in enumerate(rows):
        parts += row(group, cell, ratios(group, cell, results), TOP + index * ROW + ROW // 2 - 4)
    parts.append(f'<text class="small" x="10" y="{height - 12}">{escape(versions)}</text>')
    return svg(width, height, "Ratios to the hand-written loop", STYLE, parts)
