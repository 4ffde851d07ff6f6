#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds includes of upper layers, and cycles of libraries.

  scripts/check-layers.py [ROOT]

A file of lib, include or tools may include headers of its own library and of lower layers. The
layers are below, the lowest first; libraries in one layer must not include each other. The links
between libraries (LINK_LIBS in CMakeLists.txt) must not form a cycle. The folder of a tool has
fewer than 800 lines, since libraries hold all but main() and its options. Prints a line for each
violation; exit status 1 if there is any.
"""

import pathlib
import re
import sys

# Each layer: libraries by the paths of their files below lib and include. The first match counts.
LAYERS = [
    {"Support": r"Support/", "Flags": r"Flags/", "Hashing": r"Hashing/"},
    {"Device sheets": r"(Target/AMD/ChipRows|TargetInfo/DeviceSheet)\."},
    {"Runtime": r"Runtime/", "Fuzz": r"Fuzz/"},
    {"Dialect": r"Dialect/Tessera/IR/", "Import": r"Import/"},
    {"TargetInfo": r"TargetInfo/|Target/\w+/(Chips|Schedules|ReportedChip|Emulation)\.",
     "Reference": r"Reference/"},
    {"Utils": r"Dialect/Tessera/Utils/"},
    {"TargetPlans": r"Target/NVIDIA/Bulk(Copies|Windows)\.|Target/Intel/BlockLoads\."},
    {"Scheduling": r"Scheduling/"},
    {"Transforms": r"Dialect/Tessera/Transforms/",
     "GenericTransforms": r"Transforms/",
     "TransformOps": r"Dialect/Tessera/TransformOps/",
     "Graph": r"Graph/"},
    {"FragmentToVector": r"Conversion/(FragmentToVector[/.]|LdsCopies\.)"},
    {"Conversion passes": r"Conversion/(Passes|PackedCall|PortableLaunch)\.",
     "SPIR-V facts": r"Target/(KernelFacts|SubgroupMatrix|MatrixFunctions|SubgroupBlocks)\.h"},
    {"LaneMatmulToTessera": r"Conversion/LaneMatmulToTessera/",
     "LinalgToGPU": r"Conversion/LinalgToGPU/",
     "LinalgToTessera": r"Conversion/LinalgToTessera[/.]",
     "SubgroupMmaToTessera": r"Conversion/SubgroupMmaToTessera/",
     "TesseraToNVVM": r"Conversion/TesseraToNVVM/",
     "TesseraToROCDL": r"Conversion/TesseraToROCDL/",
     "TesseraToSPIRV": r"Conversion/TesseraToSPIRV/",
     "TesseraToCPU": r"Conversion/TesseraToCPU/",
     "LaunchToRuntime": r"Conversion/LaunchToRuntime/",
     "XeGPUToTessera": r"Conversion/XeGPUToTessera/"},
    {"Targets": r"Target/"},
    {"Pipelines": r"Pipelines/"},
    {"Search": r"Tuning/(Search|CostModel|GaussianProcess|MachineModel|ScheduleSpace|WindowSpace)\b",
     "Tuning": r"Tuning/\w+\."},
    {"Driver": r"Driver/"},
    {"Execution": r"Execution/"},
    {"Report": r"Report/", "Tuning runs": r"Tuning/\w+/"},
    {"Debugging": r"Debugging/"},
    {"CAPI": r"CAPI/|tessera-c/", "Runner": r"Runner/"},
    {"tools": r"tools/"},
]
# Libraries that use less than what is below them: results of theirs are independent.
ONLY = {"Runtime": {"Device sheets"}, "Reference": {"Dialect", "Flags"}, "Import": {"Hashing"},
        "Fuzz": {"Support"}}
# A tool is main() and its options: its folder has fewer lines than this.
TOOL_LINES = 800

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
found = 0


def report(text):
    global found
    found += 1
    print(text)


def find_library(path):
    """The layer and the name of the library of a path; None for a path of no library."""
    path = re.sub(r"^(lib|include)/", "", path)
    for layer, libraries in enumerate(LAYERS):
        for name, pattern in libraries.items():
            if re.match(pattern, path):
                return layer, name
    return None


def check_includes():
    files = 0
    for folder in ("include", "lib", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".td"):
                continue
            name = path.relative_to(root).as_posix()
            own = find_library(name)
            if not own:
                report(f"{name}: belongs to no layer of scripts/check-layers.py")
                continue
            files += 1
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = re.match(r'#?include "([^"]+)"', line)
                if not match:
                    continue
                header = match[1]
                # A header beside the file, or one of another folder of lib.
                beside = (path.parent / header).resolve()
                if (root / "include" / header).exists() or header.endswith(".inc"):
                    target = find_library(header)
                elif beside.is_file() and root.resolve() in beside.parents:
                    target = find_library(beside.relative_to(root.resolve()).as_posix())
                elif (root / "lib" / header).exists():
                    target = find_library(header)
                else:
                    continue
                if not target or target[1] == own[1]:
                    continue
                if target[0] >= own[0]:
                    report(f"{name}:{number}: {own[1]} includes {header} of {target[1]}, which is "
                           f"{'above' if target[0] > own[0] else 'beside'} it")
                elif own[1] in ONLY and target[1] not in ONLY[own[1]]:
                    report(f"{name}:{number}: {own[1]} includes {header} of {target[1]}")
    return files


def check_links():
    links = {}
    for path in sorted((root / "lib").rglob("CMakeLists.txt")):
        for match in re.finditer(r"tessera_add_library\((\w+)([^)]*)\)", path.read_text()):
            libraries = re.search(r"LINK_LIBS([^)]*)", match[2])
            links[match[1]] = re.findall(r"\w+", libraries[1]) if libraries else []
    state = {}

    def visit(name, chain):
        if state.get(name) == "done" or name not in links:
            return
        if name in chain:
            report("cycle: " + " -> ".join(chain[chain.index(name):] + [name]))
            return
        for other in links[name]:
            visit(other, chain + [name])
        state[name] = "done"

    for name in links:
        visit(name, [])
    return len(links)


def check_tools():
    for folder in sorted((root / "tools").glob("*/")):
        lines = sum(len(path.read_text().splitlines()) for path in folder.rglob("*")
                    if path.suffix in (".h", ".cpp"))
        if lines >= TOOL_LINES:
            report(f"tools/{folder.name}: {lines} lines; move what is not main() and options to a "
                   "library")


files, libraries = check_includes(), check_links()
check_tools()
print(f"{files} files, {libraries} libraries, {found} violations")
sys.exit(1 if found else 0)
