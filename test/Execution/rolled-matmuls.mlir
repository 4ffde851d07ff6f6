// Large fragments on the CPU, whose matmuls are loops (RolledMatmul.cpp): accumulators of f16, which
// are added in f32, bf16, unsigned bytes, and rows and K that are not multiples of the tile.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=halves | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=brain | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=bytes | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=ragged | FileCheck %s
// CHECK: {{^}}verified

#large = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 0>

func.func @halves(%a: tensor<64x64xf16>, %b: tensor<64x96xf16>, %c: tensor<64x96xf16>) -> tensor<64x96xf16> {
  %d = linalg.matmul {tessera.schedule = #large} ins(%a, %b : tensor<64x64xf16>, tensor<64x96xf16>) outs(%c : tensor<64x96xf16>) -> tensor<64x96xf16>
  return %d : tensor<64x96xf16>
}

func.func @brain(%a: tensor<64x64xbf16>, %b: tensor<64x96xbf16>, %c: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %d = linalg.matmul {tessera.schedule = #large} ins(%a, %b : tensor<64x64xbf16>, tensor<64x96xbf16>) outs(%c : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %d : tensor<64x96xf32>
}

func.func @bytes(%a: tensor<64x64xi8>, %b: tensor<64x96xi8>, %c: tensor<64x96xi32>) -> tensor<64x96xi32> {
  %d = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>, tessera.schedule = #large} ins(%a, %b : tensor<64x64xi8>, tensor<64x96xi8>) outs(%c : tensor<64x96xi32>) -> tensor<64x96xi32>
  return %d : tensor<64x96xi32>
}

func.func @ragged(%a: tensor<45x37xf32>, %b: tensor<37x51xf32>, %c: tensor<45x51xf32>) -> tensor<45x51xf32> {
  %d = linalg.matmul {tessera.schedule = #large} ins(%a, %b : tensor<45x37xf32>, tensor<37x51xf32>) outs(%c : tensor<45x51xf32>) -> tensor<45x51xf32>
  return %d : tensor<45x51xf32>
}
