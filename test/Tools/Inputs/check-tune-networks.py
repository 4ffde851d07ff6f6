# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls parts of benchmarks/tune_networks.py that need no device."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "..", "benchmarks"))
sys.dont_write_bytecode = True
import tune_networks

EFFECTS = {"slow": {"a": 3, "b": -1, "c": 2, "d": 0}, "fast": {"a": -2, "e": 1}, "noisy": {"f": 0.3}, "alone": {"g": 5}}


def measure(variants):
    print(*[f"{network} without {','.join(sorted(left)) or 'none'}" for network, left in variants], sep="; ")
    return [100 + sum(effect for key, effect in EFFECTS[network].items() if key not in left)
            if network in EFFECTS else None for network, left in variants]


def find():
    keys = {network: set(effects) for network, effects in EFFECTS.items()}
    print("dropped", *sorted(tune_networks.find_slower({**keys, "broken": {"h"}}, measure)))


def find_alone(late_after):
    # "e" gains in one network and loses in another; "c" is measured only where all records are judged together.
    effects = {"slow": {"a": 3, "b": -1, "d": 0, "e": -2}, "other": {"e": 1, "f": -4}, "last": {"c": -2, "g": -4}}
    count = 0

    def measure_alone(variants):
        nonlocal count
        count += 1
        print(*[f"{network} without {','.join(sorted(left)) or 'none'}" for network, left in variants], sep="; ")
        return [100 + sum(effect for key, effect in effects[network].items() if key not in left)
                if network in effects else None for network, left in variants]

    keys = {**{network: set(ofs) for network, ofs in effects.items()}, "broken": {"h"}, "none": set()}
    print("useless", *sorted(tune_networks.find_useless(keys, measure_alone, is_late=lambda: count >= late_after)))


def select():
    final = {"kind": "record", "final": True, "warm_median": 2, "median": 3, "low": 3, "high": 3}
    lines = [{"format": "tessera-tuning"}, {"kind": "task", "key": "a"}, {"kind": "task", "key": "b"},
             {"kind": "task", "key": "c"}, {**final, "task": "a", "schedule": ""}, {**final, "task": "a", "schedule": "x"},
             {**final, "task": "b", "schedule": "y"}, {**final, "task": "b", "schedule": "z", "final": False},
             {**final, "task": "c", "schedule": "w"}]
    for left, numbered in ((("a",), False), ((), True)):
        tune_networks.write_selected("\n".join(map(json.dumps, lines)), {"a", "b"}, sys.argv[2], left, numbered)
        for line in open(sys.argv[2]):
            entry = json.loads(line)
            print(entry.get("kind", "header"), entry.get("key", entry.get("task", "")),
                  repr(entry.get("schedule", "")), entry.get("median", ""), entry.get("warm_median", ""))


{"find": find, "alone": lambda: find_alone(9), "late": lambda: find_alone(2), "select": select}[sys.argv[1]]()
