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
    that do not fill bytes, and constants of kernels are not changed.

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

def TesseraSeparateFills : Pass<"tessera-separate-fills", "ModuleOp"> {
  let summary = "Give each initial value a fill of its own";
  let description = [{
    Expects functions on tensors, in a module with a constant that
    `tessera-lift-constants` has lifted; others are not changed. Where several
    ops overwrite one `linalg.fill`, bufferization would copy it for all but the
    last: a fill for each of them reads nothing.

    Before

    ```mlir
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %a = linalg.generic ... outs(%f : tensor<8xf32>)
    %b = linalg.generic ... outs(%f : tensor<8xf32>)
    ```

    After

    ```mlir
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %a = linalg.generic ... outs(%f : tensor<8xf32>)
    %g = linalg.fill ins(%zero : f32) outs(%d : tensor<8xf32>) -> tensor<8xf32>
    %b = linalg.generic ... outs(%g : tensor<8xf32>)
    ```
  }];
}

#endif // TESSERA_GRAPH_PASSES_TD
