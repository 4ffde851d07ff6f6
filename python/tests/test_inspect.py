# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explaining and verifying programs."""

import pytest
import tessera

MATMUL = """
func.func @main(%a: tensor<16x?xf16>, %b: tensor<?x24xf16>, %c: tensor<16x24xf32>)
    -> tensor<16x24xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x?xf16>, tensor<?x24xf16>)
      outs(%c : tensor<16x24xf32>) -> tensor<16x24xf32>
  return %d : tensor<16x24xf32>
}
"""


def test_explain():
    report = tessera.explain(MATMUL, "cuda:sm_90a", file="matmul.mlir")
    assert report["chip"] == "sm_90a"
    (product,) = report["products"]
    assert product["location"] == "matmul.mlir:4:8"
    assert product["matrix_unit"]
    with pytest.raises(tessera.Error, match="requires one target"):
        tessera.explain(MATMUL, "cuda:sm_90a,cpu")


def test_verify():
    passed, report = tessera.verify(MATMUL, arguments=["int:1:16x8", "random:2:8x24"])
    assert passed
    assert report["verify"]["passed"]
    assert report["verify"]["outputs"][0]["checked"] == 16 * 24
    with pytest.raises(tessera.Error, match="argument 0") as caught:
        tessera.verify(MATMUL)
    assert caught.value.code == "TESSERA_INVALID_ARGUMENT"
