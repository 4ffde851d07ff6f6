// RUN: gpu-opt %s --pass-pipeline="builtin.module(func.func(tessera-fuse-concats,canonicalize))" -split-input-file | FileCheck %s
// RUN: gpu-runner %S/Inputs/windows.mlir --target=cpu --verify --entry=concat | FileCheck %s --check-prefix=VERIFIED
// RUN: gpu-runner %S/Inputs/windows.mlir --target=cpu --verify --entry=dense | FileCheck %s --check-prefix=VERIFIED
// RUN: gpu-runner %S/Inputs/windows.mlir --target=cpu --emit=tessera --entry=dense | FileCheck %s --check-prefix=DENSE
// Five convolutions, and the transposition of the result.
// DENSE-LABEL: func.func @dense
// DENSE-COUNT-6: gpu.launch_func
// DENSE-NOT: gpu.launch_func
// VERIFIED: {{^}}verified

// Each part is written where it belongs.
// CHECK-LABEL: func.func @parts
// CHECK-NOT:     tensor.concat
// CHECK:         %[[WHOLE:.+]] = tensor.empty() : tensor<8x5xf32>
// CHECK:         %[[FIRST:.+]] = tensor.extract_slice %[[WHOLE]][0, 2] [8, 3] [1, 1]
// CHECK:         %[[A:.+]] = linalg.exp {{.*}} outs(%[[FIRST]] : tensor<8x3xf32>)
// CHECK:         %[[ONE:.+]] = tensor.insert_slice %[[A]] into %[[WHOLE]][0, 2] [8, 3] [1, 1]
// CHECK:         %[[SECOND:.+]] = tensor.extract_slice %[[ONE]][0, 0] [8, 2] [1, 1]
// CHECK:         %[[B:.+]] = linalg.exp {{.*}} outs(%[[SECOND]] : tensor<8x2xf32>)
// CHECK:         %[[TWO:.+]] = tensor.insert_slice %[[B]] into %[[ONE]][0, 0] [8, 2] [1, 1]
// CHECK:         return %[[TWO]]
func.func @parts(%x: tensor<8x3xf32>, %y: tensor<8x2xf32>) -> tensor<8x5xf32> {
  %e0 = tensor.empty() : tensor<8x3xf32>
  %e1 = tensor.empty() : tensor<8x2xf32>
  %a = linalg.exp ins(%x : tensor<8x3xf32>) outs(%e0 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %b = linalg.exp ins(%y : tensor<8x2xf32>) outs(%e1 : tensor<8x2xf32>) -> tensor<8x2xf32>
  %r = tensor.concat dim(1) %b, %a : (tensor<8x2xf32>, tensor<8x3xf32>) -> tensor<8x5xf32>
  return %r : tensor<8x5xf32>
}

// -----

// A part that something else uses, and an argument, are copied.
// CHECK-LABEL: func.func @copies
// CHECK-SAME:      %[[X:.+]]: tensor<8x3xf32>
// CHECK-NOT:     tensor.extract_slice
// CHECK:         %[[A:.+]] = linalg.exp
// CHECK:         tensor.insert_slice %[[A]]
// CHECK:         tensor.insert_slice %[[X]]
// CHECK:         return
func.func @copies(%x: tensor<8x3xf32>) -> (tensor<8x6xf32>, tensor<8x3xf32>) {
  %e0 = tensor.empty() : tensor<8x3xf32>
  %a = linalg.exp ins(%x : tensor<8x3xf32>) outs(%e0 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %r = tensor.concat dim(1) %a, %x : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x6xf32>
  return %r, %a : tensor<8x6xf32>, tensor<8x3xf32>
}

// -----

// A reshape that leaves the dimension alone moves to the result; not one that
// splits it.
// CHECK-LABEL: func.func @reshapes
// CHECK:         %[[WHOLE:.+]] = tensor.insert_slice %{{.+}} into %{{.+}}[0, 3] [8, 3] [1, 1] : tensor<8x3xf32> into tensor<8x6xf32>
// CHECK:         tensor.expand_shape %[[WHOLE]] {{\[\[}}0, 1], [2]] output_shape [2, 4, 6]
// CHECK:         tensor.insert_slice %{{.+}} into %{{.+}} : tensor<4x2x3xf32> into tensor<8x2x3xf32>
func.func @reshapes(%x: tensor<8x3xf32>, %y: tensor<2x4x3xf32>) -> (tensor<2x4x6xf32>, tensor<8x2x3xf32>) {
  %e0 = tensor.empty() : tensor<8x3xf32>
  %a = linalg.exp ins(%x : tensor<8x3xf32>) outs(%e0 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %a3 = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 4, 3] : tensor<8x3xf32> into tensor<2x4x3xf32>
  %r = tensor.concat dim(2) %a3, %y : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x6xf32>
  %b = linalg.exp ins(%x : tensor<8x3xf32>) outs(%e0 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %b3 = tensor.expand_shape %b [[0, 1], [2]] output_shape [4, 2, 3] : tensor<8x3xf32> into tensor<4x2x3xf32>
  %s = tensor.concat dim(0) %b3, %b3 : (tensor<4x2x3xf32>, tensor<4x2x3xf32>) -> tensor<8x2x3xf32>
  return %r, %s : tensor<2x4x6xf32>, tensor<8x2x3xf32>
}

// -----

// Scalars that become a list.
// CHECK-LABEL: func.func @scalars
// CHECK-COUNT-2: tensor.insert_slice
func.func @scalars(%a: tensor<f32>, %b: tensor<f32>) -> tensor<2xf32> {
  %x = tensor.expand_shape %a [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %y = tensor.expand_shape %b [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %r = tensor.concat dim(0) %x, %y : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// A chain of concatenations is one tensor. Other uses of its parts read slices
// of its latest version, so that no write comes between.
// CHECK-LABEL: func.func @chain
// CHECK-NOT:     tensor.concat
// CHECK:         %[[WHOLE:.+]] = tensor.empty() : tensor<8x12xf32>
// CHECK:         %[[TO_A:.+]] = tensor.extract_slice %[[WHOLE]][0, 0] [8, 3] [1, 1]
// CHECK:         %[[A:.+]] = linalg.exp {{.*}} outs(%[[TO_A]] : tensor<8x3xf32>)
// CHECK:         %[[ONE:.+]] = tensor.insert_slice %[[A]] into %[[WHOLE]][0, 0] [8, 3] [1, 1]
// CHECK:         %[[M:.+]] = linalg.exp ins(%[[A]] : tensor<8x3xf32>)
// CHECK:         %[[TO_B:.+]] = tensor.extract_slice %[[ONE]][0, 3] [8, 3] [1, 1]
// CHECK:         %[[B:.+]] = linalg.exp ins(%[[M]] : tensor<8x3xf32>) outs(%[[TO_B]] : tensor<8x3xf32>)
// CHECK:         %[[TWO:.+]] = tensor.insert_slice %[[B]] into %[[ONE]][0, 3] [8, 3] [1, 1]
// CHECK:         %[[READ_C:.+]] = tensor.extract_slice %[[TWO]][0, 0] [8, 6] [1, 1]
// CHECK:         %[[N:.+]] = linalg.exp ins(%[[READ_C]] : tensor<8x6xf32>)
// CHECK:         %[[TO_D:.+]] = tensor.extract_slice %[[TWO]][0, 6] [8, 6] [1, 1]
// CHECK:         %[[D:.+]] = linalg.exp ins(%[[N]] : tensor<8x6xf32>) outs(%[[TO_D]] : tensor<8x6xf32>)
// CHECK:         %[[THREE:.+]] = tensor.insert_slice %[[D]] into %[[TWO]][0, 6] [8, 6] [1, 1]
// CHECK:         return %[[THREE]]
func.func @chain(%x: tensor<8x3xf32>) -> tensor<8x12xf32> {
  %e3 = tensor.empty() : tensor<8x3xf32>
  %e6 = tensor.empty() : tensor<8x6xf32>
  %a = linalg.exp ins(%x : tensor<8x3xf32>) outs(%e3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %m = linalg.exp ins(%a : tensor<8x3xf32>) outs(%e3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %b = linalg.exp ins(%m : tensor<8x3xf32>) outs(%e3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %c = tensor.concat dim(1) %a, %b : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x6xf32>
  %n = linalg.exp ins(%c : tensor<8x6xf32>) outs(%e6 : tensor<8x6xf32>) -> tensor<8x6xf32>
  %d = linalg.exp ins(%n : tensor<8x6xf32>) outs(%e6 : tensor<8x6xf32>) -> tensor<8x6xf32>
  %r = tensor.concat dim(1) %c, %d : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x12xf32>
  return %r : tensor<8x12xf32>
}

// -----

// An op that reads a part does not write another one. A concatenation that is
// returned is not a slice, and neither is a part that a reshape reads as
// contiguous memory.
// CHECK-LABEL: func.func @apart
// CHECK:         %[[OWN:.+]] = tensor.empty() : tensor<8x3xf32>
// CHECK:         %[[A:.+]] = linalg.exp {{.*}} outs(%{{.+}} : tensor<8x3xf32>)
// CHECK:         %[[ONE:.+]] = tensor.insert_slice %[[A]]
// CHECK:         %[[B:.+]] = linalg.exp ins(%[[A]] : tensor<8x3xf32>) outs(%[[OWN]] : tensor<8x3xf32>)
// CHECK:         %[[C:.+]] = tensor.insert_slice %[[B]] into %[[ONE]][0, 3] [8, 3] [1, 1]
// CHECK:         %[[FLAT:.+]] = tensor.collapse_shape
// CHECK:         tensor.insert_slice %[[C]] into %{{.+}} : tensor<8x6xf32> into tensor<8x12xf32>
// CHECK:         return %[[C]], %{{.+}}, %[[FLAT]]
func.func @apart(%x: tensor<8x3xf32>) -> (tensor<8x6xf32>, tensor<8x12xf32>, tensor<48xf32>) {
  %e3 = tensor.empty() : tensor<8x3xf32>
  %e6 = tensor.empty() : tensor<8x6xf32>
  %a = linalg.exp ins(%x : tensor<8x3xf32>) outs(%e3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %b = linalg.exp ins(%a : tensor<8x3xf32>) outs(%e3 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %c = tensor.concat dim(1) %a, %b : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x6xf32>
  %d = linalg.exp ins(%c : tensor<8x6xf32>) outs(%e6 : tensor<8x6xf32>) -> tensor<8x6xf32>
  %flat = tensor.collapse_shape %d [[0, 1]] : tensor<8x6xf32> into tensor<48xf32>
  %r = tensor.concat dim(1) %c, %d : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x12xf32>
  return %c, %r, %flat : tensor<8x6xf32>, tensor<8x12xf32>, tensor<48xf32>
}
