// RUN: gpu-opt %s --tessera-expand-collectives --split-input-file --verify-diagnostics | FileCheck %s

// Three threads: the first combines with the third, then with the second.
// CHECK-LABEL: func @sum
// CHECK:         gpu.launch {{.*}} threads(%[[X:.+]], %{{.+}}, %{{.+}}) in
// CHECK-SAME:      workgroup(%[[M:.+]] : memref<3xf32, #gpu.address_space<workgroup>>)
// CHECK:           memref.store %{{.+}}, %[[M]][%[[X]]]
// CHECK-NEXT:      gpu.barrier
// CHECK:           %[[ONE:.+]] = arith.constant 1 : index
// CHECK-NEXT:      %[[FIRST:.+]] = arith.cmpi ult, %[[X]], %[[ONE]]
// CHECK-NEXT:      scf.if %[[FIRST]] {
// CHECK:             arith.constant 2 : index
// CHECK:             arith.addf
// CHECK-NEXT:        memref.store
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.barrier
// CHECK:           scf.if
// CHECK:             arith.constant 1 : index
// CHECK:             arith.addf
// CHECK:           gpu.barrier
// CHECK-NOT:       scf.if
// CHECK:           %[[R:.+]] = memref.load %[[M]]
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      memref.store %[[R]]
func.func @sum(%in: memref<3xf32>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c3, %sy = %c1, %sz = %c1) {
    %x = memref.load %in[%tx] : memref<3xf32>
    %s = gpu.all_reduce add %x {} : (f32) -> (f32)
    memref.store %s, %in[%tx] : memref<3xf32>
    gpu.terminator
  }
  return
}

// -----

// Reductions of one type share memory.
// CHECK-LABEL: func @two
// CHECK:         workgroup(%{{[^,]+}} : memref<2xi32, #gpu.address_space<workgroup>>) {
// CHECK-NOT:     gpu.all_reduce
func.func @two(%in: memref<2xi32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c2, %sy = %c1, %sz = %c1) {
    %x = memref.load %in[%tx] : memref<2xi32>
    %s = gpu.all_reduce xor %x {} : (i32) -> (i32)
    %t = gpu.all_reduce maxui %s {} : (i32) -> (i32)
    memref.store %t, %in[%tx] : memref<2xi32>
    gpu.terminator
  }
  return
}

// -----

func.func @dynamic(%in: memref<?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    %x = memref.load %in[%tx] : memref<?xf32>
    // expected-error @below {{gpu.all_reduce requires a workgroup of a constant size}}
    %s = gpu.all_reduce add %x {} : (f32) -> (f32)
    memref.store %s, %in[%tx] : memref<?xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @narrow(%in: memref<2xi4>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c2, %sy = %c1, %sz = %c1) {
    %x = memref.load %in[%tx] : memref<2xi4>
    // expected-error @below {{gpu.all_reduce of 'i4' is not supported: use index, an integer of 8, 16, 32 or 64 bits, f16, bf16, f32 or f64}}
    %s = gpu.all_reduce add %x {} : (i4) -> (i4)
    memref.store %s, %in[%tx] : memref<2xi4>
    gpu.terminator
  }
  return
}
