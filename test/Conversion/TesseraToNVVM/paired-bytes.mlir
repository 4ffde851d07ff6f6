// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},tessera-use-paired-bytes,canonicalize)" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// Other chips would take each number of 16 bits by itself.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_89},tessera-use-paired-bytes)" | FileCheck %s --check-prefix=OLD
// OLD-NOT: vector.bitcast
//
// Both programs give the same bytes for all pairs of bytes, with others next to them.
// RUN: sed "s/ attributes {tessera.chip[^}]*}//" %t.mlir > %t.plain.mlir
// RUN: gpu-runner %s --target=cpu --entry=all --out=0=%t.0.npy --out=1=%t.1.npy --out=2=%t.2.npy --out=3=%t.3.npy
// RUN: gpu-runner %t.plain.mlir --target=cpu --entry=all --out=0=%t.4.npy --out=1=%t.5.npy --out=2=%t.6.npy --out=3=%t.7.npy
// RUN: cmp %t.0.npy %t.4.npy
// RUN: cmp %t.1.npy %t.5.npy
// RUN: cmp %t.2.npy %t.6.npy
// RUN: cmp %t.3.npy %t.7.npy
// The larger of 200 and 0 to 3 (without a sign), the smaller, and the same with a sign: 200 is -56.
// RUN: od -An -v -tu1 -w4 -j51328 -N4 %t.4.npy | FileCheck %s --check-prefix=MAX
// RUN: od -An -v -tu1 -w4 -j51328 -N4 %t.5.npy | FileCheck %s --check-prefix=MIN
// RUN: od -An -v -td1 -w4 -j51328 -N4 %t.6.npy | FileCheck %s --check-prefix=MAX-SIGN
// RUN: od -An -v -td1 -w4 -j51328 -N4 %t.7.npy | FileCheck %s --check-prefix=MIN-SIGN
// MAX: 200 237 18 55
// MIN: 0 1 2 3
// MAX-SIGN: 0 1 18 55
// MIN-SIGN: -56 -19 2 3

// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME:      %[[X:.+]]: vector<4xi8>, %[[Y:.+]]: vector<4xi8>
// CHECK-DAG:     %[[UPPER:.+]] = arith.constant dense<-256> : vector<2xi16>
// CHECK-DAG:     %[[LOWER:.+]] = arith.constant dense<255> : vector<2xi16>
// CHECK-DAG:     %[[A:.+]] = vector.bitcast %[[X]] : vector<4xi8> to vector<2xi16>
// CHECK-DAG:     %[[B:.+]] = vector.bitcast %[[Y]] : vector<4xi8> to vector<2xi16>
// CHECK-DAG:     %[[H:.+]] = arith.maxui %[[A]], %[[B]] : vector<2xi16>
// CHECK-DAG:     %[[A0:.+]] = arith.andi %[[A]], %[[LOWER]]
// CHECK-DAG:     %[[B0:.+]] = arith.andi %[[B]], %[[LOWER]]
// CHECK-DAG:     %[[L:.+]] = arith.maxui %[[A0]], %[[B0]] : vector<2xi16>
// CHECK-DAG:     %[[H1:.+]] = arith.andi %[[H]], %[[UPPER]]
// CHECK:         %[[W:.+]] = arith.ori %[[H1]], %[[L]]
// CHECK:         vector.bitcast %[[W]] : vector<2xi16> to vector<4xi8>
func.func @unsigned(%x: vector<4xi8>, %y: vector<4xi8>) -> vector<4xi8> {
  %z = arith.maxui %x, %y : vector<4xi8>
  return %z : vector<4xi8>
}

// CHECK-LABEL: func.func @signs(
// CHECK:         arith.minsi {{.*}} : vector<8xi16>
// CHECK:         arith.minui {{.*}} : vector<8xi16>
// CHECK-NOT:     xi8> to vector<4xi8>
// CHECK:         return
func.func @signs(%x: vector<16xi8>, %y: vector<16xi8>) -> vector<16xi8> {
  %z = arith.minsi %x, %y : vector<16xi8>
  return %z : vector<16xi8>
}

// Not whole registers; other types.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     vector.bitcast
// CHECK:         arith.maxui {{.*}} : i8
// CHECK:         arith.maxui {{.*}} : vector<6xi8>
// CHECK:         arith.maxui {{.*}} : vector<4xi16>
// CHECK:         arith.maxui {{.*}} : vector<2x4xi8>
// CHECK-NOT:     vector.bitcast
// CHECK:         return
func.func @others(%a: i8, %b: i8, %x: vector<6xi8>, %x1: vector<6xi8>, %y: vector<4xi16>, %y1: vector<4xi16>, %z: vector<2x4xi8>, %z1: vector<2x4xi8>) -> (i8, vector<6xi8>, vector<4xi16>, vector<2x4xi8>) {
  %0 = arith.maxui %a, %b : i8
  %1 = arith.maxui %x, %x1 : vector<6xi8>
  %2 = arith.maxui %y, %y1 : vector<4xi16>
  %3 = arith.maxui %z, %z1 : vector<2x4xi8>
  return %0, %1, %2, %3 : i8, vector<6xi8>, vector<4xi16>, vector<2x4xi8>
}

func.func @all(%a: memref<256x256xi8>, %b: memref<256x256xi8>, %c: memref<256x256xi8>, %d: memref<256x256xi8>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %steps = arith.constant dense<[0, 1, 2, 3]> : vector<4xi8>
  %jumps = arith.constant dense<[0, 37, 74, 111]> : vector<4xi8>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c256, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %col = arith.muli %tx, %c4 : index
    %first = arith.index_cast %bx : index to i8
    %second = arith.index_cast %col : index to i8
    %firsts = vector.broadcast %first : i8 to vector<4xi8>
    %seconds = vector.broadcast %second : i8 to vector<4xi8>
    %x = arith.addi %firsts, %jumps : vector<4xi8>
    %y = arith.addi %seconds, %steps : vector<4xi8>
    %0 = arith.maxui %x, %y : vector<4xi8>
    %1 = arith.minui %x, %y : vector<4xi8>
    %2 = arith.maxsi %x, %y : vector<4xi8>
    %3 = arith.minsi %x, %y : vector<4xi8>
    vector.store %0, %a[%bx, %col] : memref<256x256xi8>, vector<4xi8>
    vector.store %1, %b[%bx, %col] : memref<256x256xi8>, vector<4xi8>
    vector.store %2, %c[%bx, %col] : memref<256x256xi8>, vector<4xi8>
    vector.store %3, %d[%bx, %col] : memref<256x256xi8>, vector<4xi8>
    gpu.terminator
  }
  return
}
