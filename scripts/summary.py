"""Prints what a run of lit failed and skipped, from its JSON, and the sums as the last line."""

import json
import re
import subprocess
import sys

results, unittests = sys.argv[1:]
with open(results) as file:
    tests = json.load(file)["tests"]

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED"}


def reason(test):
    """Why a test was skipped: lit knows for its own, GoogleTest says so only where it runs."""
    match = re.search(r"unavailable features: (.*)", test["output"])
    if match:
        return "needs " + match[1]
    match = re.fullmatch(r"Unit :: bin/(\w+)/(.+)/(\w+)", test["name"])
    if not match:
        return test["output"].strip().replace("\n", " ")
    command = [f"{unittests}/{match[1]}", f"--gtest_filter={match[2]}.{match[3]}"]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    match = re.search(r": Skipped\n(.*)", output)
    return match[1] if match else ""


failed = [test for test in tests if test["code"] not in PASSED | SKIPPED]
skipped = [test for test in tests if test["code"] in SKIPPED]

for test in failed:
    print(f"{test['code']}: {test['name']}\n{test['output'].strip()}\n")
for test in skipped:
    why = reason(test)
    print(f"skipped: {test['name']}" + (f" ({why})" if why else ""))
for test in failed:
    print(f"failed: {test['name']}")
print(f"{len(tests) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped")
