# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package on arrays of the host, with the CPU as the device."""

import os
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest
import tessera

MATMUL = """
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}
"""

IN_PLACE = """
func.func @scale(%x: memref<4x?xf16>, %factor: f16) -> f16 {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]} outs(%x : memref<4x?xf16>) {
  ^bb0(%e: f16):
    %s = arith.mulf %e, %factor : f16
    linalg.yield %s : f16
  }
  %twice = arith.addf %factor, %factor : f16
  return %twice : f16
}
func.func @both(%x: tensor<2x3xbf16>, %n: i32) -> (tensor<2x3xbf16>, i32) {
  %sum = linalg.add ins(%x, %x : tensor<2x3xbf16>, tensor<2x3xbf16>)
      outs(%x : tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %m = arith.addi %n, %n : i32
  return %sum, %m : tensor<2x3xbf16>, i32
}
"""


@pytest.fixture(scope="module")
def matmul():
    return tessera.compile(MATMUL, target="cpu")


@pytest.fixture(scope="module")
def others():
    return tessera.compile(IN_PLACE, file="others.mlir")


def integers(*shape, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def test_matmul(matmul):
    for m, n, k in [(33, 50, 70), (1, 1, 1), (128, 64, 96)]:
        a, b, c = integers(m, k), integers(k, n, seed=1), integers(m, n, seed=2)
        before = c.copy()
        d = matmul(a, b, c)
        assert type(d) is np.ndarray and d.dtype == np.float32
        np.testing.assert_array_equal(d, a @ b + before)
        np.testing.assert_array_equal(c, before)


def test_signature(others):
    assert list(others.signatures) == ["scale", "both"]
    assert str(others.signatures["both"]) == "both(tensor<2x3xbf16>, i32) -> (tensor<2x3xbf16>, i32)"
    slot = others.signatures["scale"].arguments[0]
    assert (slot.kind, slot.element, slot.shape, slot.may_write) == ("memref", "f16", (4, -1), True)
    assert others.targets == ["cpu"]


def test_memrefs_are_written_in_place(others):
    x = np.arange(20, dtype=np.float16).reshape(4, 5)
    expected = x * np.float16(1.5)
    assert others.entry("scale")(x, 1.5) == 3.0
    np.testing.assert_array_equal(x, expected)
    x.flags.writeable = False
    with pytest.raises(TypeError, match="read-only"):
        others.entry("scale")(x, 1.5)


def test_several_results_and_types_that_numpy_lacks(others):
    x = np.array([[1, 2, 3], [4, 5, 6]], ml_dtypes.bfloat16)
    y, m = others.entry("both")(x, -21)
    assert y.dtype == ml_dtypes.bfloat16 and m == -42
    np.testing.assert_array_equal(y.astype(np.float32), 2 * x.astype(np.float32))


def test_dlpack(matmul, exchanged):
    a, b, c = integers(5, 6), integers(6, 7), integers(5, 7)
    np.testing.assert_array_equal(matmul(exchanged(a), b, exchanged(c)), a @ b + c)


def test_mistakes_are_reported(matmul, others):
    a = integers(8, 8)
    with pytest.raises(TypeError, match="takes 3 arguments, but 2 were given"):
        matmul(a, a)
    with pytest.raises(TypeError, match=r"argument 1 .*float64, but the program expects float32"):
        matmul(a, a.astype(np.float64), a)
    with pytest.raises(TypeError, match="argument 0 .*3 dimensions"):
        matmul(a[None], a, a)
    with pytest.raises(TypeError, match="argument 2 .*a str is not an array"):
        matmul(a, a, "c")
    with pytest.raises(tessera.Error, match="pass a dense copy") as caught:
        matmul(a, a.T, a)
    assert caught.value.code == "TESSERA_INVALID_ARGUMENT"
    with pytest.raises(tessera.Error, match="dimension 0 is 5, but the program expects 4"):
        others.entry("scale")(np.zeros((5, 2), np.float16), 1)
    with pytest.raises(TypeError, match="argument 1 .*is not a valid number"):
        others.entry("both")(np.zeros((2, 3), ml_dtypes.bfloat16), 1 << 40)
    with pytest.raises(tessera.Error, match="no entry point 'mane'"):
        matmul.entry("mane")
    with pytest.raises(tessera.Error, match="does not accept a caller's queue"):
        matmul(a, a, a, stream=1)
    np.testing.assert_array_equal(matmul(a, a, a), a @ a + a)


def test_a_program_that_does_not_compile():
    with pytest.raises(tessera.CompileError, match=r"^wrong\.mlir:2:10: ") as caught:
        tessera.compile("func.func @main() {\n  return %x : f32\n}", file="wrong.mlir")
    assert caught.value.code == "TESSERA_COMPILE_ERROR"
    with pytest.raises(tessera.Error, match="unknown target"):
        tessera.compile(MATMUL, target="cudo")


def test_bundles(matmul, tmp_path):
    path = tmp_path / "matmul.bundle"
    matmul.save(path)
    a = integers(9, 9)
    np.testing.assert_array_equal(tessera.load(path)(a, a, a), a @ a + a)
    data = path.read_bytes()
    np.testing.assert_array_equal(tessera.load(data)(a, a, a), a @ a + a)
    with pytest.raises(tessera.Error, match="checksum"):
        tessera.load(data[:-9])
    assert [entry.name for entry in tmp_path.iterdir()] == ["matmul.bundle"]


def test_code_for_elsewhere():
    program = tessera.compile(MATMUL, target="hip:gfx942,gfx1100")
    assert program.targets == ["hip", "hip"]
    assert "gfx1100" in program.describe()
    with pytest.raises(tessera.Error):
        program.entry(device=tessera.Device.get("cpu"))


def test_launch(matmul):
    entry = tessera.Program(matmul._program).entry()
    assert entry.launch == "auto"
    a = integers(4, 4)
    for launch, reason in [("direct", "direct launches were asked for"), ("graph", "the device has no graphs")]:
        entry.launch = launch
        assert entry.launch == launch
        before = entry.launch_statistics()
        np.testing.assert_array_equal(entry(a, a, a), a @ a + a)
        after = entry.launch_statistics()
        assert after.direct_runs == before.direct_runs + 1 and after.graph_runs == 0
        # Only in a stream of the caller's.
        assert after.repeated_runs == 0
        assert after.why_direct == reason
    with pytest.raises(ValueError, match='launch must be "auto", "direct" or "graph", not "once"'):
        entry.launch = "once"


# Three kernels.
CHAIN = """
func.func @main(%a: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<128x128xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<128x128xf16>) -> tensor<128x128xf16>
  %b = linalg.matmul ins(%a, %a : tensor<128x128xf16>, tensor<128x128xf16>)
      outs(%i : tensor<128x128xf16>) -> tensor<128x128xf16>
  %c = linalg.matmul ins(%b, %a : tensor<128x128xf16>, tensor<128x128xf16>)
      outs(%i : tensor<128x128xf16>) -> tensor<128x128xf16>
  %d = linalg.matmul ins(%c, %b : tensor<128x128xf16>, tensor<128x128xf16>)
      outs(%i : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %d : tensor<128x128xf16>
}
"""

OVERLAPS = """
import sys, numpy as np, tessera
entry = tessera.compile(sys.stdin.read(), target="cuda").entry(device=tessera.Device.get("cuda"))
for entry.launch in ("direct", "graph"):
    entry(np.zeros((128, 128), np.float16))
    print(entry.launch_statistics().overlaps)
"""


@pytest.mark.skipif("TESSERA_FAKE_CUDA" not in os.environ, reason="scripts/python.sh builds the fake driver")
@pytest.mark.parametrize("variable,overlaps", [("on", 2), ("off", 0)])
def test_overlaps(variable, overlaps):
    """On a CUDA driver without a GPU, where results have arbitrary contents."""
    environment = {**os.environ, "LD_LIBRARY_PATH": os.environ["TESSERA_FAKE_CUDA"],
                   "TESSERA_DEPENDENT_LAUNCH": variable}
    done = subprocess.run([sys.executable, "-c", OVERLAPS], input=CHAIN, env=environment,
                          capture_output=True, text=True)
    assert done.stdout.split() == [str(overlaps)] * 2, done.stderr


def test_threads(matmul):
    wrong = []

    def work(seed):
        own = tessera.compile(MATMUL) if seed % 2 else matmul
        for i in range(8):
            a = integers(20 + seed, 30 + i, seed=seed)
            b, c = integers(30 + i, 10, seed=i), integers(20 + seed, 10)
            if not np.array_equal(own(a, b, c), a @ b + c):
                wrong.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


CHECKED = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %fits = arith.cmpi ule, %size, %c64 : index
  cf.assert %fits, "x has more than 64 elements"
  %empty = tensor.empty(%size) : tensor<?xf32>
  %sum = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>)
      -> tensor<?xf32>
  return %sum : tensor<?xf32>
}
"""


def test_threads_share_a_program_of_which_some_calls_fail():
    program = tessera.compile(CHECKED)
    wrong, finished = [], []

    def work(thread):
        for call in range(400):
            x = np.full(65 if call % 3 == 2 else 8, 1000 * thread + call, np.float32)
            try:
                result = program(x)
            except tessera.Error as error:
                if x.size != 65 or "more than 64 elements" not in str(error):
                    wrong.append((thread, call, str(error)))
            else:
                if x.size != 8 or not np.array_equal(result, x + x):
                    wrong.append((thread, call, result))
        finished.append(thread)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(finished) == [0, 1, 2, 3]
    assert not wrong


def test_schedule_database(tmp_path):
    with pytest.raises(tessera.Error, match="scheduleDb: .*nothing.db' does not exist"):
        tessera.compile(MATMUL, schedule_db=tmp_path / "nothing.db")
    (tmp_path / "other.db").write_bytes(b"no database")
    with pytest.raises(tessera.Error, match="scheduleDb: .*other.db"):
        tessera.compile(MATMUL, schedule_db=tmp_path / "other.db")
    a, b, c = integers(5, 6), integers(6, 7, seed=1), integers(5, 7, seed=2)
    np.testing.assert_array_equal(tessera.compile(MATMUL, schedule_db="off")(a, b, c), a @ b + c)


def test_flags():
    with pytest.raises(tessera.Error, match="flags: unknown compile flag 'allow-tf33'"):
        tessera.compile(MATMUL, flags="allow-tf33")
    with pytest.raises(tessera.CompileError, match="--direct-copies=always"):
        tessera.compile(MATMUL, flags=["no-fuse-attention", "direct-copies=always"])
    a, b, c = integers(5, 6), integers(6, 7, seed=1), integers(5, 7, seed=2)
    program = tessera.compile(MATMUL, flags=["no-fuse-attention"])
    np.testing.assert_array_equal(program(a, b, c), a @ b + c)
