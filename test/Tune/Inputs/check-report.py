# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a page of `gpu-tune report`: its form, and its drawings against the records.

    check-report.py PAGE.html RECORDS.jsonl RUN

RUN is the run that the page is of, 0 for all.
"""

import html.parser
import json
import math
import re
import sys

path, records_path, run = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = open(path, encoding="utf-8").read()
lines = [json.loads(line) for line in open(records_path)]
VOID = {"meta", "br"}
SHAPES = {"circle", "line", "polyline", "path", "text"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.texts = [], set(), [], {}
        self.charts, self.tables, self.section = [], [], None

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        assert len(values) == len(attributes), attributes
        # Nothing is loaded, and nothing runs.
        assert tag not in ("script", "link", "img", "iframe", "object", "image", "use"), tag
        assert "src" not in values and not any(name.startswith("on") for name in values), values
        if tag not in VOID:
            self.open.append((tag, values))
        if "id" in values:
            assert values["id"] not in self.ids, values["id"]
            self.ids.add(values["id"])
            self.section = values["id"]
        if "href" in values:
            assert values["href"].startswith("#"), values
            self.links.append(values["href"][1:])
        if tag == "svg":
            kind = next(v for _, v in reversed(self.open) if "data-chart" in v)
            self.charts.append((self.section, kind["data-chart"], kind.get("data-parameter"), values, []))
        elif tag in SHAPES and self.open and any(t == "svg" for t, _ in self.open):
            self.charts[-1][4].append([tag, values, ""])
        if tag == "table":
            self.tables.append((self.section, values.get("class"), []))
        elif tag == "tr":
            self.tables[-1][2].append([])
        elif tag in ("td", "th"):
            self.tables[-1][2][-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        tags = [tag for tag, _ in self.open]
        if "svg" in tags and self.charts[-1][4] and tags[-1] == "title" and tags[-2] != "svg":
            self.charts[-1][4][-1][2] += data
        elif "svg" in tags and tags[-1] == "text":
            self.charts[-1][4][-1][2] += data
        elif "td" in tags or "th" in tags:
            self.tables[-1][2][-1][-1] += data
        if self.section:
            self.texts[self.section] = self.texts.get(self.section, "") + data


page = Page()
page.feed(text)
page.close()
assert not page.open, page.open
assert text.startswith("<!DOCTYPE html>")
assert "prefers-color-scheme: dark" in text
assert not re.search(r"url\(|@import|https?:", text)
assert page.links and all(link in page.ids for link in page.links), page.links

# Every shape lies within its drawing.
for _, kind, _, values, shapes in page.charts:
    _, _, width, height = map(float, values["viewbox"].split())
    for tag, v, _ in shapes:
        for names, most in ((("x", "x1", "x2", "cx"), width), (("y", "y1", "y2", "cy"), height)):
            for name in names:
                assert name not in v or 0 <= float(v[name]) <= most, (kind, tag, v)
        if tag == "polyline":
            points = [tuple(map(float, p.split(","))) for p in v["points"].split()]
            assert points and all(0 <= x <= width and 0 <= y <= height for x, y in points), v


def near(a, b, by=0.11):  # Positions have one digit.
    return abs(a - b) <= by


# The sections, in the order of the tasks, then of targets and chips.
tasks = [line for line in lines if line.get("kind") == "task"]
entries = [line for line in lines if line.get("kind") in ("record", "baseline")]
entries = [line for line in entries if run in (0, line["run"])]
sections = []
for task in tasks:
    ofTask = [line for line in entries if line["task"] == task["key"]]
    for position in sorted({(line["target"], line["chip"], line["device"]) for line in ofTask}):
        sections.append((task, [line for line in ofTask if (line["target"], line["chip"], line["device"]) == position]))
assert {f"task-{i + 1}" for i in range(len(sections))} | ({"runs"}) == page.ids, page.ids

for number, (task, of) in enumerate(sections, 1):
    section = f"task-{number}"
    charts = [chart for chart in page.charts if chart[0] == section]
    find = lambda kind: [chart for chart in charts if chart[1] == kind]
    records = [line for line in of if line["kind"] == "record"]
    search = [line for line in records if not line["final"]]
    timed = [(i, r) for i, r in enumerate(search, 1) if r["outcome"] in ("measured", "slow")]
    # Text is escaped.
    assert task["text"] in page.texts[section], task["text"]

    # A dot for each time, a mark for each candidate without one; higher is slower.
    curves = find("curve")
    assert len(curves) == (1 if timed else 0), section
    if timed:
        shapes = curves[0][4]
        dots = [(v, hint) for tag, v, hint in shapes if tag == "circle"]
        assert [hint.split()[0] for _, hint in dots] == [f"#{i}" for i, _ in timed], dots
        assert [float(hint.split()[1]) for _, hint in dots] == [r["median"] for _, r in timed]
        assert [v["class"] for v, _ in dots] == [r["outcome"] for _, r in timed]
        marks = [hint for tag, v, hint in shapes if tag == "line" and v["class"] == "failed"]
        failed = [f"#{i} {r['outcome']}" for i, r in enumerate(search, 1) if r["outcome"] not in ("measured", "slow")]
        assert marks == failed, (marks, failed)
        # Positions are those of a logarithmic axis.
        positions = {r["median"]: float(v["cy"]) for (v, _), (_, r) in zip(dots, timed)}
        if len(positions) > 1:
            low, high = min(positions), max(positions)
            for time, position in positions.items():
                share = math.log(time / low) / math.log(high / low)
                assert near(position, positions[low] + share * (positions[high] - positions[low])), (time, position)
        # And along the candidates those of a linear one.
        across = {i: float(v["cx"]) for (v, _), (i, _) in zip(dots, timed)}
        first, last = min(across), max(across)
        for i, position in across.items():
            share = (i - first) / max(last - first, 1)
            assert near(position, across[first] + share * (across[last] - across[first])), (i, position)
        measured = [r["median"] for _, r in timed if r["outcome"] == "measured"]
        curve = next(v for tag, v, _ in shapes if tag == "polyline")["points"].split()
        heights = [float(point.split(",")[1]) for point in curve]
        assert heights == sorted(heights), heights
        assert near(heights[-1], positions[min(measured)]) and near(heights[0], positions[measured[0]])

    # Along each parameter: all that has more than one value, and a dot for each time.
    entry = lambda r, name: re.search(rf"\b{name} = (\[[^\]]*\]|[^,>]*)", r["schedule"] or r["chosen"])
    defaults = {"raster": "0", "cluster": "[1, 1]"}
    values = {}
    for name in ("workgroup", "subgroup", "k", "stages", "swizzle", "subgroupsPerFragment", "raster", "cluster"):
        found = [entry(r, name) for _, r in timed]
        values[name] = [m[1] if m else defaults[name] for m in found]
    varied = {name for name, seen in values.items() if len(set(seen)) > 1}
    assert {chart[2] for chart in find("parameter")} == varied, (varied, section)
    for _, _, name, _, shapes in find("parameter"):
        dots = [(float(v["cx"]), hint) for tag, v, hint in shapes if tag == "circle"]
        assert len(dots) == len(timed), name
        # The names below, by their positions: each dot is nearest to its own.
        names = {shape[2]: float(shape[1]["x"]) for shape in shapes if shape[1].get("class") == "x" and "x" in shape[1]}
        names = {key: x for key, x in names.items() if key in values[name]}
        assert len(names) == len(set(values[name])), (name, names)
        for (x, hint), (i, _), value in zip(dots, timed, values[name]):
            assert hint.startswith(f"#{i} ")
            assert min(names, key=lambda key: abs(names[key] - x)) == value, (name, hint, value)

    # The outcomes and their messages.
    table = next(rows for position, kind, rows in page.tables if position == section and kind == "outcomes")
    counts = {row[0]: int(row[1]) for row in table[1:]}
    wanted = {}
    for r in records:
        wanted[r["outcome"]] = wanted.get(r["outcome"], 0) + 1
    assert counts == wanted, (counts, wanted)
    for r in records:
        row = next(row for row in table if row[0] == r["outcome"])
        assert r["error"] in row[2], (r["error"], row)

    clocks = [r for r in search if r["clock_before"] > 0]
    assert len(find("clocks")) == (1 if clocks else 0)
    if clocks:
        hints = [hint for tag, _, hint in find("clocks")[0][4] if tag == "circle"]
        assert sum("before" in hint for hint in hints) == len(clocks)
        assert any(f"after: {clocks[-1]['clock_after']} MHz" in hint for hint in hints), hints

    table = next(rows for position, kind, rows in page.tables if position == section and kind == "environments")
    shown = {(row[0], row[1], row[4]) for row in table[1:]}
    assert shown == {(line["device"], line["driver"], line["host"]) for line in of}, shown
    assert sum(int(row[6]) for row in table[1:]) == len(of)

# The roof is only over what has one.
roofs = [chart for chart in page.charts if chart[1] == "roofline"]
if run == 1 or run == 0:
    assert len(roofs) == (1 if run else 2)
    dots = {v["class"]: float(v["cy"]) for tag, v, _ in roofs[-1][4] if tag == "circle"}
    assert dots["best"] < dots["library"] < dots["own"], dots
    hints = [hint for tag, _, hint in roofs[-1][4] if tag == "circle"]
    assert "best: 797 TFLOP/s" in hints and "cuBLASLt 13.0.2: 764 TFLOP/s" in hints, hints
assert ("gpu-tune run a.mlir --db=a.db" in page.texts["runs"]) == (run in (0, 1))
assert ('--db="<b>.db"' in page.texts["runs"]) == (run in (0, 2))
