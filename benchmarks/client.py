# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One gpu-runner that runs command after command, with its device open."""

import json
import shlex
import subprocess
import tempfile


class Failed(Exception):
    """A command of gpu-runner ended with another status than 0 (3: the numbers are wrong)."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


class Client:
    """`gpu-runner --batch=-`."""

    def __init__(self, runner, target):
        self.target = target
        # Standard error goes to a file: it is not read while a command runs.
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([runner, "--batch=-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, bufsize=1)
        self.line = 0

    def run(self, path, options):
        """The report (--json) of one command."""
        self.line += 1
        command = [path, f"--target={self.target}", "--cache=off", "--json", *options]
        self.process.stdin.write(shlex.join(command) + "\n")
        self.process.stdin.flush()
        mark = f"=== line {self.line}: exit status "
        text = []
        for line in self.process.stdout:
            if line.startswith(mark):
                break
            text.append(line)
        else:
            raise Failed(f"gpu-runner {shlex.join(command)} ended the process: {self.last_error()}")
        status = int(line[len(mark):])
        report = json.loads("".join(text)) if text else {}
        if status:
            raise Failed(report.get("error") or self.last_error() or f"exit status {status}", status)
        return report

    def last_error(self):
        self.errors.seek(0)
        lines = [line.strip() for line in self.errors if "error" in line]
        return lines[-1] if lines else ""

    def close(self):
        self.process.stdin.close()
        self.process.wait()
