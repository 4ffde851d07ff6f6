// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_70" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,SM70
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_75" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,SM75
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_89" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,SM80,SM89
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx512" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=generic" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,GENERIC

//===----------------------------------------------------------------------===//
// Which instruction
//===----------------------------------------------------------------------===//

// All fragments connected to an mma have its instruction's distribution.
// CHECK-LABEL: func @f16
// SM70:        tessera.load {{.*}}<32x32xf16, a, "mma.m8n8k4.f32.f16">
// SM70:        tessera.mma {{.*}} {tessera.instruction = "mma.m8n8k4.f32.f16"}
// SM75:        tessera.mma {{.*}} {tessera.instruction = "mma.m16n8k8.f32.f16"}
// SM80:        %[[A:.+]] = tessera.load {{.*}} -> <32x32xf16, a, "mma.m16n8k16.f32.f16">
// SM80:        %[[B:.+]] = tessera.load {{.*}} -> <32x32xf16, b, "mma.m16n8k16.f32.f16">
// SM80:        %[[C:.+]] = tessera.fill {{.*}} : !tessera.fragment<32x32xf32, acc, "mma.m16n8k16.f32.f16">
// SM80:        %[[D:.+]] = tessera.mma %[[A]], %[[B]], %[[C]] {tessera.instruction = "mma.m16n8k16.f32.f16"}
// SM80-SAME:     -> <32x32xf32, acc, "mma.m16n8k16.f32.f16">
// SM80:        tessera.store %[[D]], {{.*}} : <32x32xf32, acc, "mma.m16n8k16.f32.f16">
// SM90:        tessera.mma {{.*}} {tessera.instruction = "mma.m16n8k16.f32.f16"}
// AVX512:      tessera.mma {{.*}} {tessera.instruction = "fma.m1n16k16.f32.f16"}
// GENERIC:     tessera.mma {{.*}} {tessera.instruction = "fma.m1n4k16.f32.f16"}
func.func @f16(%A: memref<32x32xf16>, %B: memref<32x32xf16>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<32x32xf16, a>
  %b = tessera.load %B[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<32x32xf16, b>
  %c = tessera.fill %zero : !tessera.fragment<32x32xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<32x32xf16, a>, !tessera.fragment<32x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<32x32xf32>
  return
}

// CHECK-LABEL: func @f16_f16
// SM70:        "mma.m8n8k4.f16.f16"
// SM75:        "mma.m16n8k8.f16.f16"
// SM80:        "mma.m16n8k16.f16.f16"
// SM90:        "mma.m16n8k16.f16.f16"
// AVX512:      "fma.m1n32k16.f16.f16"
// GENERIC:     "fma.m1n8k16.f16.f16"
func.func @f16_f16(%A: memref<32x32xf16>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<32x32xf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<32x32xf16, b>
  %c = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<32x32xf16, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<32x32xf16, a>, !tessera.fragment<32x32xf16, b> -> !tessera.fragment<32x32xf16, acc>
  return
}

// CHECK-LABEL: func @bf16
// SM70:        "fma.m16n32k1.f32.bf16"
// SM75:        "fma.m16n32k1.f32.bf16"
// SM80:        "mma.m16n8k16.f32.bf16"
// SM90:        "mma.m16n8k16.f32.bf16"
// AVX512:      "fma.m1n16k16.f32.bf16"
func.func @bf16(%A: memref<32x32xbf16>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xbf16> -> !tessera.fragment<32x32xbf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xbf16> -> !tessera.fragment<32x32xbf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<32x32xbf16, a>, !tessera.fragment<32x32xbf16, b> -> !tessera.fragment<32x32xf32, acc>
  return
}

// An IEEE mma does not use tf32.
// CHECK-LABEL: func @f32
// SM70:        "fma.m16n32k4.f32.f32"
// SM75:        "fma.m16n32k4.f32.f32"
// SM80:        "fma.m16n32k4.f32.f32"
// SM90:        "fma.m16n32k4.f32.f32"
// AVX512:      "fma.m1n16k16.f32.f32"
func.func @f32(%A: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, b>
  %c = tessera.load %A[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<32x32xf32, a>, !tessera.fragment<32x32xf32, b> -> !tessera.fragment<32x32xf32, acc>
  return
}

// CHECK-LABEL: func @tf32
// SM70:        "fma.m16n32k4.f32.f32"
// SM75:        "fma.m16n32k4.f32.f32"
// SM80:        "mma.m16n8k8.f32.tf32"
// SM90:        "mma.m16n8k8.f32.tf32"
// AVX512:      "fma.m1n16k16.f32.f32"
func.func @tf32(%A: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, b>
  %c = tessera.load %A[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, acc>
  %d = tessera.mma %a, %b, %c precision tf32 : !tessera.fragment<32x32xf32, a>, !tessera.fragment<32x32xf32, b> -> !tessera.fragment<32x32xf32, acc>
  return
}

// CHECK-LABEL: func @f64
// SM70:        "fma.m16n32k1.f64.f64"
// SM75:        "fma.m16n32k1.f64.f64"
// SM80:        "mma.m8n8k4.f64.f64"
// SM90:        "mma.m16n8k16.f64.f64"
// AVX512:      "fma.m1n8k16.f64.f64"
func.func @f64(%A: memref<32x32xf64>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf64> -> !tessera.fragment<32x32xf64, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf64> -> !tessera.fragment<32x32xf64, b>
  %c = tessera.load %A[%c0, %c0] : memref<32x32xf64> -> !tessera.fragment<32x32xf64, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<32x32xf64, a>, !tessera.fragment<32x32xf64, b> -> !tessera.fragment<32x32xf64, acc>
  return
}

// CHECK-LABEL: func @i8
// SM70:        "fma.m16n32k1.i32.i8"
// SM75:        "mma.m8n8k16.i32.i8"
// SM80:        "mma.m16n8k32.i32.i8"
// SM90:        "mma.m16n8k32.i32.i8"
// AVX512:      "fma.m1n16k16.i32.i8"
func.func @i8(%A: memref<32x32xi8>, %C: memref<32x32xi32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xi8> -> !tessera.fragment<32x32xi8, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xi8> -> !tessera.fragment<32x32xi8, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xi32> -> !tessera.fragment<32x32xi32, acc>
  %d = tessera.mma %a, %b, %c unsigned_a : !tessera.fragment<32x32xi8, a>, !tessera.fragment<32x32xi8, b> -> !tessera.fragment<32x32xi32, acc>
  return
}

// CHECK-LABEL: func @f8
// SM75:        "fma.m16n32k1.f32.f8E4M3FN.f8E5M2"
// SM89:        "mma.m16n8k32.f32.f8E4M3FN.f8E5M2"
// SM90:        "mma.m16n8k32.f32.f8E4M3FN.f8E5M2"
// AVX512:      "fma.m1n16k16.f32.f8E4M3FN.f8E5M2"
func.func @f8(%A: memref<32x32xf8E4M3FN>, %B: memref<32x32xf8E5M2>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf8E4M3FN> -> !tessera.fragment<32x32xf8E4M3FN, a>
  %b = tessera.load %B[%c0, %c0] : memref<32x32xf8E5M2> -> !tessera.fragment<32x32xf8E5M2, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<32x32xf8E4M3FN, a>, !tessera.fragment<32x32xf8E5M2, b> -> !tessera.fragment<32x32xf32, acc>
  return
}

// An odd shape uses a smaller instruction that divides it.
// CHECK-LABEL: func @odd
// SM70:        "fma.m1n1k1.f32.f16"
// SM80:        "fma.m1n1k1.f32.f16"
// AVX512:      "fma.m1n1k1.f32.f16"
func.func @odd(%A: memref<32x32xf16>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<3x5xf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<5x7xf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<3x7xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<3x5xf16, a>, !tessera.fragment<5x7xf16, b> -> !tessera.fragment<3x7xf32, acc>
  return
}

//===----------------------------------------------------------------------===//
// Fragments without an mma
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @plain
// SM80:        tessera.load {{.*}} -> <32x32xf32, acc, "mma.m16n8k16.f32.f16">
// SM80:        tessera.load {{.*}} -> <32x32xbf16, a, "mma.m16n8k16.f32.bf16">
// A row of another element type's: a map knows no types.
// SM80:        tessera.load {{.*}} -> <32x32xi32, b, "fma.m16n32k4.f32.f32">
// AVX512:      tessera.load {{.*}} -> <32x32xf32, acc, "fma.m1n16k16.f32.f32">
func.func @plain(%A: memref<32x32xf32>, %B: memref<32x32xbf16>, %C: memref<32x32xi32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, acc>
  %b = tessera.load %B[%c0, %c0] : memref<32x32xbf16> -> !tessera.fragment<32x32xbf16, a>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xi32> -> !tessera.fragment<32x32xi32, b>
  return
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

// Loops, branches, selects and maps hand the distribution on.
// CHECK-LABEL: func @flow
// SM80:        scf.for {{.*}} -> (!tessera.fragment<32x32xf32, acc, "mma.m16n8k16.f32.f16">)
// SM80:        scf.if {{.*}} -> (!tessera.fragment<32x32xf32, acc, "mma.m16n8k16.f32.f16">)
// SM80:        scf.while {{.*}} : (!tessera.fragment<32x32xf32, acc, "mma.m16n8k16.f32.f16">) -> !tessera.fragment<32x32xf32, acc, "mma.m16n8k16.f32.f16">
// SM80:        ^bb0(%{{.+}}: !tessera.fragment<32x32xf32, acc, "mma.m16n8k16.f32.f16">)
// SM80:        arith.select {{.*}} : !tessera.fragment<32x32xf32, acc, "mma.m16n8k16.f32.f16">
// SM80:        tessera.map {{.*}} -> <32x32xf16, acc, "mma.m16n8k16.f32.f16">
// SM80-NOT:    tessera.convert
func.func @flow(%A: memref<32x32xf16>, %C: memref<32x32xf32>, %D: memref<32x32xf16>, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<32x32xf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<32x32xf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, acc>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (!tessera.fragment<32x32xf32, acc>) {
    %d = tessera.mma %a, %b, %acc : !tessera.fragment<32x32xf16, a>, !tessera.fragment<32x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
    scf.yield %d : !tessera.fragment<32x32xf32, acc>
  }
  %e = scf.if %p -> !tessera.fragment<32x32xf32, acc> {
    scf.yield %sum : !tessera.fragment<32x32xf32, acc>
  } else {
    %other = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, acc>
    scf.yield %other : !tessera.fragment<32x32xf32, acc>
  }
  %f = scf.while (%x = %e) : (!tessera.fragment<32x32xf32, acc>) -> !tessera.fragment<32x32xf32, acc> {
    scf.condition(%p) %x : !tessera.fragment<32x32xf32, acc>
  } do {
  ^bb0(%y: !tessera.fragment<32x32xf32, acc>):
    scf.yield %y : !tessera.fragment<32x32xf32, acc>
  }
  %another = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<32x32xf32, acc>
  %g = arith.select %p, %f, %another : !tessera.fragment<32x32xf32, acc>
  %h = tessera.map %g : !tessera.fragment<32x32xf32, acc> -> !tessera.fragment<32x32xf16, acc> {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f16
    tessera.yield %y : f16
  }
  tessera.store %h, %D[%c0, %c0] : !tessera.fragment<32x32xf16, acc>, memref<32x32xf16>
  return
}

// Blocks that branch, too.
// CHECK-LABEL: func @blocks
// SM80:        ^bb1(%{{.+}}: !tessera.fragment<16x16xf32, acc, "mma.m16n8k16.f32.f16">
func.func @blocks(%A: memref<32x32xf16>, %C: memref<32x32xf32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x16xf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x16xf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<16x16xf32, acc>
  cf.br ^loop(%c : !tessera.fragment<16x16xf32, acc>)
^loop(%acc: !tessera.fragment<16x16xf32, acc>):
  %d = tessera.mma %a, %b, %acc : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  cf.cond_br %p, ^loop(%d : !tessera.fragment<16x16xf32, acc>), ^done
^done:
  return
}

// Chained matmuls: the accumulator becomes an operand, by a conversion that the
// program contains already.
// CHECK-LABEL: func @chain
// SM80:        %[[S:.+]] = tessera.mma {{.*}}"mma.m16n8k16.f32.f16"
// SM80:        %[[P:.+]] = tessera.convert %[[S]] : <16x16xf32, acc, "mma.m16n8k16.f32.f16"> -> <16x16xf16, a, "mma.m16n8k16.f32.f16">
// SM80-NEXT:   tessera.mma %[[P]]
func.func @chain(%A: memref<32x32xf16>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x16xf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x16xf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<16x16xf32, acc>
  %s = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  %p = tessera.convert %s : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf16, a>
  %d = tessera.mma %p, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// Vectors are distributed as the matrices they come from and go to.
// CHECK-LABEL: func @vectors
// SM80:        tessera.reduce max {{.*}} -> !tessera.fragment<16x1xf32, acc, "mma.m16n8k16.f32.f16">
// SM80:        tessera.broadcast {{.*}} : !tessera.fragment<16x1xf32, acc, "mma.m16n8k16.f32.f16"> -> <16x16xf32, acc, "mma.m16n8k16.f32.f16">
// SM80:        tessera.broadcast {{.*}} : memref<32xf32> -> <16x16xf32, acc, "mma.m16n8k16.f32.f16">
func.func @vectors(%A: memref<32x32xf16>, %C: memref<32x32xf32>, %v: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x16xf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x16xf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<16x16xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  %max = tessera.reduce max %d dimension 1 : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x1xf32, acc>
  %wide = tessera.broadcast %max dimension 1 : !tessera.fragment<16x1xf32, acc> -> !tessera.fragment<16x16xf32, acc>
  %bias = tessera.broadcast %v[%c0] dimension 0 : memref<32xf32> -> !tessera.fragment<16x16xf32, acc>
  %e = tessera.map %d, %wide, %bias : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    %t = arith.addf %s, %z : f32
    tessera.yield %t : f32
  }
  tessera.store %e, %C[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<32x32xf32>
  return
}

// One value, two instructions with other maps: it is moved for the second, and back for the users
// of the result. Several times, each on its own.
// CHECK-LABEL: func @conflict
// SM80:        %[[D:.+]] = tessera.mma {{.*}} {tessera.instruction = "mma.m16n8k16.f32.f16"} {{.*}} -> <16x16xf32, acc, "mma.m16n8k16.f32.f16">
// SM80-NEXT:   %[[X:.+]] = tessera.convert %[[D]] : <16x16xf32, acc, "mma.m16n8k16.f32.f16"> -> <16x16xf32, acc, "mma.m8n8k4.f32.f16">
// SM80-NEXT:   %[[E:.+]] = tessera.mma %{{.+}}, %{{.+}}, %[[X]] {tessera.instruction = "mma.m8n8k4.f32.f16"}
// SM80-NEXT:   %[[Y:.+]] = tessera.convert %[[E]] : <16x16xf32, acc, "mma.m8n8k4.f32.f16"> -> <16x16xf32, acc, "mma.m16n8k16.f32.f16">
// SM80-NEXT:   %[[Z:.+]] = tessera.convert %[[Y]]
// SM80-NEXT:   %[[F:.+]] = tessera.mma %{{.+}}, %{{.+}}, %[[Z]] {tessera.instruction = "mma.m8n8k4.f32.f16"}
// SM80-NEXT:   %[[W:.+]] = tessera.convert %[[F]] : <16x16xf32, acc, "mma.m8n8k4.f32.f16"> -> <16x16xf32, acc, "mma.m16n8k16.f32.f16">
// SM80-NEXT:   tessera.store %[[W]]
// One instruction does both.
// SM70:        tessera.mma
// SM70-NEXT:   tessera.mma
func.func @conflict(%A: memref<32x32xf16>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x16xf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x16xf16, b>
  %a4 = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x4xf16, a>
  %b4 = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<4x16xf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<16x16xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  %e = tessera.mma %a4, %b4, %d : !tessera.fragment<16x4xf16, a>, !tessera.fragment<4x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  %f = tessera.mma %a4, %b4, %e : !tessera.fragment<16x4xf16, a>, !tessera.fragment<4x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  tessera.store %f, %C[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<32x32xf32>
  return
}

// The same for an operand: one fragment of a, for a shape the matrix unit does
// and for one that it does not.
// CHECK-LABEL: func @operand_conflict
// SM80:        tessera.convert {{.*}} : <16x32xi8, a, "mma.m16n8k32.i32.i8"> -> <16x32xi8, a, "fma.m1n1k1.i32.i8">
// SM75:        %[[A:.+]] = tessera.load {{.*}} -> <16x32xi8, a, "mma.m8n8k16.i32.i8">
// SM75:        %[[M:.+]] = tessera.convert %[[A]] : <16x32xi8, a, "mma.m8n8k16.i32.i8"> -> <16x32xi8, a, "fma.m1n1k1.i32.i8">
// SM75:        tessera.mma %[[M]]
func.func @operand_conflict(%A: memref<32x32xi8>, %C: memref<32x32xi32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xi8> -> !tessera.fragment<16x32xi8, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xi8> -> !tessera.fragment<32x8xi8, b>
  %b5 = tessera.load %A[%c0, %c0] : memref<32x32xi8> -> !tessera.fragment<32x5xi8, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xi32> -> !tessera.fragment<16x8xi32, acc>
  %c5 = tessera.load %C[%c0, %c0] : memref<32x32xi32> -> !tessera.fragment<16x5xi32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x8xi8, b> -> !tessera.fragment<16x8xi32, acc>
  %e = tessera.mma %a, %b5, %c5 : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x5xi8, b> -> !tessera.fragment<16x5xi32, acc>
  return
}

// Along a conversion of the element type, the map stays: nothing moves.
// CHECK-LABEL: func @converted
// SM80:        tessera.convert {{.*}} : <16x16xf32, acc, "mma.m16n8k16.f32.f16"> -> <16x16xf16, acc, "mma.m16n8k16.f32.f16">
// SM80:        tessera.convert {{.*}} : <16x16xi32, acc, "mma.m16n8k16.f32.f16"> -> <16x16xf32, acc, "mma.m16n8k16.f32.f16">
func.func @converted(%A: memref<32x32xf16>, %C: memref<32x32xi32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x16xf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<16x16xf16, b>
  %i = tessera.load %C[%c0, %c0] : memref<32x32xi32> -> !tessera.fragment<16x16xi32, acc>
  %zero = arith.constant 0.0 : f32
  %c = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  %h = tessera.convert %d : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf16, acc>
  tessera.store %h, %A[%c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<32x32xf16>
  %f = tessera.convert %i : !tessera.fragment<16x16xi32, acc> -> !tessera.fragment<16x16xf32, acc>
  %s = tessera.map %d, %f : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tessera.yield %z : f32
  }
  return
}
