# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what a run of lit failed and skipped, from its xunit report; the sums are the last line."""

import re
import subprocess
import sys
import xml.etree.ElementTree as xml

report, unittests = sys.argv[1:]


def reason(name, skipped):
    """Why a test was skipped. lit knows for its own; GoogleTest reports it only where it runs."""
    message = skipped.get("message").replace("Missing required feature(s):", "needs")
    # The reason that lit gives after an interrupt (TESSERA_TEST_SECONDS), and for GoogleTest's too.
    if message != "User interrupt":
        return message
    if match := re.fullmatch(r"unittests/bin/(\w+)/(.+)", name):
        # lit writes a slash for the point of a name too; `?` is any character.
        name = match[2].replace("/", "?")
        command = [f"{unittests}/{match[1]}", f"--gtest_filter={name}"]
        output = subprocess.run(command, capture_output=True, text=True).stdout
        if match := re.search(r": Skipped\n(.*)", output):
            return match[1]
    return "not run, for lack of time"


passed, failed, skipped = 0, [], []
for test in xml.parse(report).iter("testcase"):
    # The class name is SUITE.FOLDER, or SUITE.SUITE at its root; suites are called as their folders.
    suite, folder = test.get("classname").split(".", 1)
    name = "/".join([suite] + [folder] * (folder != suite) + [test.get("name")])
    failure, skip = test.find("failure"), test.find("skipped")
    if failure is not None:
        failed.append(name)
        print(f"FAILED: {name}\n{failure.text.strip()}\n")
    elif skip is None:
        passed += 1
    elif "not selected" not in skip.get("message"):  # By --filter, that is.
        skipped.append((name, skip))

for name, skip in skipped:
    print(f"skipped: {name} ({reason(name, skip)})")
for name in failed:
    print(f"failed: {name}")
print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
