// A launch in clusters: ids and sizes of clusters are computed.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e function --verify | FileCheck %s --check-prefix=VERIFIED
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a -e function --verify | FileCheck %s --check-prefix=VERIFIED
// VERIFIED: {{^}}verified
// RUN: %exits 1 gpu-runner %s --target=cpu -e uneven 2>&1 | FileCheck %s --check-prefix=UNEVEN

// 6 blocks in clusters of 2: cluster, block in the cluster, number of clusters, blocks of a cluster.
// CHECK: {{^}}{{\[\[}}0,   0,   3,   2],
// CHECK-NEXT: {{^}} [0,   1,   3,   2],
// CHECK-NEXT: {{^}} [1,   0,   3,   2],
// CHECK-NEXT: {{^}} [1,   1,   3,   2],
// CHECK-NEXT: {{^}} [2,   0,   3,   2],
// CHECK-NEXT: {{^}} [2,   1,   3,   2]]
// UNEVEN: error: {{.*}}the grid must be a multiple of the cluster size

module attributes {gpu.container_module} {
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %m = memref.alloc() : memref<6x4xi32>
    gpu.launch_func @kernels::@ids clusters in (%c2, %c1, %c1) blocks in (%c6, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%m : memref<6x4xi32>)
    %u = memref.cast %m : memref<6x4xi32> to memref<*xi32>
    call @printMemrefI32(%u) : (memref<*xi32>) -> ()
    return
  }
  func.func @uneven() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %m = memref.alloc() : memref<6x4xi32>
    gpu.launch_func @kernels::@ids clusters in (%c4, %c1, %c1) blocks in (%c6, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%m : memref<6x4xi32>)
    return
  }
  func.func @function(%m: memref<6x4xi32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    gpu.launch_func @kernels::@ids clusters in (%c2, %c1, %c1) blocks in (%c6, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%m : memref<6x4xi32>)
    return
  }
  func.func private @printMemrefI32(memref<*xi32>)

  gpu.module @kernels {
    gpu.func @ids(%m: memref<6x4xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %block = gpu.block_id x
      %a = gpu.cluster_id x
      %b = gpu.cluster_block_id x
      %c = gpu.cluster_dim x
      %d = gpu.cluster_dim_blocks x
      %ai = arith.index_cast %a : index to i32
      %bi = arith.index_cast %b : index to i32
      %ci = arith.index_cast %c : index to i32
      %di = arith.index_cast %d : index to i32
      memref.store %ai, %m[%block, %c0] : memref<6x4xi32>
      memref.store %bi, %m[%block, %c1] : memref<6x4xi32>
      memref.store %ci, %m[%block, %c2] : memref<6x4xi32>
      memref.store %di, %m[%block, %c3] : memref<6x4xi32>
      gpu.return
    }
  }
}
