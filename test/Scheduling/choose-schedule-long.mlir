// f64: where each SM has one workgroup, two subgroups share each quarter of it, and steps are long. With more
// workgroups these share it.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @one
// CHECK:         schedule <workgroup = [128, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 3, vthread = [1, 1], swizzle = true>
func.func @one(%a: memref<1024x1024xf64>, %b: memref<1024x1024xf64>, %c: memref<1024x1024xf64>) {
  tessera.contract ins(%a, %b : memref<1024x1024xf64>, memref<1024x1024xf64>)
      outs(%c : memref<1024x1024xf64>) maps [#mk, #kn, #mn] accumulate f64 {
  ^bb0(%acc: f64):
    tessera.yield %acc : f64
  }
  return
}

// CHECK-LABEL: func @several
// CHECK:         schedule <workgroup = [128, 64], subgroup = [64, 32], k = 16, kFragment = 16, stages = 4,
func.func @several(%a: memref<2048x2048xf64>, %b: memref<2048x2048xf64>, %c: memref<2048x2048xf64>) {
  tessera.contract ins(%a, %b : memref<2048x2048xf64>, memref<2048x2048xf64>)
      outs(%c : memref<2048x2048xf64>) maps [#mk, #kn, #mn] accumulate f64 {
  ^bb0(%acc: f64):
    tessera.yield %acc : f64
  }
  return
}

// The model expects another tile to take 11 us and that of the rules 20: more than their division gains, which it does
// not know.
// CHECK-LABEL: func @other
// CHECK:         schedule <workgroup = [32, 32], subgroup = [16, 16], k = 64, kFragment = 16, stages = 5,
func.func @other(%a: memref<128x8192xf64>, %b: memref<8192x64xf64>, %c: memref<128x64xf64>) {
  tessera.contract ins(%a, %b : memref<128x8192xf64>, memref<8192x64xf64>)
      outs(%c : memref<128x64xf64>) maps [#mk, #kn, #mn] accumulate f64 {
  ^bb0(%acc: f64):
    tessera.yield %acc : f64
  }
  return
}
