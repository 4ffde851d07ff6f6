//===- Passes.td - Conversion passes -----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CONVERSION_PASSES_TD
#define TESSERA_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// LinalgToTessera
//===----------------------------------------------------------------------===//

def ConvertLinalgToTessera : Pass<"convert-linalg-to-tessera"> {
  let summary = "linalg contractions, and what follows them, to tessera.contract";
  let description = [{
    Turns each sum of products into one `tessera.contract`, which is to become
    one kernel.

    Expects linalg ops on tensors or memrefs. A contraction is any linalg op
    (`matmul` in all its variants, `batch_matmul`, `contract`, `generic`, ...)
    with two inputs whose body is `mulf`/`addf` or `muli`/`addi`, with
    `extf`, `extsi` or `extui` on the operands.

    - The operands enter with the element types they have before these casts;
      a transposition, broadcast or widening that produces an operand is taken
      up in its indexing map. The sum is taken in f32 (f64 for f64 operands,
      i32 for i8) and narrowed once, in the epilogue.
    - An output that `linalg.fill` has set becomes `init`.
    - Element-wise consumers of the result (tensors only) become part of the
      epilogue, and their other operands its `extras`.
    - `tessera.schedule = #tessera.schedule<...>` on the linalg op is carried
      over. `tessera.allow_tf32`, or the option, sets `precision tf32` on f32
      products.

    Leaves alone, with a remark, contractions that `tessera.contract` does not
    express: with more than one M, N or K dimension, with neither M nor N, or
    of types without a row in the table of `tessera.mma`.

    Example:

    ```mlir
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<64x48xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
    %product = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
        outs(%init : tensor<64x48xf32>) -> tensor<64x48xf32>
    %r = linalg.add ins(%product, %residual : tensor<64x48xf32>, tensor<64x48xf32>)
        outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
    ```

    becomes

    ```mlir
    #mk = affine_map<(m, n, k) -> (m, k)>
    #kn = affine_map<(m, n, k) -> (k, n)>
    #mn = affine_map<(m, n, k) -> (m, n)>
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<64x48xf32>
    %r = tessera.contract ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
        init(%zero : f32) extras(%residual : tensor<64x48xf32>)
        outs(%empty : tensor<64x48xf32>) maps [#mk, #kn, #mn, #mn] accumulate f32 {
    ^bb0(%acc: f32, %x: f32):
      %sum = arith.addf %acc, %x : f32
      tessera.yield %sum : f32
    } -> tensor<64x48xf32>
    ```
  }];
  let options = [
    Option<"allowTf32", "allow-tf32", "bool", "false",
           "Permit tf32 for every product of f32 operands">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tessera::TesseraDialect"];
}

#endif // TESSERA_CONVERSION_PASSES_TD
