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

    **Discardable attributes.** Passes leave these attributes for later ones;
    `schedule`, `allow_tf32` and `allow_fast_f8` are the user's. Their names have
    the prefix `tessera.`. A kernel is a function: a `gpu.func`, or the function
    that a conversion makes of it. The verifier checks the op (`attribute_c1`)
    and the type and range of the value (`attribute_c2`), and rejects any other
    attribute with the prefix (`attribute_c3`).

    | attribute | value | on | set by | read by |
    |---|---|---|---|---|
    | `chip` | Chip: the chip that the module is compiled for | a module or `gpu.module` | `tessera-attach-chip`, the driver | passes that depend on the chip |
    | `schedule` | Schedule: a schedule | a linalg op, a `gpu.launch` or a kernel | the user, `tessera.set_schedule`, tiling | `convert-linalg-to-tessera`, the passes on tiled kernels |
    | `schedule_origin` | String: a text | `tessera.contract`, `tessera.attention` or `gpu.launch` | `tessera-use-tuned-schedules`, `tessera-split-waves` | `tessera-choose-schedule`, `tessera-name-kernels` |
    | `schedule_prediction` | String: a text | `tessera.contract`, `tessera.attention` or `gpu.launch` | `tessera-choose-schedule` | `tessera-name-kernels` |
    | `allow_tf32` | Unit | a linalg op | the user | `convert-linalg-to-tessera` |
    | `allow_fast_f8` | Unit | a linalg op | the user | `convert-linalg-to-tessera` |
    | `tuned` | Dictionary: dictionaries of `schedule` (or its text) and `origin`, by the keys of tasks | a module | the driver | `tessera-use-tuned-schedules` |
    | `tuned_source` | String: a text | a module | the driver | `tessera-use-tuned-schedules` |
    | `packing` | String: a text | a linalg op, `memref.copy` or `gpu.launch` | `tessera-pack-operands` | `tessera-map-linalg-to-simt`, `tessera-name-kernels` |
    | `purpose` | String: a text | `gpu.launch` | tiling of attention | `tessera-name-kernels` |
    | `plain_matmul` | PlainMatmul: `#tessera.plain_matmul` | `gpu.launch` | `tessera-map-matvec` | `tessera-name-kernels` |
    | `schedules` | Dictionary: schedules, by the names of kernels | a module | `tessera-name-kernels` | `tessera-legalize-fragments`, conversions, reports |
    | `schedule_origins` | Dictionary: texts, by the names of kernels | a module | `tessera-name-kernels` | reports |
    | `schedule_predictions` | Dictionary: texts, by the names of kernels | a module | `tessera-name-kernels` | reports |
    | `plain_matmuls` | Dictionary: `#tessera.plain_matmul`, by the names of kernels | a module | `tessera-name-kernels` | reports |
    | `packings` | Dictionary: texts, by the names of kernels | a module | `tessera-name-kernels` | reports |
    | `group` | Integer: the number of subgroups that own a fragment together | a kernel | `tessera-legalize-fragments` | conversions |
    | `stages` | Integer: the number of stages of its schedule | a kernel | `tessera-legalize-fragments` | `tessera-use-bulk-copies` |
    | `cluster` | Integer: the number of workgroups along z in a cluster | a kernel | `tessera-legalize-fragments` | `convert-tessera-to-nvvm` |
    | `sharers` | DenseI64Array: the two numbers of workgroups, along M and N, that share tiles | a kernel | `tessera-legalize-fragments` | `tessera-use-bulk-copies`, `convert-tessera-to-nvvm` |
    | `workgroup_bytes` | Integer: bytes of packed workgroup memory | a kernel or `gpu.launch_func` | `tessera-pack-workgroup-memory`, `tessera-lower-memory-to-spirv` | conversions, reports |
    | `copies` | String: how operands get to workgroup memory, and why not better | a kernel | `tessera-use-bulk-copies` | reports |
    | `tensor_maps` | Array: see below | a kernel or `gpu.launch_func` | `tessera-use-bulk-copies` | `tessera-place-tensor-maps`, `convert-launch-to-runtime` |
    | `producer_threads` | Integer: threads that a launch adds to each workgroup, after those of the launch op | a kernel or `gpu.launch_func` | `tessera-use-bulk-copies` | `convert-launch-to-runtime` |
    | `taken_arguments` | DenseI64Array: indices of the launch arguments that the kernel has parameters for | a kernel or `gpu.launch_func` | `tessera-convert-kernels-to-spirv` | `convert-launch-to-runtime` |
    | `registers` | Integer: registers per thread that the kernel requests | a kernel | `convert-tessera-to-spirv` | the SPIR-V serialization |
    | `parameter_alignments` | DenseI64Array: the alignment of each parameter in bytes; 0 for any | a kernel | `tessera-convert-kernels-to-spirv` | the SPIR-V serialization |
    | `kernel` | Unit | a kernel | `convert-tessera-to-cpu` | `tessera-pack-kernel-arguments`, the CPU backend |
    | `bulk` | Bool: whether TMA performs the copy | `tessera.copy` | `tessera-pipeline-copies` | `tessera-use-bulk-copies` |
    | `copy_threads` | Integer: the number of threads of the workgroup, the first ones, that share it; absent for all | `tessera.copy` | `tessera-use-bulk-copies` | conversions |
    | `alignment` | Integer: the provable alignment of the rows in bytes, or the required alignment for an argument | an access to memory, or a memref argument of a kernel | conversions | conversions |
    | `uniform` | Unit: the source indices are the same for all threads of the workgroup | `tessera.copy`, `tessera.async_copy` | conversions | conversions |
    | `whole_bytes` | Unit: rows of packed elements are whole bytes if the copy reaches their end | `tessera.copy`, `tessera.async_copy` | conversions | conversions |
    | `k_packed` | DenseI64Array: rows and columns of the k-packed layout of the tile | an op on memory | conversions | conversions |
    | `lds_width` | Integer: elements that one load writes directly to workgroup memory | `tessera.async_copy` | conversions | `convert-tessera-to-rocdl` |
    | `lds_loads` | Integer: loads of a thread that may be pending | `tessera.wait` | conversions | `convert-tessera-to-rocdl` |
    | `block_load` | Unit: block loads perform it | `tessera.load` | `convert-tessera-to-spirv` | `convert-tessera-to-spirv` |
    | `instruction` | String: the name of the instruction | `tessera.mma` | `tessera-legalize-fragments` | conversions, reports |
    | `widened` | Unit: operands of i4 were extended to i8 | `tessera.mma` | `tessera-legalize-fragments` | reports |
    | `transposed_a` | Unit: the tile of `a` in workgroup memory is transposed | `tessera.mma` | `tessera-legalize-fragments` | `convert-tessera-to-nvvm` |
    | `transposed_b` | Unit: the tile of `b` in workgroup memory is transposed | `tessera.mma` | `tessera-legalize-fragments` | `convert-tessera-to-nvvm` |
    | `overlapped` | Unit: only a `tessera.await` uses the result | `tessera.mma` | `tessera-overlap-matmuls` | `convert-tessera-to-nvvm` |
    | `in_flight` | Unit: it is waited for after that of the next iteration has been issued | `tessera.mma` | `tessera-use-bulk-copies` | `convert-tessera-to-nvvm` |
    | `issuer` | Unit: one thread issues the matmuls of a step here | `scf.if` | `tessera-use-tensor-memory` | `tessera-use-bulk-copies` |
    | `step_await` | Unit: all threads wait for these matmuls here | `scf.execute_region` | `tessera-use-tensor-memory` | `tessera-use-bulk-copies` |
    | `context` | Unit: stands for the context of an emulated kernel | `builtin.unrealized_conversion_cast` | `convert-tessera-to-cpu` | `convert-tessera-to-cpu` |
    | `field` | Integer: the index of the launch argument that it stands for | `builtin.unrealized_conversion_cast` | `tessera-lower-memory-to-spirv` | `tessera-convert-kernels-to-spirv` |

    An entry of `tensor_maps` is a dictionary that describes one map of TMA:

    | key | value |
    |---|---|
    | `argument` | the index of the memref among the kernel operands of a launch |
    | `box` | elements that one bulk copy copies in each of the memref's 1 to 5 dimensions, outermost first |
    | `swizzle` | the span of the swizzle in workgroup memory in bytes: 0, 32, 64 or 128 |
    | `lower`, `extent`, `stride` | for windows over an image (im2col), in each dimension but the first and the last: the start of the first window, the distance from there to the start of the last one plus one, and the step. The last two entries of `box` are then consecutive pixels, and channels |
    | `symbol` | an `llvm.mlir.global external constant` of `!llvm.array<128 x i8>`, whose address stands for that of the map |

    `tessera-place-tensor-maps` gives the kernel one parameter for each entry,
    after its other parameters and in the order of the list, and removes
    `symbol`. `convert-launch-to-runtime` creates the maps, each time the kernel
    is launched.

    In `taken_arguments` each memref counts as the fields of its descriptor:
    allocated pointer, aligned pointer, offset, sizes, strides. The indices
    ascend; without the attribute, a kernel takes all arguments.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let discardableAttrs = (ins
    "::mlir::tessera::ChipAttr":$chip,
    "::mlir::tessera::ScheduleAttr":$schedule,
    "::mlir::StringAttr":$schedule_origin,
    "::mlir::StringAttr":$schedule_prediction,
    "::mlir::UnitAttr":$allow_tf32,
    "::mlir::UnitAttr":$allow_fast_f8,
    "::mlir::DictionaryAttr":$tuned,
    "::mlir::StringAttr":$tuned_source,
    "::mlir::StringAttr":$packing,
    "::mlir::StringAttr":$purpose,
    "::mlir::tessera::PlainMatmulAttr":$plain_matmul,
    "::mlir::DictionaryAttr":$schedules,
    "::mlir::DictionaryAttr":$schedule_origins,
    "::mlir::DictionaryAttr":$schedule_predictions,
    "::mlir::DictionaryAttr":$plain_matmuls,
    "::mlir::DictionaryAttr":$packings,
    "::mlir::IntegerAttr":$group,
    "::mlir::IntegerAttr":$stages,
    "::mlir::IntegerAttr":$cluster,
    "::mlir::DenseI64ArrayAttr":$sharers,
    "::mlir::IntegerAttr":$workgroup_bytes,
    "::mlir::StringAttr":$copies,
    "::mlir::ArrayAttr":$tensor_maps,
    "::mlir::IntegerAttr":$producer_threads,
    "::mlir::DenseI64ArrayAttr":$taken_arguments,
    "::mlir::IntegerAttr":$registers,
    "::mlir::DenseI64ArrayAttr":$parameter_alignments,
    "::mlir::UnitAttr":$kernel,
    "::mlir::BoolAttr":$bulk,
    "::mlir::IntegerAttr":$copy_threads,
    "::mlir::IntegerAttr":$alignment,
    "::mlir::UnitAttr":$uniform,
    "::mlir::UnitAttr":$whole_bytes,
    "::mlir::DenseI64ArrayAttr":$k_packed,
    "::mlir::IntegerAttr":$lds_width,
    "::mlir::IntegerAttr":$lds_loads,
    "::mlir::UnitAttr":$block_load,
    "::mlir::StringAttr":$instruction,
    "::mlir::UnitAttr":$widened,
    "::mlir::UnitAttr":$transposed_a,
    "::mlir::UnitAttr":$transposed_b,
    "::mlir::UnitAttr":$overlapped,
    "::mlir::UnitAttr":$in_flight,
    "::mlir::UnitAttr":$issuer,
    "::mlir::UnitAttr":$step_await,
    "::mlir::UnitAttr":$context,
    "::mlir::IntegerAttr":$field);
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
}

#endif // TESSERA_IR_TESSERADIALECT_TD
