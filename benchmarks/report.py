# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results as Markdown, as JSON, and as a page with the roofline and the ratios drawn."""

import html
import json
import math
import textwrap

# Datasheet: dense TFLOP/s by operand type, and TB/s of memory. For the roofline only.
PEAKS = {
    "H200": ({"f16": 989, "bf16": 989, "tf32": 495, "f32": 67, "f64": 67, "i8": 1979, "f8": 1979}, 4.8),
    "H100": ({"f16": 989, "bf16": 989, "tf32": 495, "f32": 67, "f64": 67, "i8": 1979, "f8": 1979}, 3.35),
    "A100": ({"f16": 312, "bf16": 312, "tf32": 156, "f32": 19.5, "f64": 19.5, "i8": 624}, 2.0),
}
COLORS = {"bf16": "#1f6fb2", "f16": "#2a9d5c", "tf32": "#b26b1f", "f32": "#8c8c8c", "f64": "#7b4fb2",
          "i8": "#c0392b", "f8": "#c2185b"}
METHOD = """Random data; each timed run starts with cold caches; the runs of Tessera and of the peers alternate. A time
is the median of the medians of its rounds. Tessera's output is compared with the reference in the run that times
it. The ratio is the best peer's time over Tessera's: above 1, Tessera is faster."""


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else None


def best_peer(row):
    times = [(peer["ms"], name) for name, peer in row["peers"].items() if "ms" in peer]
    return min(times) if times else None


def ratio(row):
    """The best peer's time over ours: above 1, ours is faster."""
    best = best_peer(row)
    return best[0] / row["ms"] if best and "ms" in row else None


def rate(row):
    """In TFLOP/s."""
    return row["flops"] / row["ms"] / 1e9


def unit(results):
    """The unit of rates, and how many of it are a TFLOP/s."""
    return ("GFLOP/s", 1e3) if results["target"] == "cpu" else ("TFLOP/s", 1)


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def markdown(results):
    device = results["device"]
    lines = [f"# {results['title']} on {device.get('name', results['target'])}", "",
             f"{results['date']}; {results['system']}; {device.get('driver', '')}", "",
             f"Command: `{results['command']}`", ""]
    for name, peer in results["peers"].items():
        lines.append(f"- {name}: {peer}")
    for when, clocks in results["clocks"].items():
        lines.append(f"- clocks {when}: {clocks}")
    lines += ["", *textwrap.wrap(METHOD, 100), ""]
    names = list(results["peers"])
    for suite in dict.fromkeys(row["suite"] for row in results["rows"]):
        rows = [row for row in results["rows"] if row["suite"] == suite]
        lines += [f"## {suite}", "",
                  f"| case | ours ms | {unit(results)[0]} | " + "".join(f"{n} ms | " for n in names) + "ratio | correct | instruction |",
                  "|---|---|---|" + "---|" * len(names) + "---|---|---|"]
        for row in rows:
            peers = "".join(number(row["peers"].get(n, {}).get("ms"), 4) + " | " for n in names)
            if "ms" not in row:
                lines.append(f"| {row['name']} | failed | - | {peers}- | {row['error'][:80]} | - |")
                continue
            lines.append(f"| {row['name']} | {row['ms']:.4f} | {rate(row) * unit(results)[1]:.1f} | {peers}{number(ratio(row))} | "
                         f"{row['correct']} | `{row['instruction']}` |")
        ratios = [r for r in map(ratio, rows) if r]
        if ratios:
            lines += ["", f"Geometric mean of {len(ratios)} ratios: {geometric_mean(ratios):.3f}; the least: {min(ratios):.2f}."]
        refused = [f"- {row['name']}: {n} rejects it: {peer['refused']}" for row in rows
                   for n, peer in row["peers"].items() if "refused" in peer]
        lines += [""] + refused + ([""] if refused else [])
    lines += ["## Schedules", ""]
    for schedule in dict.fromkeys((row["type"], row["schedule"]) for row in results["rows"] if row.get("schedule")):
        lines.append(f"- {schedule[0]}: `{schedule[1]}`")
    return "\n".join(lines) + "\n"


def roofline(results):
    """An SVG: TFLOP/s over operations per byte, both in powers of ten."""
    device = results["device"].get("name", "")
    peaks, memory = next((v for k, v in PEAKS.items() if k in device), ({}, None))
    points = [(row["flops"] / row["bytes"], rate(row), row) for row in results["rows"] if "ms" in row]
    if not points:
        return ""
    width, height, left, bottom = 900, 460, 60, 40
    top = max([p[1] for p in points] + [peaks.get(row["type"], 0) for _, _, row in points]) * 1.3
    low = min(p[1] for p in points) / 1.5
    first, last = min(p[0] for p in points) / 1.5, max(p[0] for p in points) * 1.5

    def x(value):
        return left + (width - left - 20) * math.log(value / first) / math.log(last / first)

    def y(value):
        return height - bottom - (height - bottom - 20) * math.log(value / low) / math.log(top / low)

    parts = []
    decade = 10 ** math.floor(math.log10(low))
    while decade <= top:
        if decade >= low:
            parts.append(f'<line x1="{left}" x2="{width - 20}" y1="{y(decade):.1f}" y2="{y(decade):.1f}" stroke="#ddd"/>'
                         f'<text x="{left - 6}" y="{y(decade) + 4:.1f}" text-anchor="end">{decade:g}</text>')
        decade *= 10
    decade = 10 ** math.ceil(math.log10(first))
    while decade <= last:
        parts.append(f'<text x="{x(decade):.1f}" y="{height - bottom + 18}" text-anchor="middle">{decade:g}</text>')
        decade *= 10
    for kind in dict.fromkeys(row["type"] for _, _, row in points):
        peak = peaks.get(kind)
        if not peak:
            continue
        corner = min(max(peak / memory, first), last)
        start = max(first, low / memory)
        parts.append(f'<polyline fill="none" stroke="{COLORS[kind]}" points="{x(start):.1f},{y(start * memory):.1f} '
                     f'{x(corner):.1f},{y(min(peak, corner * memory)):.1f} {x(last):.1f},{y(min(peak, last * memory)):.1f}"/>')
    for intensity, speed, row in points:
        parts.append(f'<circle cx="{x(intensity):.1f}" cy="{y(speed):.1f}" r="4" fill="{COLORS[row["type"]]}">'
                     f'<title>{html.escape(row["name"])}: {speed:.1f} TFLOP/s</title></circle>')
    return (f'<svg viewBox="0 0 {width} {height}" width="{width}" font-size="12" font-family="sans-serif">'
            f'{"".join(parts)}<text x="{width // 2}" y="{height - 4}" text-anchor="middle">operations per byte</text>'
            f'<text x="10" y="14">TFLOP/s</text></svg>')


def bars(results):
    """An SVG: the ratio of each case, with a line at 1."""
    rows = [(row, ratio(row)) for row in results["rows"] if ratio(row)]
    if not rows:
        return ""
    left, step, width = 300, 18, 900
    most = max(1.25, min(4, max(r for _, r in rows)))

    def x(value):
        return left + (width - left - 60) * min(value, most) / most

    parts = []
    for i, (row, value) in enumerate(rows):
        at = 10 + i * step
        parts.append(f'<text x="{left - 8}" y="{at + 12}" text-anchor="end">{html.escape(row["name"])}</text>'
                     f'<rect x="{left}" y="{at}" width="{x(value) - left:.1f}" height="{step - 4}" '
                     f'fill="{COLORS[row["type"]]}" opacity="{1 if value >= 1 else 0.55}"/>'
                     f'<text x="{x(value) + 4:.1f}" y="{at + 12}">{value:.2f}</text>')
    height = 20 + len(rows) * step
    return (f'<svg viewBox="0 0 {width} {height}" width="{width}" font-size="12" font-family="sans-serif">{"".join(parts)}'
            f'<line x1="{x(1):.1f}" x2="{x(1):.1f}" y1="0" y2="{height}" stroke="#000"/></svg>')


def page(results):
    device = results["device"].get("name", results["target"])
    legend = " ".join(f'<span style="color:{COLORS[kind]}">&#9632; {kind}</span>'
                      for kind in dict.fromkeys(row["type"] for row in results["rows"]))
    return f"""<!doctype html>
<meta charset="utf-8"><title>{html.escape(results['title'])} on {html.escape(device)}</title>
<body style="font-family: sans-serif; max-width: 960px; margin: 2em auto">
<h1>{html.escape(results['title'])} on {html.escape(device)}</h1>
<p>{results['date']}; {html.escape(results['command'])}</p><p>{legend}</p>
<h2>Roofline</h2><p>Lines: the datasheet's dense peak and memory. Points: Tessera's rates, cold caches.</p>{roofline(results)}
<h2>The best peer's time over ours</h2><p>Beyond the line, ours is faster.</p>{bars(results)}
</body>
"""


def write(results, base):
    """base.md, base.json and base.html."""
    for suffix, text in (("md", markdown(results)), ("json", json.dumps(results, indent=1) + "\n"), ("html", page(results))):
        with open(f"{base}.{suffix}", "w") as file:
            file.write(text)
