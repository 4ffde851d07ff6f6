# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/cliffs.py on the CPU: all forms of shapes, and what it does when something goes wrong."""

import json
import os
import pathlib
import subprocess
import sys
import time

import pytest
import tessera

torch = pytest.importorskip("torch")

BENCHMARKS = pathlib.Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import cases  # noqa: E402
import library  # noqa: E402
import processes  # noqa: E402
import shapes  # noqa: E402


def run(tmp_path, *words, status=0):
    """The results, and what was written to standard error."""
    output = tmp_path / "cliffs"
    done = subprocess.run([sys.executable, str(BENCHMARKS / "cliffs.py"), "--target=cpu", "--tiny", "--jobs=2", "--windows=1", "--runs=2",
                           f"--cache={tmp_path / 'cache'}", f"--output={output}", *words],
                          text=True, capture_output=True)
    assert done.returncode == status, done.stderr
    return json.loads(output.with_suffix(".json").read_text()), output.with_suffix(".md").read_text(), done.stderr


def test_every_form_of_shapes_is_measured(tmp_path):
    results, table, log = run(tmp_path)
    assert {row["name"] for row in results["rows"]} == {case.name for case in shapes.tiny()}
    assert {row["kind"] for row in results["rows"]} == set(shapes.KINDS)
    for row in results["rows"]:
        assert not row["wrong"] and row["error_share"] <= 1, row["name"]
        assert row["ratio"] == row["library"]["settled"] / row["ours"]["settled"] > 0
        assert row["cold_ratio"] == row["library"]["cold"] / row["ours"]["cold"] > 0
        assert f"| {row['name']} | {row['ours']['settled']:.4f} |" in table
    assert f"{len(results['rows'])} ratios, geometric mean" in log
    # Programs are compiled once.
    assert all("compile_s" in row for row in results["rows"])
    again, _, _ = run(tmp_path, "--kinds=transpose,softmax")
    assert len(again["rows"]) == 2 and not any("compile_s" in row for row in again["rows"])


def test_a_wrong_result_is_an_error(tmp_path):
    only = "--only=sums over axis 0"
    run(tmp_path, only)
    [bundle] = (tmp_path / "cache").glob("*.bundle")
    [case] = [case for case in shapes.tiny() if case.kind == "reduction" and case.more["axis"] == 0]
    # The last row is left out of one sum.
    wrong = case.program.replace("return %y", """%first = tensor.extract_slice %x[0, 0] [8, 50] [1, 1]
      : tensor<9x50xf32> to tensor<8x50xf32>
  %z = linalg.reduce {arith.addf} ins(%first : tensor<8x50xf32>) outs(%init : tensor<50xf32>) dimensions = [0]
  return %z""")
    assert wrong != case.program
    tessera.compile(wrong, target="cpu").save(bundle)
    results, table, log = run(tmp_path, only, status=1)
    assert results["rows"][0]["wrong"] and "## Wrong\n\n- f32 sums over axis 0 of 9x50: largest error" in table
    assert "WRONG" in log and "error: 1 of 1 shapes failed or are wrong" in log


def test_a_program_that_cannot_be_loaded_fails_alone(tmp_path):
    run(tmp_path, "--kinds=softmax")
    [bundle] = (tmp_path / "cache").glob("*.bundle")
    bundle.write_bytes(b"not a bundle")
    results, table, _ = run(tmp_path, "--kinds=softmax,transpose", status=1)
    softmax, transpose = results["rows"]
    assert "bundle" in softmax["failed"] and "ours" in transpose
    assert "## Failed\n\n- f32 softmax 7x33: " in table


def test_what_the_budget_leaves_out_is_reported(tmp_path):
    results, table, log = run(tmp_path, "--budget=0.01")
    assert all("skipped" in row for row in results["rows"])
    assert "## Not measured\n\n- f32 33x17x40: no time was left" in table
    # Joined with another part, what was measured there counts.
    (tmp_path / "cliffs.json").rename(tmp_path / "first.json")
    run(tmp_path, "--kinds=softmax")
    (tmp_path / "cliffs.json").rename(tmp_path / "second.json")
    first = json.loads((tmp_path / "first.json").read_text())
    second = json.loads((tmp_path / "second.json").read_text())
    first.update(device=second["device"], library=second["library"])
    (tmp_path / "first.json").write_text(json.dumps(first))
    done = subprocess.run([sys.executable, str(BENCHMARKS / "cliffs.py"), "--merge", str(tmp_path / "second.json"),
                           str(tmp_path / "first.json"), f"--output={tmp_path / 'both'}"], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "both.json").read_text())["rows"]
    assert len(rows) == len(first["rows"]) and [row["kind"] for row in rows if "ours" in row] == ["softmax"]


class Doer:
    """Tasks that end their process, never end, or are done."""

    about = {}

    def __init__(self, options):
        pass

    def do(self, task):
        if task == "end":
            os.kill(os.getpid(), 11)
        if task == "wait":
            time.sleep(60)
        return {"process": os.getpid(), "is_last": task == "last"}


def test_a_process_that_ends_or_takes_too_long_is_replaced():
    pool = processes.Pool(Doer, None, 1, limit=5)
    tasks = ["a", "end", "b", "wait", "last", "c"]
    results = list(pool.run(tasks, until=time.monotonic() + 60))
    assert [task for task, _ in results] == tasks
    assert results[1][1] == {"failed": "the process ended with signal 11"}
    assert results[3][1] == {"failed": "not done within 5 s"}
    assert len({results[i][1]["process"] for i in (0, 2, 4, 5)}) == 4
    assert pool.workers == []


@pytest.mark.parametrize("case", list(shapes.tiny()), ids=lambda case: case.name)
def test_a_wrong_element_is_seen(case):
    """The last element of a right result is replaced by the first and by infinity."""
    program = tessera.compile(case.program, target="cpu")
    torch.manual_seed(0)
    tensors = [library.make_random(slot.element, slot.shape, "cpu") for slot in program.signatures["main"].arguments]
    ours = program(*tensors)
    assert library.compare(case, ours, tensors)[1] <= 1
    for wrong in (ours.flatten()[0].item(), 3.0 if ours.dtype == torch.int32 else float("inf"),
                  3.0 if ours.dtype == torch.int32 else float("nan")):
        other = ours.clone()
        other.view(-1)[-1] = wrong
        assert not library.compare(case, other, tensors)[1] <= 1, wrong


def test_narrow_matmuls_are_padded_as_the_library_demands():
    for m, n, k in ((3, 5, 9), (16, 24, 32), (40, 16, 32)):
        case = cases.gemm("i8", m, n, k)
        a, b = (library.make_random("i8", shape, "cpu") for shape in ((m, k), (k, n)))
        for way in library.make_ways(case):
            first, second = way.prepare(a, b)
            assert first.shape[0] > 16 and first.shape[1] % 8 == second.shape[1] % 8 == 0
            expected = a.to(torch.int32) @ b.to(torch.int32)
            assert torch.equal(way.call(first, second)[:m, :n], expected)
