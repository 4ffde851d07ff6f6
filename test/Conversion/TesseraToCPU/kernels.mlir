// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=x86-64-avx512},gpu.module(tessera-legalize-fragments,tessera-pack-workgroup-memory,convert-tessera-to-cpu))" --split-input-file | FileCheck %s

// A kernel is a function of its arguments, its context and its workgroup memory.
// CHECK-LABEL: gpu.module @m
// CHECK:         func.func private @tessera_cpu_barrier(!llvm.ptr)
// CHECK:         func.func @ids(%{{.+}}: memref<?xindex>, %[[CTX:.+]]: !llvm.ptr, %{{.+}}: memref<?xi8>) attributes {gpu.kernel, tessera.kernel} {
// The fields of the context: workgroup, grid, block, thread.
// CHECK:           llvm.getelementptr inbounds %[[CTX]][1]
// CHECK-NEXT:      %[[B:.+]] = llvm.load %{{.+}} invariant {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK-NEXT:      arith.index_cast %[[B]] : i64 to index
// CHECK:           llvm.getelementptr inbounds %[[CTX]][3]
// CHECK:           llvm.getelementptr inbounds %[[CTX]][8]
// CHECK:           llvm.getelementptr inbounds %[[CTX]][9]
// CHECK:           llvm.getelementptr inbounds %[[CTX]][2]
// CHECK:           llvm.getelementptr inbounds %[[CTX]][8]
// CHECK:           llvm.getelementptr inbounds %[[CTX]][11]
// CHECK:           arith.muli
// CHECK:           arith.addi
// CHECK:           call @tessera_cpu_barrier(%[[CTX]]) : (!llvm.ptr) -> ()
// CHECK:           return
gpu.module @m {
  gpu.func @ids(%m: memref<?xindex>) kernel {
    %b = gpu.block_id y
    %g = gpu.grid_dim x
    %n = gpu.block_dim z
    %t = gpu.thread_id x
    %i = gpu.global_id z
    memref.store %b, %m[%g] : memref<?xindex>
    memref.store %n, %m[%t] : memref<?xindex>
    memref.store %i, %m[%t] : memref<?xindex>
    gpu.barrier
    gpu.return
  }
}

// -----

// A lone thread has no barriers.
// CHECK-LABEL:   func.func @alone
// CHECK:           memref.store
// CHECK-NOT:       call @tessera_cpu_barrier
// CHECK:           memref.load
// CHECK:           return
// CHECK-LABEL:   func.func @pair
// CHECK:           call @tessera_cpu_barrier
// CHECK:           return
gpu.module @m {
  gpu.func @alone(%m: memref<2xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    memref.store %x, %m[%c0] : memref<2xf32>
    gpu.barrier
    %y = memref.load %m[%c0] : memref<2xf32>
    memref.store %y, %m[%c1] : memref<2xf32>
    gpu.return
  }
  gpu.func @pair() kernel attributes {known_block_size = array<i32: 1, 2, 1>} {
    gpu.barrier
    gpu.return
  }
}

// -----

// Workgroup memory is an argument; spaces go.
// CHECK:         func.func @memory(%[[X:.+]]: f32, %{{.+}}: !llvm.ptr, %[[W:.+]]: memref<?xi8>) attributes {gpu.kernel, tessera.kernel, tessera.workgroup_bytes = 128 : i64}
// CHECK:           memref.view %[[W]][%{{.+}}][] : memref<?xi8> to memref<16xf32>
// CHECK-NOT:       memory_space_cast
// CHECK:           memref.store %[[X]], %{{.+}} : memref<16xf32>
gpu.module @m {
  gpu.func @memory(%x: f32) workgroup(%w: memref<16xf32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %p = memref.memory_space_cast %w : memref<16xf32, #gpu.address_space<workgroup>> to memref<16xf32>
    memref.store %x, %p[%c0] : memref<16xf32>
    gpu.return
  }
}

// -----

// An mma multiplies a splat of an element of a by a vector of b.
// CHECK-LABEL:   func.func @product
// CHECK-COUNT-2: memref.load {{.*}} : memref<2x1xf32>
// CHECK-COUNT-2: vector.load {{.*}} : memref<1x32xf32>, vector<16xf32>
// CHECK-COUNT-4: math.fma %{{.+}}, %{{.+}}, %{{.+}} : vector<16xf32>
// CHECK-NOT:     math.fma
// CHECK-COUNT-4: vector.store {{.*}} : memref<2x32xf32>, vector<16xf32>
gpu.module @m {
  gpu.func @product(%A: memref<2x1xf32>, %B: memref<1x32xf32>, %C: memref<2x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tessera.load %A[%c0, %c0] : memref<2x1xf32> -> !tessera.fragment<2x1xf32, a>
    %b = tessera.load %B[%c0, %c0] : memref<1x32xf32> -> !tessera.fragment<1x32xf32, b>
    %c = tessera.fill %zero : !tessera.fragment<2x32xf32, acc>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<2x1xf32, a>, !tessera.fragment<1x32xf32, b> -> !tessera.fragment<2x32xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<2x32xf32, acc>, memref<2x32xf32>
    gpu.return
  }
}

// -----

// Unsigned bytes are extended so; integers are multiplied and added.
// CHECK-LABEL:   func.func @integers
// CHECK:         arith.extui {{.*}} : vector<1xi8> to vector<1xi32>
// CHECK:         arith.extsi {{.*}} : vector<16xi8> to vector<16xi32>
// CHECK:         arith.muli {{.*}} : vector<16xi32>
// CHECK:         arith.addi {{.*}} : vector<16xi32>
gpu.module @m {
  gpu.func @integers(%A: memref<1x1xi8>, %B: memref<1x16xi8>, %C: memref<1x16xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<1x1xi8> -> !tessera.fragment<1x1xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<1x16xi8> -> !tessera.fragment<1x16xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<1x16xi32> -> !tessera.fragment<1x16xi32, acc>
    %d = tessera.mma %a, %b, %c unsigned_a : !tessera.fragment<1x1xi8, a>, !tessera.fragment<1x16xi8, b> -> !tessera.fragment<1x16xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<1x16xi32, acc>, memref<1x16xi32>
    gpu.return
  }
}

// -----

// Asynchronous copies are copies; there is nothing to wait for. One thread
// copies in loops without a division.
// CHECK-LABEL:   func.func @copy
// CHECK:         scf.for
// CHECK:         vector.load
// CHECK:         vector.store
// CHECK-NOT:     arith.divui
// CHECK-NOT:     wait
// CHECK:         return
gpu.module @m {
  gpu.func @copy(%g: memref<64x32xf32>) workgroup(%w: memref<64x32xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %g[%c0, %c0], %w[%c0, %c0] shape [64, 32] : memref<64x32xf32>, memref<64x32xf32, #gpu.address_space<workgroup>>
    tessera.wait for %t
    gpu.return
  }
}

// -----

// A subgroup has one lane: nothing is shuffled.
// CHECK-LABEL:   func.func @reduce
// CHECK-NOT:     gpu.shuffle
// CHECK:         %[[SUM:.+]] = arith.addf %{{.+}}, %{{.+}} : vector<16xf32>
// CHECK:         vector.reduction <add>, %[[SUM]] fastmath<reassoc> : vector<16xf32> into f32
// CHECK-NOT:     arith.addf
// CHECK:         return
gpu.module @m {
  gpu.func @reduce(%m: memref<1x32xf32>, %o: memref<1x1xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.load %m[%c0, %c0] : memref<1x32xf32> -> !tessera.fragment<1x32xf32, acc>
    %r = tessera.reduce add %f dimension 1 : !tessera.fragment<1x32xf32, acc> -> !tessera.fragment<1x1xf32, acc>
    tessera.store %r, %o[%c0, %c0] : !tessera.fragment<1x1xf32, acc>, memref<1x1xf32>
    gpu.return
  }
}

// -----

// Columns are read as vectors and transposed in registers: 4 steps of 16
// shuffles, and 3 more to join 4 parts to each row. At the edge, the same with
// masks.
// CHECK-LABEL:   func.func @transposed
// CHECK:         scf.if
// CHECK-COUNT-16: vector.load {{.*}} : memref<?x?xf32>, vector<4xf32>
// CHECK-COUNT-76: vector.shuffle
// CHECK-NOT:     vector.shuffle
// CHECK:         } else {
// CHECK-COUNT-16: vector.maskedload
// CHECK-COUNT-76: vector.shuffle
// CHECK-NOT:     vector.shuffle
// CHECK:         return
gpu.module @m {
  gpu.func @transposed(%m: memref<?x?xf32>, %o: memref<4x16xf32>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.load %m[%i, %c0] transpose : memref<?x?xf32> -> !tessera.fragment<4x16xf32, acc>
    tessera.store %f, %o[%c0, %c0] : !tessera.fragment<4x16xf32, acc>, memref<4x16xf32>
    gpu.return
  }
}

// -----

// Coordinates are vectors, since a tile is a row.
// CHECK-LABEL:   func.func @coordinates
// CHECK-COUNT-2: arith.cmpi sge, %{{.+}}, %{{.+}} : vector<16xindex>
// CHECK-NOT:     arith.cmpi
// CHECK:         return
gpu.module @m {
  gpu.func @coordinates(%m: memref<1x32xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c20 = arith.constant 20 : index
    %f = tessera.load %m[%c0, %c0] : memref<1x32xf32> -> !tessera.fragment<1x32xf32, acc>
    %g = tessera.map %f : !tessera.fragment<1x32xf32, acc> -> !tessera.fragment<1x32xf32, acc> {
    ^bb0(%e: f32, %i: index, %j: index):
      %is = arith.cmpi sge, %j, %c20 : index
      %y = arith.select %is, %e, %x : f32
      tessera.yield %y : f32
    }
    tessera.store %g, %m[%c0, %c0] : !tessera.fragment<1x32xf32, acc>, memref<1x32xf32>
    gpu.return
  }
}
