// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=lavapipe" --tessera-lower-memory-to-spirv | FileCheck %s

// CHECK: spirv.GlobalVariable @__workgroup0 : !spirv.ptr<!spirv.array<16 x vector<4xi32>>, Workgroup>

gpu.module @m {
  // Sizes and strides that are not in the type are the descriptor's fields: the
  // aligned pointer is its second.
  // CHECK-LABEL: gpu.func @dynamic
  // CHECK: %[[BASE:.*]] = builtin.unrealized_conversion_cast %arg0 : memref<?x?xf32> to i64 {tessera.field = 1 : i64}
  // CHECK: %[[STRIDE:.*]] = builtin.unrealized_conversion_cast %arg0 : memref<?x?xf32> to i64 {tessera.field = 5 : i64}
  // CHECK: %[[ADDRESS:.*]] = arith.addi %[[BASE]], %
  // CHECK: spirv.ConvertUToPtr %[[ADDRESS]] : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
  // CHECK: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 4] : f32
  gpu.func @dynamic(%m: memref<?x?xf32>, %i: index) kernel {
    %x = memref.load %m[%i, %i] : memref<?x?xf32>
    memref.store %x, %m[%i, %i] : memref<?x?xf32>
    gpu.return
  }

  // Memory that is only accessed 16 bytes at a time consists of such units; a
  // narrower access makes them narrower. Indices in it have 32 bits.
  // CHECK-LABEL: gpu.func @units
  // CHECK: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xi32>
  // CHECK: %[[POSITION:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: %[[UNIT:.*]] = arith.shrsi %[[POSITION]], %{{.*}} : i32
  // CHECK: spirv.AccessChain %__workgroup0_addr[%[[UNIT]]]
  // CHECK: spirv.Store "Workgroup" %{{.*}} ["NonPrivatePointer"] : vector<4xi32>
  // CHECK: spirv.Store "Workgroup" %{{.*}} ["NonPrivatePointer"] : f16
  gpu.func @units(%m: memref<64xf16>, %i: index)
      workgroup(%wide: memref<128xf16, #gpu.address_space<workgroup>>,
                %narrow: memref<128xf16, #gpu.address_space<workgroup>>) kernel {
    %x = vector.load %m[%i] {alignment = 16 : i64} : memref<64xf16>, vector<8xf16>
    vector.store %x, %wide[%i] {alignment = 16 : i64} : memref<128xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    vector.store %x, %narrow[%i] {alignment = 16 : i64} : memref<128xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    %y = memref.load %narrow[%i] : memref<128xf16, #gpu.address_space<workgroup>>
    memref.store %y, %m[%i] : memref<64xf16>
    gpu.return
  }
}
