// Memory of i4 is read and written by its bytes, and a value of i4 is one of i8 whose upper half is zero.
//
// RUN: gpu-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tessera-attach-chip{target=vulkan chip=lavapipe},gpu.module(tessera-expand-packed-memory,tessera-lower-memory-to-spirv,canonicalize,tessera-scalarize-vectors,canonicalize))' | FileCheck %s

// Element 2 i is the lower half of byte i: the address is a byte's, and the shift is by 4 times the number's last bit.
// CHECK-LABEL: gpu.func @element
// CHECK-NOT:   : i4
// CHECK:       %[[FOUR:.*]] = arith.constant 4 : i8
// CHECK:       %[[BYTE:.*]] = spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 1] : i8
// CHECK:       %[[HALF:.*]] = arith.shrui %[[BYTE]], %{{.*}} : i8
// CHECK:       %[[X:.*]] = arith.andi %[[HALF]], %{{.*}} : i8
// CHECK:       %[[UP:.*]] = arith.shli %[[X]], %[[FOUR]] : i8
// CHECK:       %[[SIGNED:.*]] = arith.shrsi %[[UP]], %[[FOUR]] : i8
// CHECK:       arith.extsi %[[SIGNED]] : i8 to i32
// CHECK:       arith.extui %[[X]] : i8 to i32
gpu.module @m {
  gpu.func @element(%m: memref<6x5xi4>, %out: memref<2xi32>, %i: index, %j: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = memref.load %m[%i, %j] : memref<6x5xi4>
    %s = arith.extsi %x : i4 to i32
    %u = arith.extui %x : i4 to i32
    memref.store %s, %out[%c0] : memref<2xi32>
    memref.store %u, %out[%c1] : memref<2xi32>
    gpu.return
  }
}

// -----

// Eight elements at a byte's beginning are one word.
// CHECK-LABEL: gpu.func @vector
// CHECK-NOT:   : i4
// CHECK:       spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 4] : i32
// CHECK-NOT:   spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 1]
// A sum has more bits than it may.
// CHECK:       %[[SUM:.*]] = arith.addi %{{.*}}, %{{.*}} : i8
// CHECK:       arith.andi %{{.*}}, %{{.*}} : i8
// CHECK:       spirv.Store "Workgroup" {{.*}} : i32
// CHECK:       gpu.return
gpu.module @m {
  gpu.func @vector(%m: memref<64xi4>, %i: index)
      workgroup(%tile: memref<64xi4, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %x = vector.load %m[%i] {alignment = 4 : i64} : memref<64xi4>, vector<8xi4>
    %y = arith.addi %x, %x : vector<8xi4>
    vector.store %y, %tile[%c0] {alignment = 4 : i64} : memref<64xi4, #gpu.address_space<workgroup>>, vector<8xi4>
    gpu.return
  }
}

// -----

// The array has half as many bytes as elements.
// CHECK: spirv.GlobalVariable @__workgroup0 : !spirv.ptr<!spirv.array<17 x i8>, Workgroup>
// CHECK-LABEL: gpu.func @odd
gpu.module @m {
  gpu.func @odd(%i: index, %out: memref<1xi8>)
      workgroup(%tile: memref<33xi4, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %x = memref.load %tile[%i] : memref<33xi4, #gpu.address_space<workgroup>>
    %y = arith.extui %x : i4 to i8
    memref.store %y, %out[%c0] : memref<1xi8>
    gpu.return
  }
}

// -----

// An op whose result depends on the number of bits is rejected.
gpu.module @m {
  gpu.func @zeros(%m: memref<64xi4>, %out: memref<1xi8>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %x = memref.load %m[%i] : memref<64xi4>
    // expected-error @below {{target vulkan does not support math.ctlz of i4: extend its operands to i8}}
    %n = math.ctlz %x : i4
    %y = arith.extui %n : i4 to i8
    memref.store %y, %out[%c0] : memref<1xi8>
    gpu.return
  }
}
