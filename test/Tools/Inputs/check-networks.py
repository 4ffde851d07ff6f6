#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs parts of benchmarks/networks.py that need no device: check-networks.py compile TOOLS ARGUMENTS | page | rounds

compile runs it with stand-ins for numpy, onnx and IREE's runtime, and the programs of the folder TOOLS ahead of others,
or none at all if there is no such folder; page prints the page and the chart of results; rounds prints a row of three
rounds.
"""

import os
import sys
import types
import xml.etree.ElementTree


def load():
    for name, fields in (("numpy", {"float32": 1, "float16": 2}),
                         ("onnx", {"TensorProto": types.SimpleNamespace(FLOAT=1, FLOAT16=10)}),
                         ("iree", {}), ("iree.runtime", {}), ("iree.runtime.version", {"VERSION": "0"})):
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(fields)
    sys.modules["iree"].runtime = sys.modules["iree.runtime"]
    sys.modules["iree.runtime"].version = sys.modules["iree.runtime.version"]
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), *[".."] * 3, "benchmarks"))
    import networks
    return networks


def print_page(networks):
    common = {"shape": "1x3x8x8", "type": "float16", "kernels": 5, "cold": 3.0, "ms": 2.0, "compile": 1.0, "limit": 0.02}
    rows = [{"network": "quick", "peers": {"graph": {"ms": 4.0}, "iree": {"ms": 400.0, "error": 1e-3}}, **common},
            {"network": "slow", "peers": {"graph": {"ms": 1.0}, "iree": {"ms": 8.0, "error": 0.5}}, **common},
            {"network": "lone", "peers": {"graph": {"reason": "no such network"}, "iree": {"reason": "iree-compile: no"}},
             **common},
            {"network": "bad", "peers": {}, "failed": "no memory"}]
    results = {"date": "today", "system": "here", "device": "a device", "clocks": ["1", "2"], "command": "c",
               "peers": {"graph": "PyTorch", "iree": "IREE"}, "missing": {}, "rows": rows}
    print(networks.write_markdown(results, "x.svg"))
    chart = xml.etree.ElementTree.fromstring(networks.draw(results))
    # Two of each color are the legend's.
    rects = [part.attrib for part in chart if part.tag.endswith("rect")]
    print("bars", len(rects) - 2)
    ahead, behind = rects[2], rects[4]
    print("the line at 1 is where both begin", float(behind["x"]) + float(behind["width"]) == float(ahead["x"]))


def print_rounds(networks):
    """Rounds with stand-ins for gpu-runner and two peers, of which one fails."""
    order = []

    def run_ours(options, path, inputs, folder):
        order.append("ours")
        ms = [3.0, 1.0, 2.0][order.count("ours") - 1]
        return {"bench": {"median_ms": ms + 10, "settled": {"ms": ms}}, "compile": [{"ms": 1000 * ms}], "chip": "c",
                "kernels": [{"launches": 2}], "device": {"name": "d", "driver": "v"}}, []

    class Peer:
        def measure(self, path, name, inputs):
            order.append("peer")
            return [8.0, 9.0, 7.0][order.count("peer") - 1], None

    class Missing(Peer):
        def measure(self, path, name, inputs):
            order.append("missing")
            raise networks.Missing("not here")
    networks.run_ours = run_ours
    networks.read_inputs = lambda path: {"x": types.SimpleNamespace(shape=(1, 2), dtype="float32")}
    row = networks.measure_network(types.SimpleNamespace(rounds=3), "n.onnx", {"peer": Peer(), "missing": Missing()})
    print(" ".join(order))
    print(row["ms"], row["cold"], row["compile"], row["kernels"], row["peers"])


def main():
    networks = load()
    if sys.argv[1] == "rounds":
        print_rounds(networks)
        return 0
    if sys.argv[1] == "page":
        print_page(networks)
        return 0
    tools, *arguments = sys.argv[2:]
    os.environ["PATH"] = tools + (":" + os.environ["PATH"] if os.path.isdir(tools) else "")
    sys.argv = ["networks.py", *arguments]
    return networks.main()


if __name__ == "__main__":
    sys.exit(main())
