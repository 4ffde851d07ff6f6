// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=lavapipe" --tessera-convert-kernels-to-spirv | FileCheck %s --check-prefixes=CHECK,VULKAN
// RUN: gpu-opt %s --tessera-attach-chip="target=opencl chip=pvc" --tessera-convert-kernels-to-spirv | FileCheck %s --check-prefixes=CHECK,OPENCL

// Indices that have 32 bits are divided as such, whatever the divisor is; a
// remainder has the quotient of a division that is there. Powers of two need
// none. Where numbers have more, OpenCL's devices divide 64 bits; for Vulkan's
// it is done bit by bit.
gpu.module @m {
  // CHECK-LABEL: spirv.func @divide
  // CHECK:       %[[BOTH:.*]] = spirv.BitwiseOr %[[X:.*]], %[[Y:.*]] : i64
  // CHECK:       %[[LIMIT:.*]] = spirv.Constant 4294967296 : i64
  // CHECK:       %[[FITS:.*]] = spirv.ULessThan %[[BOTH]], %[[LIMIT]] : i64
  // CHECK:       spirv.BranchConditional %[[FITS]]
  // CHECK:       spirv.UDiv %{{.*}}, %{{.*}} : i32
  // OPENCL:      spirv.UDiv %[[X]], %[[Y]] : i64
  // VULKAN-NOT:  spirv.UDiv
  // VULKAN:      spirv.mlir.loop
  // VULKAN:      spirv.UGreaterThanEqual %{{.*}}, %[[Y]] : i64
  // VULKAN:      spirv.ISub %{{.*}}, %[[Y]] : i64
  // CHECK:       spirv.mlir.merge
  // CHECK-NOT:   spirv.UDiv
  // CHECK:       %[[PRODUCT:.*]] = spirv.IMul %{{.*}}, %[[Y]] : i64
  // CHECK:       spirv.ISub %[[X]], %[[PRODUCT]] : i64
  // CHECK-NOT:   spirv.UMod
  // CHECK:       spirv.Return
  gpu.func @divide() kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %id = gpu.block_id x
    %x = arith.muli %id, %id : index
    %dim = gpu.grid_dim x
    %y = arith.muli %dim, %dim : index
    %q = arith.divui %x, %y : index
    %r = arith.remui %x, %y : index
    %sum = arith.addi %q, %r : index
    %zero = arith.constant 0 : index
    %more = arith.cmpi eq, %sum, %zero : index
    scf.if %more {
      gpu.barrier
    }
    gpu.return
  }

  // A constant that has 32 bits need not be checked; one of 2^n is a shift.
  // CHECK-LABEL: spirv.func @constants
  // CHECK-NOT:   spirv.BitwiseOr
  // CHECK:       spirv.ULessThan %{{.*}}, %{{.*}} : i64
  // CHECK:       spirv.UDiv %{{.*}}, %{{.*}} : i32
  // CHECK:       spirv.mlir.merge
  // CHECK:       spirv.BitwiseAnd %{{.*}}, %{{.*}} : i64
  // CHECK:       spirv.ShiftRightLogical %{{.*}}, %{{.*}} : i64
  // CHECK-NOT:   spirv.UMod
  gpu.func @constants() kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %id = gpu.block_id x
    %x = arith.muli %id, %id : index
    %c27 = arith.constant 27 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %q = arith.divui %x, %c27 : index
    %r = arith.remui %q, %c2 : index
    %s = arith.divui %q, %c8 : index
    %sum = arith.addi %r, %s : index
    %zero = arith.constant 0 : index
    %more = arith.cmpi eq, %sum, %zero : index
    scf.if %more {
      gpu.barrier
    }
    gpu.return
  }

  // Operands that are known to have 32 bits are not checked.
  // CHECK-LABEL: spirv.func @known
  // CHECK-NOT:   spirv.BranchConditional
  // CHECK:       spirv.UDiv %{{.*}}, %{{.*}} : i32
  // CHECK-NOT:   spirv.UDiv
  // CHECK:       spirv.mlir.selection
  gpu.func @known() kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %x = gpu.block_id x
    %c27 = arith.constant 27 : index
    %q = arith.divui %x, %c27 : index
    %r = arith.remui %x, %c27 : index
    %sum = arith.addi %q, %r : index
    %zero = arith.constant 0 : index
    %more = arith.cmpi eq, %sum, %zero : index
    scf.if %more {
      gpu.barrier
    }
    gpu.return
  }

  // Signed ones that fit are not negative.
  // CHECK-LABEL: spirv.func @signed
  // CHECK:       spirv.ULessThan
  // CHECK:       spirv.UDiv %{{.*}}, %{{.*}} : i32
  // OPENCL:      spirv.SDiv %{{.*}}, %{{.*}} : i64
  // VULKAN-NOT:  spirv.SDiv
  // VULKAN:      spirv.SLessThan
  // VULKAN:      spirv.mlir.loop
  gpu.func @signed() kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %id = gpu.block_id x
    %x = arith.muli %id, %id : index
    %dim = gpu.grid_dim x
    %y = arith.muli %dim, %dim : index
    %a = arith.index_cast %x : index to i64
    %b = arith.index_cast %y : index to i64
    %q = arith.divsi %a, %b : i64
    %zero = arith.constant 0 : i64
    %more = arith.cmpi eq, %q, %zero : i64
    scf.if %more {
      gpu.barrier
    }
    gpu.return
  }
}
