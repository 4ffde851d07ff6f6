//===- Passes.td - Passes on whole programs ---------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_GRAPH_PASSES_TD
#define TESSERA_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def TesseraLiftConstants : Pass<"tessera-lift-constants", "ModuleOp"> {
  let summary = "Refer to large constants by their contents' hash";
  let description = [{
    Replaces the elements of tensor constants, and of constant globals, of at
    least 1 KiB by `dense_resource<tessera_HASH>`, whose blob refers to the
    bytes where they are: those of the attribute, or of the resource it was.
    Equal contents become one resource, whatever their shape. Splats, elements
    that do not fill bytes, and constants of kernels are not changed. A resource
    with a name of that form and other contents is an error.

    The host code of a program does not contain these constants: the compiler
    passes them to the runtime as data (`convert-launch-to-runtime`).

    Before

    ```mlir
    %w = arith.constant dense<"0x0000803F..."> : tensor<64x64xf32>
    ```

    After

    ```mlir
    %w = arith.constant dense_resource<tessera_0f67...> : tensor<64x64xf32>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect"];
}

def TesseraHoistConstantLaunches : Pass<"tessera-hoist-constant-launches", "ModuleOp"> {
  let summary = "Launch what computes on constants alone when a program is loaded";
  let description = [{
    Expects host functions that launch kernels, in a module with a constant that
    `tessera-lift-constants` has lifted; others are not changed. A launch in the entry block of a
    function that reads constants alone, and writes buffers that nothing but
    such launches write, moves to the function `tessera_load`, which runs once
    when the program is loaded onto a device. The buffers become globals without
    an initial value, which the runtime allocates.

    Before

    ```mlir
    %w = memref.get_global @weights : memref<64x64xf32>
    %packed = memref.alloc() : memref<64x64xf32>
    gpu.launch ... { /* transposes %w to %packed */ }
    gpu.launch ... { /* reads %packed and an argument */ }
    memref.dealloc %packed : memref<64x64xf32>
    ```

    After

    ```mlir
    memref.global "private" @__tessera_computed_0 : memref<64x64xf32> = uninitialized
    func.func @tessera_load() {
      %w = memref.get_global @weights : memref<64x64xf32>
      %packed = memref.get_global @__tessera_computed_0 : memref<64x64xf32>
      gpu.launch ... { /* transposes %w to %packed */ }
      return
    }

    // In the function:
    %packed = memref.get_global @__tessera_computed_0 : memref<64x64xf32>
    gpu.launch ... { /* reads %packed and an argument */ }
    ```
  }];
  let dependentDialects = ["func::FuncDialect", "memref::MemRefDialect"];
}

def TesseraHoistConstantTensors : Pass<"tessera-hoist-constant-tensors", "ModuleOp"> {
  let summary = "Compute tensors that follow from constants when a program is loaded";
  let description = [{
    Expects functions on tensors, before fusion, in a module with a constant
    that `tessera-lift-constants` has lifted; others are not changed. Reshapes
    of constants become constants. A tensor that linalg, `tensor.pad` or an
    elementwise op computes from constants alone, and that the rest of the
    function reads, is computed by the function `tessera_load`, which runs once
    when the program is loaded onto a device. Not moved: fills and broadcasts,
    which cost less in the kernels that read them, results of more than four
    times the elements of the constants, and initial values that an op
    overwrites.

    Before

    ```mlir
    %t = linalg.transpose ins(%w : tensor<64x32xf32>) outs(%e : tensor<32x64xf32>)
        permutation = [1, 0]
    ```

    After

    ```mlir
    %m = memref.get_global @__tessera_computed_0 : memref<32x64xf32>
    %t = bufferization.to_tensor %m restrict : memref<32x64xf32> to tensor<32x64xf32>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect",
                           "bufferization::BufferizationDialect",
                           "func::FuncDialect", "memref::MemRefDialect"];
}

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
    `tensor.concat` by insertions into one tensor. An op that computes a part
    gets the slice as its destination, so that bufferization needs no copy. An
    operand that is a concatenation along the same dimension becomes a slice too.
    Other uses of a part read the slice; if one of them cannot, or writes another
    part, the part is copied. A reshape of the operands that leaves the dimension
    of the concatenation alone moves to its result.

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

    With `groups`, a convolution of floats in groups of at most eight channels and
    filters becomes such an op as well, if threads of the chip compute few points.
    Either the channels come last and are powers of two, and the filter is
    transposed: the dimensions of the window and the channels come first. Or the
    columns of the image come last. With more than four channels in the last
    dimension, the result must have enough points for several to each thread, or
    the op must have a `tessera.window_schedule`.

    A `tessera.window_schedule` moves to the loops of the body. On an op that does
    not become a window it has no effect, which is a warning.

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
  let options = [
    Option<"groups", "groups", "bool", /*default=*/"true",
           "Include convolutions of groups with a few channels">
  ];
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

    A depthwise convolution stays as it is if its image has the channels first, and
    no other convolution reads its result, directly or through ops that follow the
    order of their operands: threads compute it in either order. With `groups`,
    that also holds for the convolutions of groups that `tessera-fuse-windows`
    rewrites with the columns last, if their rows have an even length.

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
  let options = [
    Option<"groups", "groups", "bool", /*default=*/"true",
           "Let convolutions of groups with a few channels stay as they are">
  ];
  let dependentDialects = ["arith::ArithDialect", "linalg::LinalgDialect",
                           "tensor::TensorDialect"];
}

#endif // TESSERA_GRAPH_PASSES_TD
