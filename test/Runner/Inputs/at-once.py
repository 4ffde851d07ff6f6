# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command N times at once: all succeed, and print the same."""

import subprocess
import sys

count, command = int(sys.argv[1]), sys.argv[2:]
running = [
    subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for _ in range(count)
]
outputs = [process.communicate()[0] for process in running]
statuses = [process.returncode for process in running]
if any(statuses) or len(set(outputs)) != 1:
    sys.exit(f"statuses {statuses}, outputs:\n" + "\n".join(sorted(set(outputs))))
