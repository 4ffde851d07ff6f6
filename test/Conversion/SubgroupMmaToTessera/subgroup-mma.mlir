// RUN: gpu-opt %s --convert-subgroup-mma-to-tessera --split-input-file | FileCheck %s

// Every op, and the launch: one subgroup of 32 threads becomes one of whatever
// size.
// CHECK-LABEL: func @ops
// CHECK-SAME:    %[[A:.+]]: memref<32x64xf16>, %[[B:.+]]: memref<64x32xf16>, %[[C:.+]]: memref<32x32xf32>
// CHECK:         %[[SIZE:.+]] = gpu.subgroup_size : index
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %[[SIZE]],
// CHECK:           %[[FA:.+]] = tessera.load %[[A]][%{{.+}}, %{{.+}}] in_bounds : memref<32x64xf16> -> <16x16xf16, a>
// CHECK:           %[[FB:.+]] = tessera.load %[[B]][%{{.+}}, %{{.+}}] transpose in_bounds : memref<64x32xf16> -> <16x16xf16, b>
// CHECK:           %[[FC:.+]] = tessera.fill %{{.+}} : !tessera.fragment<16x16xf32, acc>
// CHECK:           %[[FD:.+]] = tessera.mma %[[FA]], %[[FB]], %[[FC]] :
// CHECK:           %[[FE:.+]] = tessera.map %[[FD]], %[[FC]] :
// CHECK-NEXT:      ^bb0(%[[X:.+]]: f32, %[[Y:.+]]: f32):
// CHECK-NEXT:        %[[Z:.+]] = arith.maximumf %[[X]], %[[Y]] : f32
// CHECK-NEXT:        tessera.yield %[[Z]]
// CHECK:           tessera.store %[[FE]], %[[C]][%{{.+}}, %{{.+}}] in_bounds : <16x16xf32, acc>, memref<32x32xf32>
// CHECK:           tessera.store %[[FE]], %[[C]][%{{.+}}, %{{.+}}] transpose in_bounds
// CHECK-NOT:       gpu.subgroup_mma
func.func @ops(%A: memref<32x64xf16>, %B: memref<64x32xf16>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %a = gpu.subgroup_mma_load_matrix %A[%c0, %c0] {leadDimension = 64 : index} : memref<32x64xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    %b = gpu.subgroup_mma_load_matrix %B[%c0, %c0] {leadDimension = 32 : index, transpose} : memref<64x32xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
    %c = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf32, "COp">
    %d = gpu.subgroup_mma_compute %a, %b, %c : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
    %e = gpu.subgroup_mma_elementwise maxf %d, %c : (!gpu.mma_matrix<16x16xf32, "COp">, !gpu.mma_matrix<16x16xf32, "COp">) -> !gpu.mma_matrix<16x16xf32, "COp">
    gpu.subgroup_mma_store_matrix %e, %C[%c0, %c0] {leadDimension = 32 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<32x32xf32>
    gpu.subgroup_mma_store_matrix %e, %C[%c0, %c0] {leadDimension = 32 : index, transpose} : !gpu.mma_matrix<16x16xf32, "COp">, memref<32x32xf32>
    gpu.terminator
  }
  return
}

// -----

// Several subgroups: the thread id divided by 32, however it is written, is the
// subgroup id. A loop carries fragments.
// CHECK-LABEL: func @subgroups
// CHECK:         %[[SIZE:.+]] = gpu.subgroup_size : index
// CHECK:         %[[THREADS:.+]] = arith.muli %[[SIZE]], %c4
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %[[THREADS]],
// CHECK:           %[[ID:.+]] = gpu.subgroup_id : index
// CHECK-NOT:       divui
// CHECK:           arith.addi %[[ID]], %[[ID]]
// CHECK:           arith.muli %[[ID]],
// CHECK:           scf.for {{.*}} -> (!tessera.fragment<16x16xf32, acc>)
func.func @subgroups(%A: memref<64x64xf16>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
    %w0 = arith.divui %tx, %c32 : index
    %x = gpu.thread_id x
    %w1 = arith.shrui %x, %c5 : index
    %w2 = affine.apply affine_map<(d0) -> (d0 floordiv 32)>(%tx)
    %w = arith.addi %w0, %w1 : index
    %row = arith.muli %w2, %c16 : index
    %init = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf32, "COp">
    %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %init) -> (!gpu.mma_matrix<16x16xf32, "COp">) {
      %a = gpu.subgroup_mma_load_matrix %A[%row, %k] {leadDimension = 64 : index} : memref<64x64xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %b = gpu.subgroup_mma_load_matrix %A[%k, %w] {leadDimension = 64 : index} : memref<64x64xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
      %next = gpu.subgroup_mma_compute %a, %b, %acc : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
      scf.yield %next : !gpu.mma_matrix<16x16xf32, "COp">
    }
    gpu.subgroup_mma_store_matrix %sum, %C[%row, %c0] {leadDimension = 64 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<64x64xf32>
    gpu.terminator
  }
  return
}

// -----

// A leading dimension that is not the memref's stride: a view of its own.
// CHECK-LABEL: func @lead_dimension
// CHECK:         memref.extract_strided_metadata
// CHECK:         %[[VIEW:.+]] = memref.reinterpret_cast %{{.+}} to offset: [%{{.+}}], sizes: [16, 16], strides: [128, 1] : memref<f16> to memref<16x16xf16, strided<[128, 1], offset: ?>>
// CHECK:         tessera.load %[[VIEW]][%{{.+}}, %{{.+}}] in_bounds
// A memref of rank 1, too.
// CHECK:         %[[FLAT:.+]] = memref.reinterpret_cast {{.*}} strides: [64, 1]
// CHECK:         tessera.load %[[FLAT]]
func.func @lead_dimension(%A: memref<32x64xf16>, %F: memref<4096xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %a = gpu.subgroup_mma_load_matrix %A[%c0, %c0] {leadDimension = 128 : index} : memref<32x64xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    %b = gpu.subgroup_mma_load_matrix %F[%c0] {leadDimension = 64 : index} : memref<4096xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    gpu.terminator
  }
  return
}

// -----

// Signedness is a property of the mma, not of the fragment.
// CHECK-LABEL: func @signs
// CHECK:         tessera.load {{.*}} -> <16x16xi8, a>
// CHECK:         tessera.mma {{.*}} unsigned_a : <16x16xi8, a>, <16x16xi8, b> -> <16x16xi32, acc>
func.func @signs(%A: memref<16x16xi8>, %C: memref<16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %a = gpu.subgroup_mma_load_matrix %A[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xi8> -> !gpu.mma_matrix<16x16xui8, "AOp">
    %b = gpu.subgroup_mma_load_matrix %A[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xi8> -> !gpu.mma_matrix<16x16xsi8, "BOp">
    %c = gpu.subgroup_mma_load_matrix %C[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xi32> -> !gpu.mma_matrix<16x16xi32, "COp">
    %d = gpu.subgroup_mma_compute %a, %b, %c : !gpu.mma_matrix<16x16xui8, "AOp">, !gpu.mma_matrix<16x16xsi8, "BOp"> -> !gpu.mma_matrix<16x16xi32, "COp">
    gpu.subgroup_mma_store_matrix %d, %C[%c0, %c0] {leadDimension = 16 : index} : !gpu.mma_matrix<16x16xi32, "COp">, memref<16x16xi32>
    gpu.terminator
  }
  return
}

// -----

// Element-wise kinds.
// CHECK-LABEL: func @elementwise
// CHECK:         arith.addf
// CHECK:         arith.mulf
// CHECK:         arith.subf
// CHECK:         arith.minimumf
// CHECK:         arith.divf
// CHECK:         arith.negf
// CHECK:         tessera.map {{.*}} -> <16x16xf32, acc>
// CHECK:           arith.extf {{.*}} : f16 to f32
// CHECK:         arith.addi
// CHECK:         arith.muli
// CHECK:         arith.subi
// CHECK:         arith.divsi
// CHECK:         arith.divui
// CHECK:         %[[ZERO:.+]] = arith.constant 0 : i32
// CHECK:         arith.subi %[[ZERO]], %{{.+}} : i32
!f = !gpu.mma_matrix<16x16xf16, "COp">
!g = !gpu.mma_matrix<16x16xf32, "COp">
!i = !gpu.mma_matrix<16x16xi32, "COp">
func.func @elementwise(%h: f16, %n: i32) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %x = gpu.subgroup_mma_constant_matrix %h : !f
    %y = gpu.subgroup_mma_constant_matrix %n : !i
    %0 = gpu.subgroup_mma_elementwise addf %x, %x : (!f, !f) -> !f
    %1 = gpu.subgroup_mma_elementwise mulf %x, %0 : (!f, !f) -> !f
    %2 = gpu.subgroup_mma_elementwise subf %x, %1 : (!f, !f) -> !f
    %3 = gpu.subgroup_mma_elementwise minf %x, %2 : (!f, !f) -> !f
    %4 = gpu.subgroup_mma_elementwise divf %x, %3 : (!f, !f) -> !f
    %5 = gpu.subgroup_mma_elementwise negatef %4 : (!f) -> !f
    %6 = gpu.subgroup_mma_elementwise extf %5 : (!f) -> !g
    %7 = gpu.subgroup_mma_elementwise addi %y, %y : (!i, !i) -> !i
    %8 = gpu.subgroup_mma_elementwise muli %y, %7 : (!i, !i) -> !i
    %9 = gpu.subgroup_mma_elementwise subi %y, %8 : (!i, !i) -> !i
    %10 = gpu.subgroup_mma_elementwise divs %y, %9 : (!i, !i) -> !i
    %11 = gpu.subgroup_mma_elementwise divu %y, %10 : (!i, !i) -> !i
    %12 = gpu.subgroup_mma_elementwise negates %11 : (!i) -> !i
    gpu.terminator
  }
  return
}

// -----

// A launch without these ops is left as it is.
// CHECK-LABEL: func @other
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %c48,
// CHECK:           gpu.lane_id
func.func @other() {
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c48, %sy = %c1, %sz = %c1) {
    %l = gpu.lane_id
    gpu.terminator
  }
  return
}
