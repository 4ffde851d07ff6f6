// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=x86-64-avx512-vnni},gpu.module(tessera-legalize-fragments,tessera-pack-workgroup-memory,convert-tessera-to-cpu))" --split-input-file | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=x86-64-avx512},gpu.module(tessera-legalize-fragments,tessera-pack-workgroup-memory,convert-tessera-to-cpu))" --split-input-file | FileCheck %s --check-prefix=PAIRS

// Two signed operands: the bytes of a have an offset of 128, which is taken from the sums of each column.

// CHECK-LABEL: func.func @signed
// CHECK:         %[[B:.+]] = vector.shuffle %{{.+}} [0, 16, 32, 48, 1, 17, 33, 49, {{.+}}] : vector<64xi8>, vector<64xi8>
// CHECK:         %[[ZERO:.+]] = arith.constant dense<0> : vector<16xi32>
// CHECK:         %[[OFFSET:.+]] = arith.constant dense<-128> : vector<64xi8>
// CHECK:         %[[ADDED:.+]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%[[ZERO]], %[[OFFSET]], %[[B]])
// CHECK:         %[[WORDS:.+]] = vector.broadcast %{{.+}} : i32 to vector<16xi32>
// CHECK:         %[[A:.+]] = vector.bitcast %[[WORDS]] : vector<16xi32> to vector<64xi8>
// CHECK:         %[[MOVED:.+]] = arith.xori %[[A]], %{{.+}} : vector<64xi8>
// CHECK:         %[[SUM:.+]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.+}}, %[[MOVED]], %[[B]])
// CHECK:         arith.subi %[[SUM]], %[[ADDED]] : vector<16xi32>

// Without dot products: two elements of K at a time.
// PAIRS-LABEL: func.func @signed
// PAIRS-COUNT-2: arith.muli %{{.+}}, %{{.+}} overflow<nsw> : vector<32xi32>
gpu.module @m {
  gpu.func @signed(%A: memref<1x4xi8>, %B: memref<4x16xi8>, %C: memref<1x16xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<1x4xi8> -> !tessera.fragment<1x4xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<4x16xi8> -> !tessera.fragment<4x16xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<1x16xi32> -> !tessera.fragment<1x16xi32, acc>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<1x4xi8, a>, !tessera.fragment<4x16xi8, b> -> !tessera.fragment<1x16xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<1x16xi32, acc>, memref<1x16xi32>
    gpu.return
  }
}

// -----

// One of each sign: the unsigned bytes are the second operand, whichever they are.

// CHECK-LABEL: func.func @mixed
// CHECK-NOT:     arith.xori
// CHECK:         %[[B:.+]] = vector.shuffle %{{.+}} [0, 16, 32, 48, 1,
// CHECK:         %[[A:.+]] = vector.bitcast %{{.+}} : vector<16xi32> to vector<64xi8>
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.+}}, %[[B]], %[[A]])
gpu.module @m {
  gpu.func @mixed(%A: memref<1x4xi8>, %B: memref<4x16xi8>, %C: memref<1x16xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<1x4xi8> -> !tessera.fragment<1x4xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<4x16xi8> -> !tessera.fragment<4x16xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<1x16xi32> -> !tessera.fragment<1x16xi32, acc>
    %d = tessera.mma %a, %b, %c unsigned_b : !tessera.fragment<1x4xi8, a>, !tessera.fragment<4x16xi8, b> -> !tessera.fragment<1x16xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<1x16xi32, acc>, memref<1x16xi32>
    gpu.return
  }
}
