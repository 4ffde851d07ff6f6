// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pack-operands --split-input-file | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pack-operands --tessera-choose-schedule --split-input-file | FileCheck %s --check-prefix=CHOSEN
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90" --tessera-pack-operands --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx512" --tessera-pack-operands --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: not gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_91" --tessera-pack-operands --split-input-file 2>&1 | FileCheck %s --check-prefix=CHIP

// Elsewhere, nothing is copied.
// NONE-NOT: linalg.generic
// NONE-NOT: tessera.packing

// A CPU copies rhs with K along its rows, or with rows two pages apart, where
// many rows of lhs are multiplied by it, to rows that begin elsewhere in a page.
// CPU-NOT:   tessera.packing
// CPU-LABEL: func @alone
// CPU:       outs(%{{.*}} : memref<4095x4096xf32, strided<[4112, 1]>>) attrs =  {tessera.packing = "copies rhs of a matmul, 4095x4096xf32, to rows that are aligned to 64 bytes, and not to pages"}
// CPU-NOT:   tessera.packing
// CPU-LABEL: func @order_and_rows
// CPU:       outs(%{{.*}} : memref<1022x2048xf32, strided<[2064, 1]>>) attrs =  {tessera.packing = "copies rhs of a matmul, 2048x1022xf32, to rows that are aligned to 64 bytes, with N contiguous"}
// CPU-NOT:   tessera.packing

// CHIP: unknown chip 'sm_91' of target 'cuda'

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Rows of rhs begin anywhere.

// CHECK-DAG:   #[[ID:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: func @rhs
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<4096x4096xbf16>, %[[B:[a-z0-9]+]]: memref<4096x4093xbf16>
// CHECK:         %[[MEMORY:.+]] = memref.alloc() {alignment = 16 : i64} : memref<4096x4096xbf16>
// CHECK:         %[[VIEW:.+]] = memref.subview %[[MEMORY]][0, 0] [4096, 4093] [1, 1] : memref<4096x4096xbf16> to memref<4096x4093xbf16, strided<[4096, 1]>>
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[B]] : {{.+}}) outs(%[[VIEW]] : {{.+}}) attrs = {tessera.packing = "copies rhs of a matmul, 4096x4093xbf16, to rows that are aligned to 16 bytes"}
// CHECK:         tessera.contract ins(%[[A]], %[[VIEW]] : {{.*}} maps [#[[MK]], #[[KN]], #{{.+}}]
// CHECK:         memref.dealloc %[[MEMORY]]
// CHECK-NOT:     memref.alloc
func.func @rhs(%a: memref<4096x4096xbf16>, %b: memref<4096x4093xbf16>, %c: memref<4096x4093xf32>) {
  tessera.contract ins(%a, %b : memref<4096x4096xbf16>, memref<4096x4093xbf16>) outs(%c : memref<4096x4093xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Rows of lhs do, which run along M.

// CHECK-LABEL: func @lhs
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<2048x2001xf16>, %[[B:[a-z0-9]+]]: memref<2048x1024xf16>
// CHECK:         %[[MEMORY:.+]] = memref.alloc() {{.*}} : memref<2048x2008xf16>
// CHECK:         %[[VIEW:.+]] = memref.subview %[[MEMORY]]{{.*}} to memref<2048x2001xf16, strided<[2008, 1]>>
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[A]] : {{.+}}) outs(%[[VIEW]] : {{.+}}) attrs = {tessera.packing = "copies lhs of
// CHECK:         tessera.contract ins(%[[VIEW]], %[[B]] :
// CHECK:         memref.dealloc %[[MEMORY]]
func.func @lhs(%a: memref<2048x2001xf16>, %b: memref<2048x1024xf16>, %c: memref<2001x1024xf32>) {
  tessera.contract ins(%a, %b : memref<2048x2001xf16>, memref<2048x1024xf16>) outs(%c : memref<2001x1024xf32>)
      maps [#km, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Both do. The schedule chosen after it is one of groups.

// CHOSEN-LABEL: func @both
// CHOSEN:        tessera.contract {{.*}} swizzle = true, {{.*}}subgroupsPerFragment = 4>

// CHECK-LABEL: func @both
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<4097x4095xbf16>, %[[B:[a-z0-9]+]]: memref<4095x4093xbf16>
// CHECK:         %[[MA:.+]] = memref.alloc() {{.*}} : memref<4097x4096xbf16>
// CHECK:         %[[VA:.+]] = memref.subview %[[MA]]
// CHECK:         %[[MB:.+]] = memref.alloc() {{.*}} : memref<4095x4096xbf16>
// CHECK:         %[[VB:.+]] = memref.subview %[[MB]]
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : {{.+}}) outs(%[[VA]] :
// CHECK:         linalg.generic {{.*}} ins(%[[B]] : {{.+}}) outs(%[[VB]] :
// CHECK:         tessera.contract ins(%[[VA]], %[[VB]] :
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      tessera.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc %[[MB]]
// CHECK-NEXT:    memref.dealloc %[[MA]]
func.func @both(%a: memref<4097x4095xbf16>, %b: memref<4095x4093xbf16>, %c: memref<4097x4093xf32>) {
  tessera.contract ins(%a, %b : memref<4097x4095xbf16>, memref<4095x4093xbf16>) outs(%c : memref<4097x4093xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(b, m, n, k) -> (b, m, k)>
#kn = affine_map<(b, m, n, k) -> (b, k, n)>
#mn = affine_map<(b, m, n, k) -> (b, m, n)>

// Each matrix of a batch has padded rows.

// CHECK-LABEL: func @batch
// CHECK:         memref.alloc() {{.*}} : memref<4x1024x1000xf16>
// CHECK:         memref.subview {{.*}} to memref<4x1024x999xf16, strided<[1024000, 1000, 1]>>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK:         tessera.contract
func.func @batch(%a: memref<4x1024x999xf16>, %b: memref<4x999x1024xf16>, %c: memref<4x1024x1024xf32>) {
  tessera.contract ins(%a, %b : memref<4x1024x999xf16>, memref<4x999x1024xf16>) outs(%c : memref<4x1024x1024xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(b, s, n, k) -> (b, s, k)>
#kn = affine_map<(b, s, n, k) -> (k, n)>
#mn = affine_map<(b, s, n, k) -> (b, s, n)>

// Rows of two dimensions are one after the copy as well.

// CHECK-LABEL: func @rows
// CHECK:         memref.subview {{.*}} to memref<8x512x1001xf16, strided<[516096, 1008, 1]>>
// CHECK:         tessera.contract
func.func @rows(%a: memref<8x512x1001xf16>, %b: memref<1001x1024xf16>, %c: memref<8x512x1024xf32>) {
  tessera.contract ins(%a, %b : memref<8x512x1001xf16>, memref<1001x1024xf16>) outs(%c : memref<8x512x1024xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#mkl = affine_map<(m, n, k, l) -> (m, k, l)>
#kln = affine_map<(m, n, k, l) -> (k, l, n)>
#mnkl = affine_map<(m, n, k, l) -> (m, n)>

// Not changed: operands that are used too rarely, or small,

// CHECK-LABEL: func @alone
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     linalg.generic
func.func @alone(%a: memref<64x4095xbf16>, %b: memref<4095x4093xbf16>, %c: memref<64x4093xf32>,
                 %d: memref<301x203xf16>, %e: memref<203x405xf16>, %f: memref<301x405xf32>,
                 %g: memref<?x4095xbf16>, %h: memref<?x4093xf32>,
                 %i: memref<4096x4095xi8>, %j: memref<4095x4096xbf16>, %k: memref<4096x4096xf32>,
                 %l: memref<4096x9x455xbf16>, %m: memref<9x455x4096xbf16>,
                 %n: memref<4096x4095xf32>, %o: memref<4095x4096xf32>) {
  tessera.contract ins(%a, %b : memref<64x4095xbf16>, memref<4095x4093xbf16>) outs(%c : memref<64x4093xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%d, %e : memref<301x203xf16>, memref<203x405xf16>) outs(%f : memref<301x405xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  // of dynamic extents,
  tessera.contract ins(%g, %b : memref<?x4095xbf16>, memref<4095x4093xbf16>) outs(%h : memref<?x4093xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  // with a producer,
  tessera.contract ins(%i, %j : memref<4096x4095xi8>, memref<4095x4096xbf16>) outs(%k : memref<4096x4096xf32>)
      maps [#mk, #kn, #mn] accumulate f32 lhs_producer {
  ^bb0(%x: i8):
    %y = arith.sitofp %x : i8 to bf16
    tessera.yield %y : bf16
  } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  // with rows of two dimensions,
  tessera.contract ins(%l, %m : memref<4096x9x455xbf16>, memref<9x455x4096xbf16>) outs(%k : memref<4096x4096xf32>)
      maps [#mkl, #kln, #mnkl] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  // of types without instructions of groups.
  tessera.contract ins(%n, %o : memref<4096x4095xf32>, memref<4095x4096xf32>) outs(%k : memref<4096x4096xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A schedule of the program's own: one without a group reads the operand's
// original layout, one for groups can use bulk copies.

// CHECK-LABEL: func @schedules
// CHECK-NOT:     memref.alloc
// CHECK:         tessera.contract {{.*}} stages = 3, vthread = [1, 1], swizzle = true>
// CHECK:         memref.alloc() {{.*}} : memref<4095x4096xbf16>
// CHECK:         tessera.contract {{.*}} subgroupsPerFragment = 4>
// CHECK:         memref.dealloc
// CHECK-NOT:     memref.alloc
func.func @schedules(%a: memref<4096x4095xbf16>, %b: memref<4095x4093xbf16>, %c: memref<4096x4093xf32>) {
  tessera.contract ins(%a, %b : memref<4096x4095xbf16>, memref<4095x4093xbf16>) outs(%c : memref<4096x4093xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 64], k = 32, kFragment = 16, stages = 3, vthread = [1, 1], swizzle = true> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%a, %b : memref<4096x4095xbf16>, memref<4095x4093xbf16>) outs(%c : memref<4096x4093xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, kFragment = 64, stages = 3, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// One copy for all contractions that read an operand, freed after the last one;
// also for both sides of one contraction.

// CHECK-LABEL: func @shared
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<2048x2047xf16>
// CHECK:         %[[MEMORY:.+]] = memref.alloc() {alignment = 16 : i64} : memref<2048x2048xf16>
// CHECK:         %[[VIEW:.+]] = memref.subview %[[MEMORY]]
// CHECK:         linalg.generic {{.*}} ins(%[[A]] :
// CHECK:         tessera.contract ins(%[[VIEW]], %[[VIEW]] :
// CHECK-NOT:     memref.dealloc
// CHECK:         tessera.contract ins(%[[VIEW]], %{{.+}} :
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      tessera.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc %[[MEMORY]]
func.func @shared(%a: memref<2048x2047xf16>, %b: memref<2047x1024xf16>) -> (memref<2048x2048xf32>, memref<2048x1024xf32>) {
  %c = memref.alloc() : memref<2048x2048xf32>
  %d = memref.alloc() : memref<2048x1024xf32>
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %a : memref<2048x2047xf16>, memref<2048x2047xf16>) init(%zero : f32) outs(%c : memref<2048x2048xf32>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%a, %b : memref<2048x2047xf16>, memref<2047x1024xf16>) init(%zero : f32) outs(%d : memref<2048x1024xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return %c, %d : memref<2048x2048xf32>, memref<2048x1024xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// An argument may be the memory of another.

// CHECK-LABEL: func @written
// CHECK:         linalg.generic
// CHECK:         tessera.contract
// CHECK:         memref.dealloc
// CHECK:         linalg.generic
// CHECK:         tessera.contract
// CHECK:         memref.dealloc
func.func @written(%a: memref<2048x2047xf16>, %b: memref<2047x1024xf16>, %c: memref<2048x1024xf32>) {
  tessera.contract ins(%a, %b : memref<2048x2047xf16>, memref<2047x1024xf16>) outs(%c : memref<2048x1024xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%a, %b : memref<2048x2047xf16>, memref<2047x1024xf16>) outs(%c : memref<2048x1024xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Instructions that read K along the rows only: rhs is row-major. Rows that are
// aligned to 16 bytes need no view.

// CHECK-DAG:   #[[ID:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[TURN:.+]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG:   #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[NK:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func @order
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<4096x2048xi8>, %[[B:[a-z0-9]+]]: memref<2048x4000xi8>
// CHECK:         %[[MEMORY:.+]] = memref.alloc() {alignment = 16 : i64} : memref<4000x2048xi8>
// CHECK-NEXT:    linalg.generic {indexing_maps = [#[[TURN]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[B]] : {{.+}}) outs(%[[MEMORY]] : {{.+}}) attrs = {tessera.packing = "copies rhs of a matmul, 2048x4000xi8, to rows that are aligned to 16 bytes, with K contiguous"}
// CHECK:         tessera.contract ins(%[[A]], %[[MEMORY]] : {{.*}} maps [#[[MK]], #[[NK]], #{{.+}}]
// CHECK:         memref.dealloc %[[MEMORY]]
func.func @order(%a: memref<4096x2048xi8>, %b: memref<2048x4000xi8>, %c: memref<4096x4000xi32>) {
  tessera.contract ins(%a, %b : memref<4096x2048xi8>, memref<2048x4000xi8>) outs(%c : memref<4096x4000xi32>)
      maps [#mk, #kn, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}

// -----

#km = affine_map<(b, m, n, k) -> (k, b, m)>
#nk = affine_map<(b, m, n, k) -> (n, k)>
#mn = affine_map<(b, m, n, k) -> (b, m, n)>

// Where the rows of rhs begin is in the way. The order of lhs is not: its words
// are read from registers.

// CHECK-DAG:   #[[KM:.+]] = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1)>
// CHECK-LABEL: func @order_and_rows
// CHECK-SAME:      %[[A:[a-z0-9]+]]: memref<1022x3x2048xf32>
// CHECK:         %[[MB:.+]] = memref.alloc() {alignment = 16 : i64} : memref<2048x1024xf32>
// CHECK:         linalg.generic {{.*}} "copies rhs of a matmul, 2048x1022xf32, to rows that are aligned to 16 bytes"}
// CHECK-NOT:     linalg.generic
// CHECK:         tessera.contract ins(%[[A]], %{{.+}} maps [#[[KM]],
func.func @order_and_rows(%a: memref<1022x3x2048xf32>, %b: memref<2048x1022xf32>, %c: memref<3x2048x2048xf32>) {
  tessera.contract ins(%a, %b : memref<1022x3x2048xf32>, memref<2048x1022xf32>) outs(%c : memref<3x2048x2048xf32>)
      maps [#km, #nk, #mn] accumulate f32 precision tf32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A small matmul is as fast without the copy; but a schedule with subgroupsPerFragment = 4
// requires the order.

// CHECK-LABEL: func @small
// CHECK-NOT:     linalg.generic
// CHECK:         tessera.contract
// CHECK:         memref.alloc() {{.*}} : memref<256x256xi8>
// CHECK:         linalg.generic
// CHECK:         tessera.contract {{.*}} subgroupsPerFragment = 4>
func.func @small(%a: memref<256x256xi8>, %b: memref<256x256xi8>, %c: memref<256x256xi32>) {
  tessera.contract ins(%a, %b : memref<256x256xi8>, memref<256x256xi8>) outs(%c : memref<256x256xi32>)
      maps [#mk, #kn, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  tessera.contract ins(%a, %b : memref<256x256xi8>, memref<256x256xi8>) outs(%c : memref<256x256xi32>)
      maps [#mk, #kn, #mn] accumulate i32
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 128, kFragment = 128, stages = 2, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}

// -----

#nhwc = affine_map<(n, h, w, f, r, s, c) -> (n, h + r - 1, w + s - 1, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#nhwf = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// The filter of a convolution, which such instructions read along K only for
// words.
// CHECK-DAG:   #[[FILTER:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3, d0)>
// CHECK-DAG:   #[[ROWS:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
// CHECK-LABEL: func @filter
// CHECK-SAME:    %[[IMAGE:[a-z0-9]+]]: memref<32x28x28x128xf32>, %[[FILTERS:[a-z0-9]+]]: memref<3x3x128x128xf32>
// CHECK:         %[[COPY:.+]] = memref.alloc() {alignment = 16 : i64} : memref<128x3x3x128xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[FILTER]], {{.*}} ins(%[[FILTERS]] : {{.+}}) outs(%[[COPY]] : {{.*}}tessera.packing = "copies the filters of a convolution, 3x3x128x128xf32, to rows with K contiguous"
// CHECK:         tessera.contract ins(%[[IMAGE]], %[[COPY]] : {{.*}} maps [#{{.+}}, #[[ROWS]], #{{.+}}]
// CHECK:         memref.dealloc %[[COPY]]
// CHOSEN-LABEL: func @filter
// CHOSEN:         tessera.contract
// CHOSEN-SAME:      subgroupsPerFragment = 4
func.func @filter(%a: memref<32x28x28x128xf32>, %b: memref<3x3x128x128xf32>, %c: memref<32x28x28x128xf32>) {
  tessera.contract ins(%a, %b : memref<32x28x28x128xf32>, memref<3x3x128x128xf32>) outs(%c : memref<32x28x28x128xf32>)
      maps [#nhwc, #hwcf, #nhwf] accumulate f32 precision tf32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// A small one, which the copy does not pay for, and one that is read as it is.
// CHECK-LABEL: func @small_filter
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func @half_filter
// CHECK-NOT:     memref.alloc
func.func @small_filter(%a: memref<1x8x8x128xf32>, %b: memref<3x3x128x16xf32>, %c: memref<1x8x8x16xf32>) {
  tessera.contract ins(%a, %b : memref<1x8x8x128xf32>, memref<3x3x128x16xf32>) outs(%c : memref<1x8x8x16xf32>)
      maps [#nhwc, #hwcf, #nhwf] accumulate f32 precision tf32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
func.func @half_filter(%a: memref<32x28x28x128xf16>, %b: memref<3x3x128x128xf16>, %c: memref<32x28x28x128xf32>) {
  tessera.contract ins(%a, %b : memref<32x28x28x128xf16>, memref<3x3x128x128xf16>) outs(%c : memref<32x28x28x128xf32>)
      maps [#nhwc, #hwcf, #nhwf] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
