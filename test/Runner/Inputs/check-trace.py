# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a file of --trace: check-trace.py FILE STEP... prints what it holds.

Events of a track lie beside or within each other, none ends before it begins, what is within an
event takes no longer than that, and each STEP is there."""

import json
import sys


def refuse(name):
    raise ValueError(name + " is not JSON")


with open(sys.argv[1]) as file:
    trace = json.load(file, parse_constant=refuse)
assert set(trace) == {"displayTimeUnit", "traceEvents"}, trace.keys()
events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
names = {
    event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"
}
assert len(events) + len(names) == len(trace["traceEvents"])
assert names[1] == "gpu-runner"
assert {event["tid"] for event in events} == set(names)

for track in names:
    # Parents before their children, which begin no earlier and end no later.
    own = sorted(
        (event for event in events if event["tid"] == track),
        key=lambda event: (event["ts"], -event["dur"]),
    )
    open_events = []
    for event in own:
        assert event["ts"] >= 0 and event["dur"] >= 0 and event["name"] and event["pid"] == 1, event
        event["children"] = 0
        # A microsecond's fraction is rounded where a double is written.
        while open_events and open_events[-1]["ts"] + open_events[-1]["dur"] <= event["ts"] + 1e-3:
            open_events.pop()
        if open_events:
            parent = open_events[-1]
            assert event["ts"] + event["dur"] <= parent["ts"] + parent["dur"] + 1e-3, (parent, event)
            parent["children"] += event["dur"]
        open_events.append(event)
    for event in own:
        assert event["children"] <= event["dur"] + 0.1, event

whole = [event for event in events if event["tid"] == 1 and event["name"] == "gpu-runner"]
assert len(whole) == 1
steps = {event["name"] for event in events}
missing = [step for step in sys.argv[2:] if step not in steps]
assert not missing, (missing, sorted(steps))
launches = {event["name"]: event for event in events if event["cat"] == "launch"}
for event in events:
    assert event["ts"] + event["dur"] <= whole[0]["ts"] + whole[0]["dur"] + 1e-3, event
    if event["cat"] != "kernel":
        continue
    # On the device, and while its launch was waited for.
    assert event["tid"] == 0 and names[0] == "device", event
    assert event["dur"] > 0, event
    assert "launch " + event["name"] in launches, event
    print("kernel", event["name"], "grid", event["args"]["grid"])
for category in ("pass", "stage", "copy", "kernel", "launch"):
    print(category + ":", sum(event["cat"] == category for event in events))
for event in events:
    if event["cat"] == "copy":
        print("copy", event["name"], event["args"]["bytes"])
