// Maxima and minima of booleans, and a boolean as an index.

// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --verify | FileCheck %s %}
// RUN: gpu-runner %s --target=vulkan:lavapipe --emit=spirv-asm | FileCheck %s --check-prefix=ASM
// RUN: gpu-runner %s --target=opencl:pvc --emit=spirv-asm | FileCheck %s --check-prefix=ASM
// ASM-DAG: OpLogicalOr
// ASM-DAG: OpLogicalAnd
// CHECK: out 0 = {{.*}}
// CHECK-NEXT: {{^}} 1 1 0 0{{$}}
// CHECK: out 1 = {{.*}}
// CHECK-NEXT: {{^}} 7 5 5 5{{$}}
// CHECK: out 0: verified ({{.*}}, exact
// CHECK: out 1: verified ({{.*}}, exact

#map = affine_map<(d0) -> (d0)>

func.func @main() -> (tensor<4xi8>, tensor<4xi32>) {
  %x = arith.constant dense<[3, -1, 4, 0]> : tensor<4xi32>
  %pair = arith.constant dense<[5, 7]> : tensor<2xi32>
  %e = tensor.empty() : tensor<4xi8>
  %f = tensor.empty() : tensor<4xi32>
  %0:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<4xi32>) outs(%e, %f : tensor<4xi8>, tensor<4xi32>) {
  ^bb0(%a: i32, %o: i8, %p: i32):
    %three = arith.constant 3 : i32
    %zero = arith.constant 0 : i32
    %is = arith.cmpi eq, %a, %three : i32
    %negative = arith.cmpi slt, %a, %zero : i32
    %either = arith.maxui %is, %negative : i1
    %nonzero = arith.cmpi ne, %a, %zero : i32
    %both = arith.minui %either, %nonzero : i1
    %byte = arith.extui %both : i1 to i8
    %index = arith.index_castui %is : i1 to index
    %element = tensor.extract %pair[%index] : tensor<2xi32>
    linalg.yield %byte, %element : i8, i32
  } -> (tensor<4xi8>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xi8>, tensor<4xi32>
}
