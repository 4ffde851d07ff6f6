// RUN: gpu-opt %s --tessera-inline-kernels | FileCheck %s

// A launch in clusters becomes one without: queries of clusters are computed.

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%m: memref<64xindex>) kernel {
      %id = gpu.cluster_id x
      %block = gpu.cluster_block_id y
      %dim = gpu.cluster_dim z
      %blocks = gpu.cluster_dim_blocks x
      memref.store %id, %m[%block] : memref<64xindex>
      memref.store %dim, %m[%blocks] : memref<64xindex>
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @function
  // CHECK-SAME:    %[[X:[a-z0-9]+]]: index, %[[Y:[a-z0-9]+]]: index, %[[Z:[a-z0-9]+]]: index, %[[GX:[a-z0-9]+]]: index
  func.func @function(%x: index, %y: index, %z: index, %gx: index, %m: memref<64xindex>) {
    %c6 = arith.constant 6 : index
    // CHECK: %[[REST:.*]] = arith.remui %[[GX]], %[[X]]
    // CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]]
    // CHECK: cf.assert %[[EVEN]], "the grid must be a multiple of the cluster size"
    // CHECK: gpu.launch blocks
    // CHECK: %[[BX:.*]] = gpu.block_id  x
    // CHECK: %[[ID:.*]] = arith.divui %[[BX]], %[[X]]
    // CHECK: %[[BY:.*]] = gpu.block_id  y
    // CHECK: %[[BLOCK:.*]] = arith.remui %[[BY]], %[[Y]]
    // CHECK: %[[GRID:.*]] = gpu.grid_dim  z
    // CHECK: %[[DIM:.*]] = arith.divui %[[GRID]], %[[Z]]
    // CHECK: memref.store %[[ID]], %{{.*}}[%[[BLOCK]]]
    // CHECK: memref.store %[[DIM]], %{{.*}}[%[[X]]]
    gpu.launch_func @m::@k clusters in (%x, %y, %z) blocks in (%gx, %c6, %c6) threads in (%c6, %c6, %c6) args(%m : memref<64xindex>)
    return
  }

  // CHECK-LABEL: func.func @launch
  // CHECK-SAME:    %[[X:[a-z0-9]+]]: index
  func.func @launch(%x: index, %m: memref<64xindex>) {
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    // CHECK:     gpu.launch blocks
    // CHECK-NOT: clusters
    // CHECK: %[[BX:.*]] = gpu.block_id  x
    // CHECK: %[[ID:.*]] = arith.divui %[[BX]], %[[X]]
    // CHECK: memref.store %[[ID]], %{{.*}}[%[[X]]]
    gpu.launch clusters(%cx, %cy, %cz) in (%clx = %x, %cly = %c1, %clz = %c1)
               blocks(%bx, %by, %bz) in (%gx = %c6, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      memref.store %cx, %m[%clx] : memref<64xindex>
      gpu.terminator
    }
    return
  }
}
