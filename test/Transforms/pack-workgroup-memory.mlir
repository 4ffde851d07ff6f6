// RUN: gpu-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(gpu.module(tessera-pack-workgroup-memory))" --split-input-file | FileCheck %s

// Attributions and allocations, one after the other, at multiples of 128 bytes.
// CHECK-LABEL: gpu.func @pack
// CHECK-SAME:    (%{{.+}}: index) kernel attributes {tessera.workgroup_bytes = 8576 : i64} {
// CHECK-NEXT:    %[[ALL:.+]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
// CHECK-NEXT:    %[[C0:.+]] = arith.constant 0 : index
// CHECK-NEXT:    %[[A:.+]] = memref.view %[[ALL]][%[[C0]]][] : {{.*}} to memref<64x32xf16, #gpu.address_space<workgroup>>
// CHECK-NEXT:    %[[C1:.+]] = arith.constant 4096 : index
// CHECK-NEXT:    %[[B:.+]] = memref.view %[[ALL]][%[[C1]]][] : {{.*}} to memref<3xi8, #gpu.address_space<workgroup>>
// CHECK-NEXT:    %[[C2:.+]] = arith.constant 4224 : index
// CHECK-NEXT:    %[[C:.+]] = memref.view %[[ALL]][%[[C2]]][] : {{.*}} to memref<32x32xf32, #gpu.address_space<workgroup>>
// CHECK-NEXT:    %[[C3:.+]] = arith.constant 8320 : index
// CHECK-NEXT:    %[[D:.+]] = memref.view %[[ALL]][%[[C3]]][] : {{.*}} to memref<32xindex, #gpu.address_space<workgroup>>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.dealloc
// CHECK:         "use"(%[[A]], %[[B]], %[[C]], %[[D]])
gpu.module @m {
  gpu.func @pack(%i: index) workgroup(%a: memref<64x32xf16, #gpu.address_space<workgroup>>, %b: memref<3xi8, #gpu.address_space<workgroup>>) kernel {
    %c = memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
    %d = memref.alloca() : memref<32xindex, #gpu.address_space<workgroup>>
    "use"(%a, %b, %c, %d) : (memref<64x32xf16, #gpu.address_space<workgroup>>, memref<3xi8, #gpu.address_space<workgroup>>, memref<32x32xf32, #gpu.address_space<workgroup>>, memref<32xindex, #gpu.address_space<workgroup>>) -> ()
    memref.dealloc %c : memref<32x32xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// Upstream's number of the space is taken for the same. Private attributions
// and other allocations stay.
// CHECK-LABEL: gpu.func @numbered
// CHECK-SAME:    private(%{{.+}} : memref<4xf32, #gpu.address_space<private>>) kernel attributes {tessera.workgroup_bytes = 128 : i64}
// CHECK:         memref.view {{.*}} to memref<16xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.alloca() : memref<4xf32>
gpu.module @m {
  gpu.func @numbered() workgroup(%a: memref<16xf32, 3>) private(%p: memref<4xf32, #gpu.address_space<private>>) kernel {
    %q = memref.alloca() : memref<4xf32>
    "use"(%a, %p, %q) : (memref<16xf32, 3>, memref<4xf32, #gpu.address_space<private>>, memref<4xf32>) -> ()
    gpu.return
  }
}

// -----

// No workgroup memory, no attribute.
// CHECK-LABEL: gpu.func @none
// CHECK-SAME:    () kernel {
// CHECK-NEXT:    gpu.return
gpu.module @m {
  gpu.func @none() kernel {
    gpu.return
  }
}

// -----

// The kernel's own dynamic memory begins after its buffers.
// CHECK-LABEL: gpu.func @dynamic
// CHECK-SAME:    tessera.workgroup_bytes = 128 : i64
// CHECK-NEXT:    %[[ALL:.+]] = gpu.dynamic_shared_memory
// CHECK:         %[[SHIFT:.+]] = arith.constant 128 : index
// CHECK:         %[[DIM:.+]] = memref.dim %[[ALL]]
// CHECK-NEXT:    %[[SIZE:.+]] = arith.subi %[[DIM]], %[[SHIFT]]
// CHECK-NEXT:    %[[REST:.+]] = memref.view %[[ALL]][%[[SHIFT]]][%[[SIZE]]]
// CHECK-NOT:     gpu.dynamic_shared_memory
// CHECK:         "use"(%{{.+}}, %[[REST]])
gpu.module @m {
  gpu.func @dynamic() workgroup(%a: memref<16xf32, #gpu.address_space<workgroup>>) kernel {
    %d = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    "use"(%a, %d) : (memref<16xf32, #gpu.address_space<workgroup>>, memref<?xi8, #gpu.address_space<workgroup>>) -> ()
    gpu.return
  }
}
