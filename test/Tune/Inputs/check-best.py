# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what `gpu-tune best --json` reports about tuning.jsonl, on standard input."""

import json
import os
import sys

tasks = json.load(sys.stdin)["tasks"]
folder = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(folder, "tuning.jsonl")) as file:
    lines = [json.loads(line) for line in file]
records = [line for line in lines if line.get("kind") == "record"]

groups = [(task["task"][0:2], task["target"], task["device"]) for task in tasks]
assert groups == [("00", "cpu", ""), ("00", "cuda", "NVIDIA H100 PCIe"), ("00", "cuda", "NVIDIA H200"), ("0f", "cuda", "NVIDIA H200")], groups
cpu, other, cuda, nothing = tasks
assert other["own"] is None and other["library"] is None and other["best"]["median"] == 0.31
assert cpu["own"] is None and cpu["library"] is None
assert nothing["best"] is None and nothing["outcomes"] == {"crashed": 1, "not run": 1}, nothing

# Each record is as it was put in, with all of its fields.
best = next(r for r in records if r["median"] == 0.1725)
own = next(r for r in records if r["median"] == 0.1863)
library = next(line for line in lines if line.get("library") == "cuBLASLt 13.0.2")
strip = lambda line: {name: value for name, value in line.items() if name != "kind"}
assert cuda["best"] == strip(best), cuda["best"]
assert cuda["own"]["record"] == strip(own), cuda["own"]
assert cuda["library"]["baseline"] == strip(library), cuda["library"]
assert cuda["schedule"] == best["schedule"] and cuda["own"]["record"]["schedule"] == ""
assert cuda["outcomes"]["measured"] == 13 and sum(cuda["outcomes"].values()) == 19, cuda["outcomes"]

near = lambda a, b: abs(a / b - 1) < 1e-12
assert near(cuda["flops"], 137438953472 / 0.1725e-3), cuda["flops"]
for side, other in (("own", own), ("library", library)):
    assert near(cuda[side]["ratio"], other["median"] / best["median"]), cuda[side]
    assert near(cuda[side]["ratio_low"], other["low"] / best["high"]), cuda[side]
    assert near(cuda[side]["ratio_high"], other["high"] / best["low"]), cuda[side]
    assert cuda[side]["nearness"] == "comparison", cuda[side]
