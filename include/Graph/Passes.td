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

#endif // TESSERA_GRAPH_PASSES_TD
