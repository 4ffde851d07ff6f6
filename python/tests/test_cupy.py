# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package on CuPy's arrays, on an NVIDIA GPU."""

import numpy as np
import pytest
import tessera

cupy = pytest.importorskip("cupy")
try:
    cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError:
    pytest.skip("CuPy sees no GPU", allow_module_level=True)

PRODUCT = """
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%i : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
"""


@pytest.fixture(scope="module")
def product():
    return tessera.compile(PRODUCT, target="cuda")


def integers(*shape, seed=0):
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(np.float32)


def test_results_stay_on_the_device(product):
    a, b = integers(100, 64), integers(64, 80, seed=1)
    p = product(cupy.asarray(a), cupy.asarray(b))
    assert isinstance(p, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(p), a @ b)


def test_work_is_in_the_order_of_the_current_stream(product):
    """The work before takes long; the work after reads the result immediately."""
    a, b = integers(256, 128), integers(128, 128, seed=3)
    on_device = cupy.asarray(b)
    big = cupy.random.standard_normal((6144, 6144), dtype=cupy.float32)
    late = cupy.zeros((256, 128), dtype=cupy.float32)
    cupy.cuda.Device().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        for _ in range(6):
            big = big @ big * 1e-4
        late.set(a, stream=stream)
        result = product(late, on_device) + 1
        late.fill(0)
    stream.synchronize()
    np.testing.assert_array_equal(cupy.asnumpy(result), a @ b + 1)


def test_an_array_that_is_not_dense_is_rejected(product):
    a, b = integers(96, 64), integers(48, 64, seed=5)
    with pytest.raises(tessera.Error, match="stride in dimension 0 is 64 elements"):
        product(cupy.asarray(a)[:, :48], cupy.asarray(b))
