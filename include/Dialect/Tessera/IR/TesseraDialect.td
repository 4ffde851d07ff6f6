//===- TesseraDialect.td - The tessera dialect -------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IR_TESSERADIALECT_TD
#define TESSERA_IR_TESSERADIALECT_TD

include "mlir/IR/OpBase.td"

def Tessera_Dialect : Dialect {
  let name = "tessera";
  let cppNamespace = "::mlir::tessera";
  let summary = "Matrix fragments and virtual threads, portable across GPUs";
  let description = [{
    The `tessera` dialect provides the building blocks of matrix kernels on any
    GPU: *fragments*, register tiles that a subgroup owns together, and *virtual
    threads* (vthreads), tiles that one group of hardware threads computes in an
    interleaved way.

    A fragment is an SSA value. The portable type does not define which lane of
    the subgroup holds which element; `tessera-legalize-fragments` adds that
    from the instruction tables of the chip.

    Every op is *collective* over the subgroup unless its description states
    otherwise: all lanes of the subgroup must reach it with equal operands.
    `copy` and `async_copy` are collective over the workgroup.

    A portable program uses `gpu.subgroup_id` and `gpu.subgroup_size`, and does
    not assume a number of lanes. On the host, `gpu.subgroup_size` is the
    subgroup size of the target of the compilation, so that a launch of four
    subgroups reads

    ```mlir
    %lanes = gpu.subgroup_size : index
    %c4 = arith.constant 4 : index
    %threads = arith.muli %lanes, %c4 : index
    ```

    Each constraint that a verifier checks has a label, such as `mma_c2`, which
    the op's description, the diagnostic and the test that violates the
    constraint use.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
}

#endif // TESSERA_IR_TESSERADIALECT_TD
