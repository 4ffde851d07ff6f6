//===- Passes.td - Passes on whole programs ---------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_GRAPH_PASSES_TD
#define TESSERA_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def TesseraCloneFills : Pass<"tessera-clone-fills", "func::FuncOp"> {
  let summary = "Fill a tensor for each op that writes to it";
  let description = [{
    Expects linalg on tensors, before bufferization. Common subexpression
    elimination makes one `linalg.fill` of those of equal size; bufferization
    then copies it for each op that has it as its destination. This pass undoes
    that: the memory of each is filled where it is used, if at all.

    Before

    ```mlir
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
    %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
    %b = linalg.reduce { arith.addf } ins(%y : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
    ```

    After

    ```mlir
    %zeros0 = linalg.fill ins(%zero : f32) outs(%empty0 : tensor<8xf32>) -> tensor<8xf32>
    %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zeros0 : tensor<8xf32>) dimensions = [1]
    %zeros1 = linalg.fill ins(%zero : f32) outs(%empty1 : tensor<8xf32>) -> tensor<8xf32>
    %b = linalg.reduce { arith.addf } ins(%y : tensor<8x4xf32>) outs(%zeros1 : tensor<8xf32>) dimensions = [1]
    ```
  }];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect"];
}

def TesseraFuseConcats : Pass<"tessera-fuse-concats", "func::FuncOp"> {
  let summary = "Write the parts of a concatenation where they belong";
  let description = [{
    Expects ops on tensors of static shape, before bufferization. Replaces each
    `tensor.concat` by insertions into one tensor. An op that computes a part,
    and whose result nothing else uses, gets the slice as its destination, so
    that bufferization needs no copy. A reshape of the operands that leaves the
    dimension of the concatenation alone moves to its result.

    Before

    ```mlir
    %a = linalg.generic ... outs(%e0 : tensor<8x16xf32>) ...
    %b = linalg.generic ... outs(%e1 : tensor<8x32xf32>) ...
    %r = tensor.concat dim(1) %a, %b : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<8x48xf32>
    ```

    After

    ```mlir
    %s0 = tensor.extract_slice %whole[0, 0] [8, 16] [1, 1] : tensor<8x48xf32> to tensor<8x16xf32>
    %a = linalg.generic ... outs(%s0 : tensor<8x16xf32>) ...
    %w0 = tensor.insert_slice %a into %whole[0, 0] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<8x48xf32>
    // The same for %b, at [0, 16], with %w0; its result is %r.
    ```
  }];
  let dependentDialects = ["tensor::TensorDialect"];
}

def TesseraFuseWindows : Pass<"tessera-fuse-windows", "func::FuncOp"> {
  let summary = "Compute each window of pooling in one thread";
  let description = [{
    Expects linalg on tensors. Pooling and depthwise convolutions, with windows
    of at most 256 elements, become element-wise ops whose body is a loop over
    the window: the initial value of a `linalg.fill` is in a register, and a
    `tensor.pad` of the operand is a comparison of the indices. Other passes fuse
    element-wise ops that follow. An op with a `tessera.schedule` is not changed.

    Before

    ```mlir
    %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] { /* -inf */ } ...
    %start = linalg.fill ins(%infinity : f32) outs(%empty : tensor<1x8x8x16xf32>) ...
    %max = linalg.pooling_nhwc_max ins(%padded, %window : ...) outs(%start : ...) ...
    ```

    After

    ```mlir
    %max = linalg.generic {/* all loops are parallel */} outs(%empty : tensor<1x8x8x16xf32>) {
      // scf.for over the rows and columns of the window, from %infinity on
      %element = tensor.extract %image[%n, %inside_y, %inside_x, %c] : tensor<1x8x8x16xf32>
      %value = arith.select %is_inside, %element, %infinity : f32
      %next = arith.maximumf %value, %before : f32
    } ...
    ```
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "linalg::LinalgDialect", "scf::SCFDialect",
                           "tensor::TensorDialect"];
}

def TesseraPropagateLayout
    : Pass<"tessera-propagate-layout", "func::FuncOp"> {
  let summary = "Put the channels of convolutions last";
  let description = [{
    Expects linalg and tensor ops on tensors. Rewrites two-dimensional
    convolutions with the channels first, plain, depthwise and grouped ones, to
    those with the channels last, and the ops between them: element-wise ops,
    reductions, pooling, pads, slices, concatenations and reshapes are computed
    in the order of their operand. Transposed copies remain where a tensor
    enters or leaves: arguments, results, and ops that the pass does not know.
    Filters that are constants are transposed here. An op with a
    `tessera.schedule` is not changed.

    Before

    ```mlir
    %0 = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x16x34x34xf16>, tensor<32x16x3x3xf16>) ...
    %1 = linalg.generic { /* relu */ } ins(%0 : tensor<1x32x32x32xf32>) ...
    ```

    After

    ```mlir
    %last = linalg.transpose ins(%image : tensor<1x16x34x34xf16>) outs(...) permutation = [0, 2, 3, 1]
    %0 = linalg.conv_2d_nhwc_hwcf ins(%last, %turned : tensor<1x34x34x16xf16>, tensor<3x3x16x32xf16>) ...
    %1 = linalg.generic { /* relu */ } ins(%0 : tensor<1x32x32x32xf32>) ...
    %first = linalg.transpose ins(%1 : tensor<1x32x32x32xf16>) outs(...) permutation = [0, 3, 1, 2]
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "linalg::LinalgDialect",
                           "tensor::TensorDialect"];
}

#endif // TESSERA_GRAPH_PASSES_TD
