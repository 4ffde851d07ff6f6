# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code of GPUs as text: the main loop of a kernel, and its instructions by the unit that executes them."""

import collections
import re

#: AMD's instructions, by the first pattern that matches.
CLASSES = [
    ("matrix", re.compile(r"v_(s?mfma|smfmac|wmma)")),
    ("LDS read", re.compile(r"ds_(read|load)")),
    ("LDS write", re.compile(r"ds_(write|store)")),
    ("lane exchange", re.compile(r"ds_(b?permute|bpermute|swizzle)")),
    ("global load", re.compile(r"(global|buffer|flat)_load")),
    ("global store", re.compile(r"(global|buffer|flat)_(store|atomic)")),
    ("scratch", re.compile(r"scratch_")),
    ("wait", re.compile(r"s_wait|s_barrier|s_nop|s_delay_alu|s_setprio|s_sleep")),
    ("scalar", re.compile(r"s_")),
    ("vector", re.compile(r"v_")),
]


def instructions(lines):
    """The instructions of AMD's assembly."""
    for line in lines:
        text = line.split(";")[0].split("//")[0].strip()
        if text and not text.startswith(".") and not text.endswith(":"):
            yield text


def classify(text):
    return next((c for c, pattern in CLASSES if pattern.match(text)), "vector")


def count_classes(lines):
    counts = dict.fromkeys((c for c, _ in CLASSES), 0)
    for text in instructions(lines):
        counts[classify(text)] += 1
    return counts


def find_loop(lines):
    """The lines of the loop (from a label to a branch back to it) with the most matrix instructions;
    of nested ones the innermost."""
    labels, best = {}, (0, 0, [])
    for i, line in enumerate(lines):
        label = re.match(r"([.\w$]+):", line)
        if label:
            labels[label.group(1)] = i
        branch = re.match(r"\s*s_c?branch\w*\s+([.\w$]+)", line)
        if branch and branch.group(1) in labels:
            body = lines[labels[branch.group(1)] : i + 1]
            matrix = sum(bool(CLASSES[0][1].match(t)) for t in instructions(body))
            if (matrix, -len(body)) > (best[0], -best[1]):
                best = (matrix, len(body), body)
    return best[2]


#: A kernel: its instructions by class in the main loop, or in all of it if it has no loop with matrix
#: instructions; the registers that it spills, or bytes of them; its bytes of private memory.
Kernel = collections.namedtuple("Kernel", "counts in_loop spilled private")


def read_amd_kernels(text):
    """The kernels of AMD's assembly, by name."""
    bodies, body = {}, None
    for line in text.splitlines():
        start = re.match(r"([A-Za-z_]\w*):", line)
        if start:
            body = bodies.setdefault(start.group(1), [])
        elif re.match(r"\.Lfunc_end", line):
            body = None
        elif body is not None:
            body.append(line)
    kernels, fields = {}, {}
    # The metadata of each kernel have these fields in alphabetical order.
    for name, value in re.findall(r"^ +(?:- )?\.(name|private_segment_fixed_size|sgpr_spill_count|vgpr_spill_count): +(\S+)$",
                                  text, re.MULTILINE):
        fields[name] = value
        if name != "vgpr_spill_count" or fields["name"] not in bodies:
            continue
        lines = bodies[fields["name"]]
        loop = find_loop(lines)
        kernels[fields["name"]] = Kernel(count_classes(loop or lines), bool(loop),
                                         int(fields["vgpr_spill_count"]) + int(fields["sgpr_spill_count"]),
                                         int(fields["private_segment_fixed_size"]))
    return kernels


def count_intel(lines):
    counts = collections.Counter()
    for line in lines:
        words = re.sub(r"^\s*(\([^)]*\)\s*)?", "", line).split()
        if line[:1] not in "( \t" or not words:
            continue
        if words[0].startswith("dpas"):
            counts["matrix"] += 1
        elif words[0].startswith("sync"):
            counts["wait"] += 1
        elif words[0].startswith("send"):
            counts["load or store"] += 1
        else:
            counts["vector"] += 1
    return counts


def read_intel_kernels(text):
    """The kernels of the output of scripts/intel-compiler.sh, by name. Their main loop is the part from label
    to label with the most matrix instructions."""
    usage = {name: dict(re.findall(r"(\w+): (\S+)", rest))
             for name, rest in re.findall(r"^kernel (\S+): (.*)$", text, re.MULTILINE)}
    kernels = {}
    for name, body in re.findall(r"^(?!L\d+:)(\w+):\n(.*?)(?=^(?!L\d+:)\w+:\n|^kernel |\Z)", text, re.MULTILINE | re.DOTALL):
        parts = [count_intel(part.splitlines()) for part in re.split(r"^L\d+:.*$", body, flags=re.MULTILINE)]
        best = max(parts, key=lambda part: part["matrix"])
        fields = usage.get(name, {})
        kernels[name] = Kernel(best if best["matrix"] else sum(parts, collections.Counter()), bool(best["matrix"]),
                               int(fields.get("spill_size", 0)), int(fields.get("private_size", 0)))
    return kernels
