//===- Passes.td - Passes without tessera ops -------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_GENERIC_TRANSFORMS_PASSES_TD
#define TESSERA_GENERIC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TesseraInlineKernels : Pass<"tessera-inline-kernels", "ModuleOp"> {
  let summary = "Put outlined kernels back in their launches";
  let description = [{
    Expects a program whose kernels may be functions of a `gpu.module`, as
    `gpu-kernel-outlining` and `--emit=tessera` produce them. Replaces each
    `gpu.launch_func` by a `gpu.launch` with the kernel as its body, and erases
    kernels that are no longer launched. A launch in a queue of the caller's,
    and a launch of a kernel that is a binary, are not changed.

    A `memref.global` in workgroup memory that a kernel refers to becomes a
    workgroup attribution of the launch. One with initial contents is an error.

    A launch in clusters becomes one without, since no op lets workgroups of a
    cluster communicate: ids and sizes of clusters are computed from those of
    workgroups. A grid that is not a multiple of the cluster is an error when the
    program runs.

    Before

    ```mlir
    gpu.launch_func @kernels::@scale blocks in (%g, %c1, %c1) threads in (%n, %c1, %c1)
        args(%a : memref<64xf32>)
    ```

    After

    ```mlir
    gpu.launch blocks(...) in (%bx = %g, ...) threads(...) in (%tx = %n, ...) {
      // The body of @scale, with %a instead of its argument.
      gpu.terminator
    }
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "cf::ControlFlowDialect",
                           "gpu::GPUDialect"];
}

def TesseraSerializeAsync : Pass<"tessera-serialize-async", "ModuleOp"> {
  let summary = "Run asynchronous ops of the host in program order";
  let description = [{
    Expects host code as upstream's GPU tests have it. The runtime runs the ops
    of a program in their order and keeps the contents of a buffer the same on
    both sides, so that tokens and registered memory have no meaning. Leaves no
    tokens on the host: `gpu.alloc`, `dealloc`, `memcpy` and `memset` become
    `memref.alloc`, `dealloc`, `copy` and `linalg.fill`; `gpu.wait`,
    `host_register`, `host_unregister` and `set_default_device` are erased; calls
    of `mgpuMemGetDeviceMemRef*` become their operand, and of `fillResource*`,
    `fillF32Buffer*` and `fillI32Buffer*` become `linalg.fill`. A launch in a queue of the caller's is not changed. A
    token that another op uses is an error.

    Before

    ```mlir
    %t0 = gpu.wait async
    %d, %t1 = gpu.alloc async [%t0] () : memref<16xf32>
    %t2 = gpu.memcpy async [%t1] %d, %h : memref<16xf32>, memref<16xf32>
    gpu.wait [%t2]
    ```

    After

    ```mlir
    %d = memref.alloc() : memref<16xf32>
    memref.copy %h, %d : memref<16xf32> to memref<16xf32>
    ```
  }];
  let dependentDialects = ["gpu::GPUDialect", "linalg::LinalgDialect",
                           "memref::MemRefDialect"];
}

def TesseraInlineAsync : Pass<"tessera-inline-async", "ModuleOp"> {
  let summary = "Run the regions of the async dialect in program order";
  let description = [{
    Expects host code with ops of the `async` dialect. Each region of
    `async.execute` runs in place, so that a value that it yields is known at once
    and no op waits: values of type `!async.value<T>` become values of
    type `T`, tokens and groups become nothing, and `async.func` and `async.call`
    become functions and calls. Leaves no op of the dialect.

    The order is one that the program permits. The exception is
    `async.await_all` ahead of an `async.add_to_group` of its group, which is an
    error. So are the ops of the asynchronous runtime (`async.runtime`,
    `async.coro`), with which a program would observe the order.

    Before

    ```mlir
    %t0, %v = async.execute -> !async.value<f32> {
      %x = memref.load %a[%i] : memref<4xf32>
      async.yield %x : f32
    }
    %y = async.await %v : !async.value<f32>
    ```

    After

    ```mlir
    %y = memref.load %a[%i] : memref<4xf32>
    ```
  }];
  let dependentDialects = ["func::FuncDialect"];
}

def TesseraWrapLLVMFunctions : Pass<"tessera-wrap-llvm-functions", "ModuleOp"> {
  let summary = "Give functions of the LLVM dialect callers of the func dialect";
  let description = [{
    Expects a program that may be written in the LLVM dialect alone, as
    `mlir-runner` accepts it. If it has no `func.func` with a body, a `func.func`
    of its name calls each public `llvm.func` that has a body and no arguments
    and returns a scalar or nothing, so that it can be an entry point. The name
    of the `llvm.func` gets the suffix `_llvm`.

    Before

    ```mlir
    llvm.func @main() -> i32 { ... }
    ```

    After

    ```mlir
    llvm.func @main_llvm() -> i32 { ... }
    func.func @main() -> i32 {
      %0 = llvm.call @main_llvm() : () -> i32
      return %0 : i32
    }
    ```
  }];
  let dependentDialects = ["func::FuncDialect", "LLVM::LLVMDialect"];
}

def TesseraCallMathLibrary : Pass<"tessera-call-math-library"> {
  let summary = "Call the C library for functions without precise polynomials";
  let description = [{
    Expects `math` ops of code for the host, in an op with a symbol table.
    `math.atan`, `acosh`, `asinh` and `atanh` of all types, and `erf`, `erfc` and
    `cbrt` of f64, become calls of the mathematical library, element by element.
    Other functions are kept: those with polynomials in f32 are vectorized.

    Before

    ```mlir
    %y = math.acosh %x : f32
    ```

    After

    ```mlir
    %y = call @acoshf(%x) : (f32) -> f32
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "func::FuncDialect",
                           "vector::VectorDialect"];
}

def TesseraExpandCollectives : Pass<"tessera-expand-collectives"> {
  let summary = "Expand reductions over a workgroup";
  let description = [{
    Expects `gpu.all_reduce` in a `gpu.launch` whose workgroups have a constant
    size. Leaves loads, stores and barriers: values are combined in workgroup
    memory, half of them in each step. The memory is a workgroup attribution that
    reductions of one type in a launch share. All threads of the workgroup must
    reach the op. The order in which values are combined is not that of the
    threads.

    Before

    ```mlir
    %sum = gpu.all_reduce add %x {} : (f32) -> (f32)
    ```

    After

    ```mlir
    memref.store %x, %memory[%thread] : memref<2xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %active = arith.cmpi ult, %thread, %c1 : index
    scf.if %active {
      ... // memory[thread] = memory[thread] + memory[thread + 1]
    }
    gpu.barrier
    %sum = memref.load %memory[%c0] : memref<2xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "memref::MemRefDialect", "scf::SCFDialect"];
}

def TesseraRaiseVendorOps : Pass<"tessera-raise-vendor-ops"> {
  let summary = "Raise vendors' ops on lanes to portable code";
  let description = [{
    Expects kernels, each a `gpu.launch` or a `gpu.func`, with `nvgpu.mma.sync`,
    `ldmatrix` and `device_async_copy`, or with `amdgpu.mfma` and `wmma`. Where the
    chip does not have such an op, leaves code that any chip executes, and a
    remark that names the ops. Lanes are threads of the workgroup, by their linear
    number, whatever the size of the chip's own subgroups: the operands of a matrix
    instruction are written to workgroup memory as the instruction's row in the
    tables distributes them, and each thread computes its own elements of the
    result. Sums of 16-bit floats are computed in f32 and rounded once; tf32
    operands are not rounded. An asynchronous copy becomes loads and stores.

    On targets other than AMD's, accesses of `amdgpu.raw_buffer_load` and
    `raw_buffer_store` become loads and stores of elements in bounds,
    `amdgpu.lds_barrier` a `gpu.barrier`, and `sched_barrier` is erased.

    If the chip has subgroups of another size, queries of subgroups in such a
    kernel, `gpu.shuffle` and `gpu.subgroup_reduce` refer to those of the op.

    The number of threads must be constant, and a multiple of the op's lanes. All
    threads of the workgroup must reach a matrix instruction, unless they are one
    subgroup. An op that cannot be raised is an error with the reason.

    Before

    ```mlir
    %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 8]}
        : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    ```

    After

    ```mlir
    ... // memory_a[lane / 4][lane % 4 * 2], memory_b[lane / 4][lane % 4 * 2] = elements
    gpu.barrier
    %sums:4 = scf.for %k = %c0 to %c8 step %c8 iter_args(%s0 = ...) {
      ... // math.fma of vectors of memory_a and memory_b
    }
    gpu.barrier
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "math::MathDialect", "memref::MemRefDialect",
                           "scf::SCFDialect", "vector::VectorDialect"];
}

def TesseraExpandKernelLinalg : Pass<"tessera-expand-kernel-linalg"> {
  let summary = "Lower linalg in hand-written kernels to loops";
  let description = [{
    Expects `linalg` on memrefs in a `gpu.launch`, which each thread executes as
    a whole: typically one thread, on workgroup memory. Leaves loops. `linalg`
    outside of a launch is not changed: other passes lower it to kernels.
    `linalg` on tensors in a launch is an error.

    Before

    ```mlir
    linalg.fill ins(%zero : f32) outs(%w : memref<16xf32, #gpu.address_space<workgroup>>)
    ```

    After

    ```mlir
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %zero, %w[%i] : memref<16xf32, #gpu.address_space<workgroup>>
    }
    ```
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "memref::MemRefDialect", "scf::SCFDialect"];
}

def TesseraExpandTensorOps : Pass<"tessera-expand-tensor-ops"> {
  let summary = "Lower indexed and Winograd ops on tensors to linalg";
  let description = [{
    Expects ops on tensors that bufferization cannot take. Leaves `linalg` in
    their place, and loops of small matmuls for the Winograd transforms:

    - `tensor.gather` becomes an elementwise op that reads the source at the
      coordinates. Coordinates must be inside the source.
    - `tensor.scatter` and `tosa.scatter` become a reduction over the updates:
      each element of the result takes the update whose coordinates match, so
      that no two threads write one element.
    - `tensor.pad` with a negative static amount becomes a slice, and a padding
      of that slice.
    - `linalg.winograd_filter_transform`, `winograd_input_transform` and
      `winograd_output_transform` become loops, as upstream decomposes them.
    - `tosa.custom` is an error that names the operator. So are TOSA ops without a
      lowering: block-scaled types, shifts of floats, and zero points, multipliers
      and shifts that are not constants.

    Before

    ```mlir
    %r = tensor.gather %s[%i] gather_dims([0])
        : (tensor<6x8xf32>, tensor<3x1xindex>) -> tensor<3x8xf32>
    ```

    After

    ```mlir
    %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]}
        outs(%e : tensor<3x8xf32>) {
    ^bb0(%out: f32):
      %d0 = linalg.index 0 : index
      %d1 = linalg.index 1 : index
      %at = tensor.extract %i[%d0, %c0] : tensor<3x1xindex>
      %x = tensor.extract %s[%at, %d1] : tensor<6x8xf32>
      linalg.yield %x : f32
    } -> tensor<3x8xf32>
    ```
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "linalg::LinalgDialect", "scf::SCFDialect",
                           "tensor::TensorDialect"];
}

def TesseraCheckMemory : Pass<"tessera-check-memory", "ModuleOp"> {
  let summary = "Warn about unwritten memory, bounds, races and endless waits";
  let description = [{
    Expects a program as it was written, on tensors or on memrefs. Changes
    nothing. Warns at

    - an op that reads the elements of a `tensor.empty`, of a
      `bufferization.alloc_tensor` without a copy, or of a slice, a cast or a
      reshape of one: nothing has written them;
    - the first op that reads a buffer of `memref.alloc`, `memref.alloca` or
      `gpu.alloc` that no op writes;
    - a load, a store or an atomic op of one element, or a `tensor.extract` or
      `insert`, with a constant index outside of a static dimension;
    - a store in an `scf.parallel` or `scf.forall` whose address does not depend
      on one of the induction variables while the value does: several iterations
      write one element;
    - a linalg op with a parallel dimension that the map of an output does not
      contain, for the same reason;
    - an `scf.while` of a kernel that only ends when another thread writes the
      memory that it reads, in a program with several launches.

    A warning is given only where this follows from the program's text: the
    buffer is not passed on, no condition guards the store, and the dimension
    has a constant size above one. `--verify` finds other reads of unwritten
    memory when it evaluates the program.
  }];
}

def TesseraDropGlobalSpace : Pass<"tessera-drop-global-space", "ModuleOp"> {
  let summary = "Replace the memory space 1 by the default one";
  let description = [{
    Expects memrefs whose memory space may be the integer 1, which is global
    memory in the LLVM back ends of all GPUs. Leaves memrefs without a memory
    space, which is global memory as well, and no attribute `memory_space` of that
    value. Host code then allocates and accesses such buffers.

    Before

    ```mlir
    %0 = memref.alloc() : memref<4xf32, 1>
    ```

    After

    ```mlir
    %0 = memref.alloc() : memref<4xf32>
    ```
  }];
}

def TesseraFlattenAllocations
    : Pass<"tessera-flatten-allocations", "ModuleOp"> {
  let summary = "Allocate buffers with a layout as dense ones";
  let description = [{
    Expects `memref.alloc`, `memref.alloca` and `memref.global` of types with
    constant sizes whose layout has constant strides and a constant offset.
    Leaves a dense allocation of one dimension that ends with the last element,
    and a `memref.reinterpret_cast` to the layout. Upstream's lowering has
    allocations of the identity layout only. An argument of such a type, of a
    public function that is not called and returns no buffer, becomes a dense one:
    its elements are copied to a buffer of the layout, and back before the return.

    Before

    ```mlir
    %0 = memref.alloc() : memref<4xf32, strided<[2], offset: 3>>
    ```

    After

    ```mlir
    %1 = memref.alloc() : memref<10xf32>
    %0 = memref.reinterpret_cast %1 to offset: [3], sizes: [4], strides: [2]
        : memref<10xf32> to memref<4xf32, strided<[2], offset: 3>>
    ```
  }];
  let dependentDialects = ["memref::MemRefDialect"];
}

def TesseraNormalizeTosa : Pass<"tessera-normalize-tosa", "ModuleOp"> {
  let summary = "Write TOSA in the forms that upstream's lowering accepts";
  let description = [{
    Expects a program with ops of `tosa`. Leaves one of the same meaning:

    - Quantized types (`!quant.uniform` and others) become the integer types that
      store them, if no op of the dialect `quant` computes with them. TOSA's ops
      state zero points and scales as operands.
    - A zero point of floats that is not a constant becomes the constant zero: the
      specification permits no other value.
    - The shift of a `tosa.mul` of other types than i32 becomes the constant zero,
      since the specification shifts i32 alone.

    Ops without uses that this leaves are erased.

    Before

    ```mlir
    %0 = tosa.matmul %a, %b, %za, %zb
        : (tensor<1x2x3xf32>, tensor<1x3x4xf32>, tensor<1xf32>, tensor<1xf32>)
        -> tensor<1x2x4xf32>
    ```

    After

    ```mlir
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}>
        : () -> tensor<1xf32>
    %0 = tosa.matmul %a, %b, %z, %z
        : (tensor<1x2x3xf32>, tensor<1x3x4xf32>, tensor<1xf32>, tensor<1xf32>)
        -> tensor<1x2x4xf32>
    ```
  }];
  let dependentDialects = ["tosa::TosaDialect"];
}

def TesseraUseRowMajorMatrices : Pass<"tessera-use-row-major-matrices"> {
  let summary = "Store the matrices of LLVM's intrinsics by rows";
  let description = [{
    Expects `llvm.intr.matrix.*` on vectors that hold matrices by rows. Leaves
    the same ops on matrices by columns, which LLVM computes by default: the
    matrix by columns that a vector holds is the transpose of the one by rows, and
    the transpose of A * B is that of B times that of A. A matrix that is loaded
    or stored by columns is transposed on the way. The flag
    `matrix-default-layout=row-major` adds this pass.

    Before

    ```mlir
    %c = llvm.intr.matrix.multiply %a, %b
        {lhs_rows = 2 : i32, lhs_columns = 3 : i32, rhs_columns = 4 : i32}
        : (vector<6xf32>, vector<12xf32>) -> vector<8xf32>
    ```

    After

    ```mlir
    %c = llvm.intr.matrix.multiply %b, %a
        {lhs_rows = 4 : i32, lhs_columns = 3 : i32, rhs_columns = 2 : i32}
        : (vector<12xf32>, vector<6xf32>) -> vector<8xf32>
    ```
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def TesseraLowerWarpRegions
    : Pass<"tessera-lower-warp-regions", "::mlir::ModuleOp"> {
  let summary = "Turn regions that one lane executes into conditions";
  let description = [{
    Expects kernels, in a `gpu.launch` or a `gpu.func`, with
    `gpu.warp_execute_on_lane_0`. Afterwards the region is in an `scf.if`, by
    upstream's lowering: one lane executes it, and its vectors are not
    distributed over the lanes. An op with operands or results is an error.

    Before

    ```mlir
    gpu.warp_execute_on_lane_0(%lane)[32] {
      vector.transfer_write %v, %m[%c0] : vector<32xf32>, memref<32xf32>
    }
    ```

    After

    ```mlir
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      vector.transfer_write %v, %m[%c0] : vector<32xf32>, memref<32xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::memref::MemRefDialect",
  ];
}

def TesseraLowerIndexOps : Pass<"tessera-lower-index-ops"> {
  let summary = "Turn index arithmetic of other dialects into arith";
  let description = [{
    Expects ops of `index`, `affine.delinearize_index` and
    `affine.linearize_index`, and `affine.vector_load` and `vector_store`.
    Leaves none of these: ops of `index` become their counterparts in `arith`,
    and the others are expanded by upstream's patterns. An index has 64 bits.

    Before

    ```mlir
    %c = index.constant 3
    %0 = index.ceildivs %i, %c
    ```

    After

    ```mlir
    %c = arith.constant 3 : index
    %0 = arith.ceildivsi %i, %c : index
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
  ];
}

def TesseraLowerVectors : Pass<"tessera-lower-vectors"> {
  let summary = "Lower vector transfers and vector ops of several dimensions";
  let description = [{
    Expects kernels with any ops of the `vector` dialect. Leaves no
    `vector.transfer_read` or `vector.transfer_write` of memrefs (they become
    loads and stores of rank 1, masked where elements may be out of bounds), no
    `vector.load` or `vector.store` of several dimensions, and no contraction, outer product, transposition or reduction of several
    dimensions. Arithmetic on vectors of several dimensions is not changed.

    Before

    ```mlir
    %v = vector.transfer_read %m[%i, %j], %zero {in_bounds = [true, true]}
        : memref<64x64xf32>, vector<2x4xf32>
    ```

    After

    ```mlir
    %0 = vector.load %m[%i, %j] : memref<64x64xf32>, vector<4xf32>
    %1 = vector.insert %0, %none [0] : vector<4xf32> into vector<2x4xf32>
    %2 = vector.load %m[%i1, %j] : memref<64x64xf32>, vector<4xf32>
    %v = vector.insert %2, %1 [1] : vector<4xf32> into vector<2x4xf32>
    ```
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "memref::MemRefDialect", "scf::SCFDialect",
                           "vector::VectorDialect"];
}

def TesseraResolveSubgroups : Pass<"tessera-resolve-subgroups"> {
  let summary = "Replace subgroup queries by the target's subgroup size";
  let description = [{
    Expects host code and kernels (`gpu.launch` bodies or `gpu.func`s) that use
    `gpu.subgroup_size`, `gpu.subgroup_id`, `gpu.num_subgroups` and
    `gpu.lane_id`. Leaves none of these, except `gpu.lane_id` on chips whose
    subgroups have more than one lane: the size becomes a constant, the others
    are computed from the thread id. `gpu.subgroup_reduce` becomes a butterfly
    of shuffles, or its operand if a subgroup has one lane.

    On a chip with subgroups of one thread, such as the host's own, a kernel with
    `gpu.shuffle`, or with `gpu.subgroup_reduce` of clusters of lanes, has
    subgroups of 32 threads. So has one with `gpu.lane_id` in a program without
    `gpu.subgroup_size`, which assumes a size. Matrices of a subgroup, and ops of vendors' dialects
    for lanes, are an error in such a kernel.

    Before (for a chip with 32 lanes)

    ```mlir
    %size = gpu.subgroup_size : index
    %id = gpu.subgroup_id : index
    ```

    After, in a launch of (128, 1, 1) threads

    ```mlir
    %size = arith.constant 32 : index
    %x = gpu.thread_id x
    %id = arith.divui %x, %size : index
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "vector::VectorDialect"];
}

def TesseraJoinCopies : Pass<"tessera-join-copies", "func::FuncOp"> {
  let summary = "Copy both operands of a matmul by one kernel";
  let description = [{
    Expects `gpu.launch` ops, after `tessera-map-linalg-to-simt`. Two launches
    that copy operands of matmuls (`tessera.packing`), of which the second
    follows the first, become one with the workgroups of both. Their grids must
    have one dimension and constant sizes, with equal workgroups; their threads
    must not use other ops of the `gpu` dialect, such as barriers; and each may
    read only arguments, since copies of constants move to the loader later, and
    write only allocations that the other one does not use.

    Before

    ```mlir
    gpu.launch blocks(%x, %y, %z) in (%gx = %c247, ...) threads(...) in (%bx = %c256, ...) {
      "copy of lhs"(%x)
    } {tessera.packing = "copies lhs of a matmul"}
    gpu.launch blocks(%x, %y, %z) in (%gx = %c100, ...) threads(...) in (%bx = %c256, ...) {
      "copy of rhs"(%x)
    } {tessera.packing = "copies rhs of a matmul"}
    ```

    After

    ```mlir
    %all = arith.addi %c247, %c100 : index
    gpu.launch blocks(%x, %y, %z) in (%gx = %all, ...) threads(...) in (%bx = %c256, ...) {
      %first = arith.cmpi ult, %x, %c247 : index
      scf.if %first {
        "copy of lhs"(%x)
      } else {
        %rest = arith.subi %x, %c247 : index
        "copy of rhs"(%rest)
      }
    } {tessera.packing = "copies lhs of a matmul; copies rhs of a matmul"}
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "scf::SCFDialect"];
}

def TesseraMergeKernels : Pass<"tessera-merge-kernels", "ModuleOp"> {
  let summary = "Compile equal kernels once";
  let description = [{
    Expects kernels in `gpu.module`s of their own, as `gpu-kernel-outlining`
    leaves them. Kernels that differ in their names and locations alone, and that
    one function launches, become the first one of them: layers of a network that
    have the same sizes are compiled once. Kernels with different schedules or
    purposes in the attributes of the module are kept, since these are reported
    by the kernel's name. So are modules of several kernels. The origins and
    predictions of schedules are texts, which name a matmul or a record: the
    kernel that is left has those of all.
    The ops of the kernel that is left have the locations of all, so that reports
    on matmuls name each line of the source.

    Before

    ```mlir
    gpu.module @main_kernel { gpu.func @main_kernel(...) kernel { ... } }
    gpu.module @main_kernel_1 { gpu.func @main_kernel_1(...) kernel { ... } }
    func.func @main(...) {
      gpu.launch_func @main_kernel::@main_kernel ... args(%a, %b)
      gpu.launch_func @main_kernel_1::@main_kernel_1 ... args(%b, %c)
    ```

    After

    ```mlir
    gpu.module @main_kernel { gpu.func @main_kernel(...) kernel { ... } }
    func.func @main(...) {
      gpu.launch_func @main_kernel::@main_kernel ... args(%a, %b)
      gpu.launch_func @main_kernel::@main_kernel ... args(%b, %c)
    ```
  }];
  let dependentDialects = ["gpu::GPUDialect"];
}

def TesseraNameKernels : Pass<"tessera-name-kernels", "ModuleOp"> {
  let summary = "Give every kernel a unique name";
  let description = [{
    Expects `gpu.launch` ops. Gives each launch without a function name one that
    is unique in the module, derived from the enclosing function's name:
    profilers show it, and the runtime finds kernels by it. It ends in
    `_kernel`, or in `_repack` if the kernel copies an operand of a matmul. The
    schedules, the matmuls and the reasons for such copies, which are attributes
    of the launches that outlining would drop, are kept under these names in the
    module's attributes `tessera.schedules`, `tessera.plain_matmuls` and
    `tessera.packings`.

    Before

    ```mlir
    func.func @main(%n: index) {
      gpu.launch blocks(...) in (...) threads(...) in (...) { ... }
      gpu.launch blocks(...) in (...) threads(...) in (...) { ... }
    ```

    After

    ```mlir
    func.func @main(%n: index) {
      gpu.launch blocks(...) in (...) threads(...) in (...) module(@main_kernel) function(@main_kernel) { ... }
      gpu.launch blocks(...) in (...) threads(...) in (...) module(@main_kernel_1) function(@main_kernel_1) { ... }
    ```
  }];
  let dependentDialects = ["gpu::GPUDialect"];
}

def TesseraPackWorkgroupMemory
    : Pass<"tessera-pack-workgroup-memory", "gpu::GPUModuleOp"> {
  let summary = "Use one dynamic allocation for a kernel's workgroup memory";
  let description = [{
    Expects kernels with workgroup attributions, or static allocations in
    workgroup memory at their top level. Leaves views of
    `gpu.dynamic_shared_memory`, each aligned to 128 bytes, and the attribute
    `tessera.workgroup_bytes` on the kernel, which is the size that launches
    request. (On NVIDIA, static workgroup memory is limited to 48 KiB.) A kernel's
    own `gpu.dynamic_shared_memory` becomes a view of the bytes after these.

    Before

    ```mlir
    gpu.func @k() workgroup(%w : memref<64x32xf16, #gpu.address_space<workgroup>>) kernel
    ```

    After

    ```mlir
    gpu.func @k() kernel attributes {tessera.workgroup_bytes = 4096 : i64} {
      %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %c0 = arith.constant 0 : index
      %w = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>>
          to memref<64x32xf16, #gpu.address_space<workgroup>>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect"];
}

def TesseraExpandScalars : Pass<"tessera-expand-scalars"> {
  let summary = "Expand arithmetic that LLVM's back ends do not support";
  let description = [{
    Expects `arith` and `math` on scalars and vectors. Leaves no conversion to
    or from an 8-bit float (they become integer operations, rounding to nearest
    even), no arithmetic of 8-bit floats (it is computed in f32), no `math`
    function that needs a library (exp, log, tanh, erf and similar ones become
    polynomials in f32), no `math.isinf`, no `arith` op without an instruction
    (ceildivsi and similar ones), and no `vector.shape_cast`.

    Before

    ```mlir
    %y = arith.extf %x : f8E5M2 to f32
    ```

    After

    ```mlir
    %bits = arith.bitcast %x : f8E5M2 to i8
    %wide = arith.extui %bits : i8 to i32
    ...
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "math::MathDialect",
                           "vector::VectorDialect"];
}

def TesseraExpandBF16 : Pass<"tessera-expand-bf16"> {
  let summary = "Convert and move bf16 as integers";
  let description = [{
    Expects functions with `arith`, `vector`, `scf`, `cf` and `memref`, for a
    processor without instructions for bf16. Leaves no conversion between f32
    and bf16 (rounding to nearest even; a NaN becomes 0x7fc0). In a function
    that only moves bf16 otherwise, i16 is the type of its elements, of memory
    and of arguments too.

    Before

    ```mlir
    %x = memref.load %m[%i] : memref<8xbf16>
    %y = arith.extf %x : bf16 to f32
    ```

    After

    ```mlir
    %x = memref.load %m[%i] : memref<8xi16>
    %wide = arith.extui %x : i16 to i32
    %high = arith.shli %wide, %c16 : i32
    %y = arith.bitcast %high : i32 to f32
    ```
  }];
  let dependentDialects = ["arith::ArithDialect"];
}

def TesseraInlineIndirectCalls
    : Pass<"tessera-inline-indirect-calls", "::mlir::ModuleOp"> {
  let summary = "Inline functions that take functions as arguments";
  let description = [{
    Expects functions with `func.call_indirect`. Runs upstream's inliner, after
    which the function that is called is a constant, and removes functions that
    take others as arguments. Afterwards there is no `func.call_indirect`: one
    that remains is an error.

    Before

    ```mlir
    func.func @twice(%f: (f32) -> f32, %x: f32) -> f32 {
      %0 = call_indirect %f(%x) : (f32) -> f32
      %1 = call_indirect %f(%0) : (f32) -> f32
      return %1 : f32
    }
    func.func @main(%x: f32) -> f32 {
      %f = constant @double : (f32) -> f32
      %0 = call @twice(%f, %x) : ((f32) -> f32, f32) -> f32
      return %0 : f32
    }
    ```

    After, where `@double` adds its argument to itself

    ```mlir
    func.func @main(%x: f32) -> f32 {
      %0 = arith.addf %x, %x : f32
      %1 = arith.addf %0, %0 : f32
      return %1 : f32
    }
    ```
  }];
}

def TesseraLiftBranches : Pass<"tessera-lift-branches", "::mlir::ModuleOp"> {
  let summary = "Turn branches into structured control flow";
  let description = [{
    Expects functions and kernels whose regions may have several blocks with
    `cf.br`, `cf.cond_br` and `cf.switch`; functions of LLVM's dialect are left
    as they are. Afterwards each region has one block, with `scf.if` and
    `scf.while`, by upstream's transformation, and `scf.index_switch` is
    `scf.if`. A loop without an exit is an error.

    Before

    ```mlir
      cf.cond_br %p, ^bb1, ^bb2(%x : f32)
    ^bb1:
      %y = arith.mulf %x, %x : f32
      cf.br ^bb2(%y : f32)
    ^bb2(%r: f32):
    ```

    After

    ```mlir
    %r = scf.if %p -> (f32) {
      %y = arith.mulf %x, %x : f32
      scf.yield %y : f32
    } else {
      scf.yield %x : f32
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"
  ];
}

def TesseraConvertByAddition : Pass<"tessera-convert-by-addition"> {
  let summary = "Convert between narrow integers and floats by additions";
  let description = [{
    For devices on which a conversion or a rounding takes as long as several
    additions. Expects `arith` and `math` on scalars and vectors. A number that
    is rounded to the nearest integer, limited to constants, and converted to at
    most 16 bits, directly or by way of 32, is limited first, and rounded by the
    addition of 1.5 * 2^23, whose sum has the integer in its low bits. An
    integer of 8 or 4 bits becomes a float as the low bits of 2^23; in vectors,
    also an f16 as those of 2^10, and i4 a bf16 as those of 2^7. An i8 becomes a
    bf16 as the difference of two floats: 2^7 with its low 7 bits, and 2^7 or,
    if it is negative, 2^8. The difference of two such integers is that of their
    floats. All results are the same, except of NaN, whose conversion to an
    integer has no defined result.

    Before

    ```mlir
    %r = math.roundeven %x : f32
    %a = arith.maximumf %r, %c-128 : f32
    %b = arith.minimumf %a, %c127 : f32
    %i = arith.fptosi %b : f32 to i32
    %y = arith.trunci %i : i32 to i8
    ```

    After

    ```mlir
    %a = arith.maximumf %x, %c-128 : f32
    %b = arith.minimumf %a, %c127 : f32
    %s = arith.addf %b, %c12582912 : f32
    %bits = arith.bitcast %s : f32 to i32
    %i = arith.addi %bits, %c-1262485504 : i32
    %y = arith.trunci %i : i32 to i8
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "math::MathDialect",
                           "vector::VectorDialect"];
}

def TesseraSimplifyArithmetic : Pass<"tessera-simplify-arithmetic"> {
  let summary = "Canonicalize all ops except loops and branches";
  let description = [{
    Runs the canonicalization patterns without those of ops with regions. A
    kernel's loop along K carries a value for each fragment of the result, and
    the canonicalizer compares all of them with each other every time that it
    visits the loop, which would take most of the compile time. The
    simplifications that are possible there are found earlier, when the
    fragments are still whole.

    Before

    ```mlir
    %0 = arith.addi %i, %c1 : index
    %1 = arith.addi %0, %c2 : index
    ```

    After

    ```mlir
    %1 = arith.addi %i, %c3 : index
    ```
  }];
}

def TesseraExpandPackedMemory : Pass<"tessera-expand-packed-memory"> {
  let summary = "Expand accesses to i4 elements, two of which share a byte";
  let description = [{
    Expects loads from memrefs of i4 by `memref.load`, `vector.load` and
    `vector.maskedload`, and stores by `memref.store`, `vector.store` and
    `vector.maskedstore`. Leaves loads of bytes, shifts and truncations, and
    vectors of i4 that branches (`scf.if`) yield as their bytes. A
    `vector.bitcast` from vectors of i4, and a store, use these bytes too.

    Memory of i4 holds two elements in a byte, the first of them in the low
    bits: element `i` in row-major order is in byte `i / 2`, at bit `4 * (i mod
    2)`. An odd number of elements is rounded up to a byte. Strides and offsets
    of a memref count elements, so that a view may start in the middle of a
    byte. A `vector.load` or `vector.store` with an `alignment` starts at a
    whole byte; any other may start in the middle of one.

    Threads that write the two elements of a byte would race. Therefore only a
    `vector.store` with an `alignment` and an even number of elements stores
    bytes. Any other store writes element by element, by two `memref.atomic_rmw`
    of the byte, which clear and set the element's half. A copy is an error at
    the op.

    A `memref.global` of i4 becomes one of bytes.

    Before

    ```mlir
    %x = memref.load %a[%i, %j] : memref<64x32xi4>
    ```

    After

    ```mlir
    %linear = ... // %i * 32 + %j
    %index = arith.shrui %linear, %c1 : index
    %bytes = memref.reinterpret_cast %base to offset: [%index], sizes: [1], strides: [1]
        : memref<i8> to memref<1xi8, strided<[1], offset: ?>>
    %byte = memref.load %bytes[%c0] : memref<1xi8, strided<[1], offset: ?>>
    %odd = arith.andi %linear, %c1 : index
    ...
    %shifted = arith.shrui %byte, %shift : i8
    %x = arith.trunci %shifted : i8 to i4
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def TesseraCheckShapes
    : Pass<"tessera-check-shapes", "::mlir::func::FuncOp"> {
  let summary = "Check dynamic sizes of operands when the program runs";
  let description = [{
    Expects linalg on tensors or memrefs. Where dynamic sizes of several operands
    belong to one loop of an op, asserts before the op that they agree: the
    kernel would otherwise access memory out of bounds, or compute a part of the
    result. Sizes are compared by the host, once in each run. Sizes that follow
    from the same value are not compared, nor those for which the result of
    another op would need a further use. Ops in launches are not changed.

    Before

    ```mlir
    %r = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
    ```

    After

    ```mlir
    %m = tensor.dim %a, %c0 : tensor<?xf32>
    %n = tensor.dim %b, %c0 : tensor<?xf32>
    %same = arith.cmpi eq, %m, %n : index
    cf.assert %same, "add.mlir:3:8: linalg.add: dimension 0 of operand 0 and dimension 0 of operand 1 must have the same size"
    %r = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TesseraFuseElementwise : Pass<"tessera-fuse-elementwise"> {
  let summary = "Fuse element-wise linalg ops";
  let description = [{
    Expects linalg on tensors. Generalizes element-wise named ops to
    `linalg.generic` and fuses each with the consumer of its result, if it has a
    single one. Decomposes `linalg.softmax` and similar ops; `linalg.pack` and
    `unpack` become padding, reshapes and transpositions. Contractions are not
    changed: `convert-linalg-to-tessera` fuses their operands and results. An op
    that computes a tensor without elements becomes `tensor.empty`.

    Element-wise ops that follow a window (an op whose body has a loop) through a
    `tensor.collapse_shape` are computed before it, and fused. A transposition is
    not fused with a window of 2^20 elements or more if another dimension would
    run fastest. Where the rounded results of two contractions are added, the
    rounding of one is not fused with the sum, which the other one computes.

    Example:

    ```mlir
    %b = linalg.broadcast ins(%bias : tensor<48xf32>) outs(%e : tensor<64x48xf32>) dimensions = [0]
    %s = linalg.add ins(%x, %b : tensor<64x48xf32>, tensor<64x48xf32>)
        outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
    ```

    becomes

    ```mlir
    %s = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                         affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%x, %bias : tensor<64x48xf32>, tensor<48xf32>) outs(%e : tensor<64x48xf32>) {
    ^bb0(%p: f32, %q: f32, %out: f32):
      %0 = arith.addf %p, %q : f32
      linalg.yield %0 : f32
    } -> tensor<64x48xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def TesseraDeallocateBuffers
    : Pass<"tessera-deallocate-buffers", "::mlir::func::FuncOp"> {
  let summary = "Free the buffers that a function allocates";
  let description = [{
    Expects a bufferized function. Runs upstream's ownership-based deallocation
    and lowers its ops by `tessera-lower-deallocations`.

    Does not change a function with an op of unknown effects, `memref.dealloc`,
    a loop of branches, or a launch that has workgroup or private memory, as
    programs written by hand have: ownership-based deallocation rejects the
    former, and assigns an owner to the memory of a launch. The runtime frees
    the buffers of such a function at the end of its session.

    Before

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
    return
    ```

    After

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
    memref.dealloc %a : memref<4xf32>
    return
    ```
  }];
}

def TesseraLowerDeallocations : Pass<"tessera-lower-deallocations"> {
  let summary = "Lower bufferization.dealloc to comparisons of addresses";
  let description = [{
    Expects `bufferization.dealloc`, as ownership-based deallocation leaves it.
    Leaves `memref.dealloc` under conditions that are computed in values. The
    lowering does not use memory, since all memory that host code allocates is
    device memory.

    Example:

    ```mlir
    %owned = bufferization.dealloc (%a : memref<4xf32>) if (%cond) retain (%r : memref<4xf32>)
    ```

    becomes

    ```mlir
    %pa = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<4xf32> -> index
    %same = arith.cmpi eq, %pr, %pa : index
    %owned = arith.andi %same, %cond : i1
    %other = arith.cmpi ne, %pa, %pr : index
    %free = arith.andi %cond, %other : i1
    scf.if %free {
      memref.dealloc %a : memref<4xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

#endif // TESSERA_GENERIC_TRANSFORMS_PASSES_TD
