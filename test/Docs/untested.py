# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the labelled constraints and the passes of a source tree that no test of it covers.

usage: untested.py TREE

A label is defined by a .td file, by docs/Schedules.md or by C++ of lib/ that prints it
("mma_c2: ..."); it is covered where a test expects a diagnostic or a line with it. A pass or a
pipeline is covered where a RUN line of a test gives it to gpu-opt.
"""

import pathlib
import re
import sys

LABEL = r"[a-z][a-z_]*_[ct][0-9]+"
# An expectation of verify-diagnostics, or of FileCheck.
EXPECTATION = re.compile(r"expected-(?:error|note|remark|warning)|^(?://|#)?\s*[A-Z][A-Z0-9_-]*:")


def read(tree, patterns):
    """The text of each file, by its path."""
    return {
        path.relative_to(tree): path.read_text(encoding="utf-8")
        for pattern in patterns
        for path in sorted(tree.glob(pattern))
        if path.is_file()
    }


def find_definitions(texts, regex):
    """Where each name is defined first."""
    found = {}
    for path, text in texts.items():
        for match in re.finditer(regex, text):
            line = text.count("\n", 0, match.start()) + 1
            found.setdefault(match.group(1), f"{path}:{line}")
    return found


def main():
    tree = pathlib.Path(sys.argv[1])
    documents = read(tree, ["include/**/*.td", "docs/Schedules.md"])
    sources = read(tree, ["lib/**/*.cpp", "lib/**/*.h"])
    tests = read(tree, ["test/**/*.mlir", "test/**/*.test"])

    labels = find_definitions(documents, rf"`({LABEL})`")
    labels |= find_definitions(sources, rf"\"({LABEL})[\":]") | labels
    passes = find_definitions(documents, r"Pass<\"([a-z0-9-]+)\"")
    passes |= find_definitions(
        sources, r"PassPipelineRegistration<[^;(]*>\(\s*\"([a-z0-9-]+)\""
    )
    # Each target's pipeline.
    passes |= find_definitions(
        sources, r"getPipelineName\(\) const override \{\s*return \"([a-z0-9-]+)\""
    )

    expected, run = set(), set()
    for text in tests.values():
        for line in text.replace("\\\n", " ").splitlines():
            if EXPECTATION.search(line):
                expected.update(re.findall(rf"\b{LABEL}\b", line))
            if "RUN:" in line and "gpu-opt" in line:
                run.update(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+", line))

    missing = [
        f"{relative}: no test expects a diagnostic with the label {name}"
        for name, relative in labels.items()
        if name not in expected
    ]
    missing += [
        f"{relative}: no test runs the pass {name} by gpu-opt"
        for name, relative in passes.items()
        if name not in run
    ]
    print(*sorted(missing), sep="\n", end="\n" if missing else "")
    print(f"{len(labels)} labels and {len(passes)} passes, {len(missing)} without a test")
    return 1 if missing else 0


sys.exit(main())
