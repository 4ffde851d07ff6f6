"""What the benchmarks share: programs, and runs of gpu-runner."""

import json
import subprocess

from cases import TYPES
from client import Failed

__all__ = ["TYPES", "Failed", "matmul", "run"]


def matmul(operand, result, m, n, k, schedule=None):
    """The text of a matrix product; `schedule` is the text of a #tessera.schedule."""
    zero = "0" if result.startswith("i") else "0.0"
    a, b, c = f"tensor<{m}x{k}x{operand}>", f"tensor<{k}x{n}x{operand}>", f"tensor<{m}x{n}x{result}>"
    attribute = f" {{tessera.schedule = {schedule}}}" if schedule else ""
    return f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant {zero} : {result}
  %empty = tensor.empty() : {c}
  %init = linalg.fill ins(%zero : {result}) outs(%empty : {c}) -> {c}
  %r = linalg.matmul{attribute} ins(%a, %b : {a}, {b}) outs(%init : {c}) -> {c}
  return %r : {c}
}}
"""


def run(runner, target, path, options):
    """gpu-runner's report of a timed run with random data."""
    command = [runner, path, f"--target={target}", "--arg=random:1", "--arg=random:2", "--bench",
               "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)
