// One lane of each subgroup executes a region.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: gpu-runner %s --target=hip:gfx942 --emit=hsaco -o %t.hsaco
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper --emit=spirv -o %t.spv
// RUN: gpu-runner %s --target=cpu -e printed | FileCheck %s --check-prefix=PRINTED
// CHECK: {{^}}verified
// Only the lanes 0 of the two subgroups add their thread id.
// PRINTED: {{^}}[65,  3,  5,  7]

func.func private @printMemrefI32(memref<*xi32>)

func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %sum: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) {
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %first = arith.muli %warp, %c32 : index
    gpu.warp_execute_on_lane_0(%lane)[32] {
      %0 = vector.transfer_read %x[%first], %zero {in_bounds = [true]} : memref<64xf32>, vector<32xf32>
      %1 = vector.transfer_read %y[%first], %zero {in_bounds = [true]} : memref<64xf32>, vector<32xf32>
      %2 = arith.mulf %0, %1 : vector<32xf32>
      %3 = vector.reduction <add>, %2 : vector<32xf32> into f32
      memref.store %3, %sum[%warp] : memref<2xf32>
    }
    gpu.terminator
  }
  return
}

func.func @printed() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %init = arith.constant dense<[1, 3, 5, 7]> : vector<4xi32>
  %m = memref.alloc() : memref<4xi32>
  vector.store %init, %m[%c0] : memref<4xi32>, vector<4xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) {
    %lane = arith.remui %tx, %c32 : index
    gpu.warp_execute_on_lane_0(%lane)[32] {
      %id = arith.index_cast %tx : index to i32
      %0 = memref.atomic_rmw addi %id, %m[%c0] : (i32, memref<4xi32>) -> i32
    }
    gpu.terminator
  }
  %u = memref.cast %m : memref<4xi32> to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
