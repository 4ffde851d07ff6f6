// RUN: gpu-opt %s --tessera-lift-constants --tessera-hoist-constant-launches | FileCheck %s

// A launch that reads constants alone moves to the loader, with the views that
// it needs; the buffer becomes a global.

// CHECK:       memref.global "private" @[[GLOBAL:__tessera_computed_0]] : memref<16x16xf32> = uninitialized

// CHECK-LABEL: func @moves
// CHECK-NOT:     memref.alloc
// CHECK:         %[[PACKED:.+]] = memref.get_global @[[GLOBAL]]
// CHECK-COUNT-1: gpu.launch
// CHECK:           memref.load %[[PACKED]]
// CHECK-NOT:     gpu.launch
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @moves(%out: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  %w = memref.get_global @w : memref<256xf32>
  %v = memref.expand_shape %w [[0, 1]] output_shape [16, 16] : memref<256xf32> into memref<16x16xf32>
  %packed = memref.alloc() : memref<16x16xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %v[%tx, %ty] : memref<16x16xf32>
    memref.store %x, %packed[%ty, %tx] : memref<16x16xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %packed[%tx, %ty] : memref<16x16xf32>
    memref.store %x, %out[%tx, %ty] : memref<16x16xf32>
    gpu.terminator
  }
  memref.dealloc %packed : memref<16x16xf32>
  return
}

// A buffer that another launch writes, that is read before it is written, or
// that is returned, stays.

// CHECK-LABEL: func @written_again
// CHECK-COUNT-2: gpu.launch
func.func @written_again(%in: memref<16xf32>) {
  %c1 = arith.constant 1 : index
  %w = memref.get_global @w : memref<256xf32>
  %a = memref.alloc() : memref<16xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %w[%tx] : memref<256xf32>
    memref.store %x, %a[%tx] : memref<16xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %in[%tx] : memref<16xf32>
    memref.store %x, %a[%tx] : memref<16xf32>
    gpu.terminator
  }
  memref.dealloc %a : memref<16xf32>
  return
}

// CHECK-LABEL: func @returned
// CHECK:         memref.alloc
// CHECK:         gpu.launch
func.func @returned() -> memref<16xf32> {
  %c1 = arith.constant 1 : index
  %w = memref.get_global @w : memref<256xf32>
  %a = memref.alloc() : memref<16xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %w[%tx] : memref<256xf32>
    memref.store %x, %a[%tx] : memref<16xf32>
    gpu.terminator
  }
  return %a : memref<16xf32>
}

// The second launch reads what the first one wrote, not what the third does.
// CHECK-LABEL: func @in_between
// CHECK:         memref.alloc
// CHECK-COUNT-3: gpu.launch
func.func @in_between(%out: memref<16xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %w = memref.get_global @w : memref<256xf32>
  %a = memref.alloc() : memref<16xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %w[%tx] : memref<256xf32>
    memref.store %x, %a[%tx] : memref<16xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%tx] : memref<16xf32>
    memref.store %x, %out[%tx] : memref<16xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %zero, %a[%tx] : memref<16xf32>
    gpu.terminator
  }
  memref.dealloc %a : memref<16xf32>
  return
}

// CHECK-LABEL: func @tessera_load
// CHECK-DAG:     %[[W:.+]] = memref.get_global @w
// CHECK-DAG:     %[[V:.+]] = memref.expand_shape %[[W]]
// CHECK-DAG:     %[[P:.+]] = memref.get_global @[[GLOBAL]]
// CHECK-COUNT-1: gpu.launch
// CHECK:           memref.load %[[V]]
// CHECK:           memref.store %{{.+}}, %[[P]]
// CHECK-NOT:     gpu.launch

memref.global constant @w : memref<256xf32> = dense_resource<w>

{-#
  dialect_resources: {
    builtin: {
      w: "0x04000000000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040"
    }
  }
#-}
