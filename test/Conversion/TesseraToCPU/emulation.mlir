// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=emulate=gfx942},gpu.module(tessera-legalize-fragments,tessera-pack-workgroup-memory,convert-tessera-to-cpu))" --split-input-file | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=emulate=sm_80},gpu.module(tessera-legalize-fragments,tessera-pack-workgroup-memory,convert-tessera-to-cpu))" --split-input-file | FileCheck %s --check-prefix=SM80

// A matrix instruction is a call with the row as a constant, and registers in memory of the stack.
// CHECK-DAG:   llvm.mlir.global internal constant @[[ROW:.+]](dense<[16, 16, 16, 0, 0, 2, 6, 2, 2, 2, 1, 0, 2, 0, 4, 0, 8, 0, 0, 4, 0, 8, 0, 1, 0, 2, {{.*}}]> : tensor<{{[0-9]+}}xi32>)
// CHECK-DAG:   llvm.mlir.global internal constant @[[POSITION:.+]]("the matrix instruction mfma.m16n16k16.f32.f16 at {{.*}}\00")
// CHECK-DAG:   func.func private @tessera_cpu_mma(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
// CHECK-LABEL: func.func @product(
// CHECK-SAME:      %[[CTX:[a-z0-9]+]]: !llvm.ptr, %{{.+}}: memref<?xi8>) attributes {gpu.kernel, tessera.kernel}
// CHECK:         %[[A:.+]] = llvm.alloca
// CHECK:         %[[B:.+]] = llvm.alloca
// CHECK:         %[[ACC:.+]] = llvm.alloca
// CHECK:         %[[R:.+]] = llvm.mlir.addressof @[[ROW]]
// CHECK:         llvm.store %{{.+}}, %[[A]] {{.*}}: vector<4xi16>, !llvm.ptr
// CHECK:         llvm.store %{{.+}}, %[[B]] {{.*}}: vector<4xi16>, !llvm.ptr
// CHECK:         llvm.store %{{.+}}, %[[ACC]] {{.*}}: vector<4xi32>, !llvm.ptr
// CHECK:         %[[P:.+]] = llvm.mlir.addressof @[[POSITION]]
// CHECK:         call @tessera_cpu_mma(%[[CTX]], %[[R]], %[[P]], %[[A]], %[[B]], %[[ACC]])
// CHECK:         %[[SUM:.+]] = llvm.load %[[ACC]] {{.*}}: !llvm.ptr -> vector<4xi32>
// CHECK:         vector.bitcast %[[SUM]] : vector<4xi32> to vector<4xf32>
// SM80:        call @tessera_cpu_mma
// SM80:        call @tessera_cpu_mma
gpu.module @products {
  gpu.func @product(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %l = tessera.load %a[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %r = tessera.load %b[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
    %p = tessera.mma %l, %r, %z : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %p, %c[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// Lanes exchange 64 bits; a lane that asks beyond the width keeps its own.
// CHECK-LABEL: func.func @shuffles(
// CHECK:         arith.remui %{{.+}}, %c64
// CHECK:         %[[FROM:.+]] = arith.xori
// CHECK:         %[[VALID:.+]] = arith.cmpi ult, %[[FROM]], %{{.+}} : i32
// CHECK:         %[[LANE:.+]] = arith.select %[[VALID]], %[[FROM]]
// CHECK:         %[[WIDE:.+]] = arith.extui %{{.+}} : i32 to i64
// CHECK:         call @tessera_cpu_shuffle(%{{.+}}, %{{.+}}, %[[WIDE]], %[[LANE]], %c64_i32
// CHECK:         arith.trunci %{{.+}} : i64 to i32
// CHECK:         arith.bitcast %{{.+}} : i32 to f32
// SM80-LABEL:  func.func @shuffles(
// SM80:          call @tessera_cpu_shuffle(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %c32_i32
gpu.module @exchanges {
  gpu.func @shuffles(%m: memref<64xf32>, %x: f32) kernel {
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %lane = gpu.lane_id
    %y, %p = gpu.shuffle xor %x, %one, %width : f32
    scf.if %p {
      memref.store %y, %m[%lane] : memref<64xf32>
    }
    gpu.return
  }
}

// -----

// Asynchronous copies, where the chip has them; accesses to workgroup memory are checked.
// SM80-LABEL:  func.func @copies(
// SM80:          call @tessera_cpu_async_copy(%[[CTX:.+]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}})
// SM80:          call @tessera_cpu_async_commit(%[[CTX]])
// SM80:          call @tessera_cpu_async_wait(%[[CTX]], %c0_i64
// SM80:          call @tessera_cpu_barrier(%[[CTX]])
// SM80:          call @tessera_cpu_access(%[[CTX]],
// SM80-NEXT:     vector.load
gpu.module @memory {
  gpu.func @copies(%a: memref<16x16xf16>, %c: memref<16x16xf16>)
      workgroup(%tile: memref<16x16xf16, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %a[%c0, %c0], %tile[%c0, %c0] shape [16, 16]
        : memref<16x16xf16>, memref<16x16xf16, #gpu.address_space<workgroup>>
    tessera.wait pending 0
    gpu.barrier
    %f = tessera.load %tile[%c0, %c0]
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, acc>
    tessera.store %f, %c[%c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<16x16xf16>
    gpu.return
  }
}
