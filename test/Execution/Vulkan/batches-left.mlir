// Three batches, two per workgroup: a subgroup of the last workgroup stores nothing. Its tiles
// are partly out of bounds, so that the matrices pass through workgroup memory with barriers;
// lavapipe treats these as barriers of the workgroup, so they must be before the branch.
//
// RUN: gpu-runner %s --target=vulkan:lavapipe --emit=vendor 2>/dev/null | FileCheck %s --check-prefix=CODE
// CODE-COUNT-8: spirv.KHR.CooperativeMatrixMulAdd
// CODE-NOT:  scf.if
// CODE-COUNT-4: spirv.KHR.CooperativeMatrixStore
// CODE:      spirv.ControlBarrier <Subgroup>
// CODE-NOT:  spirv.ControlBarrier
// CODE:      scf.if
// CODE-NOT:  spirv.ControlBarrier
// CODE:      gpu.return
//
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --verify --require-mma | FileCheck %s %}
// CHECK: {{^}}verified

#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @main(%a: memref<3x16x16xi8>, %b: memref<3x16x10xi8>, %c: memref<3x16x10xi32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<3x16x16xi8>, memref<3x16x10xi8>) outs(%c : memref<3x16x10xi32>)
      attrs = {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16, kFragment = 16,
                                                    stages = 1, batches = 2>} {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %p = arith.muli %xw, %yw : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  }
  return
}
