// Batches of small matmuls, with their default schedules, and one by hand.

func.func @half(%a: tensor<4096x16x16xf16>, %b: tensor<4096x16x16xf16>) -> tensor<4096x16x16xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x16x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x16x16xf32>) -> tensor<4096x16x16xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<4096x16x16xf16>, tensor<4096x16x16xf16>) outs(%i : tensor<4096x16x16xf32>) -> tensor<4096x16x16xf32>
  %t = arith.truncf %r : tensor<4096x16x16xf32> to tensor<4096x16x16xf16>
  return %t : tensor<4096x16x16xf16>
}

func.func @brain(%a: tensor<1024x32x32xbf16>, %b: tensor<1024x32x32xbf16>) -> tensor<1024x32x32xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x32x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x32x32xf32>) -> tensor<1024x32x32xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<1024x32x32xbf16>, tensor<1024x32x32xbf16>) outs(%i : tensor<1024x32x32xf32>) -> tensor<1024x32x32xf32>
  %t = arith.truncf %r : tensor<1024x32x32xf32> to tensor<1024x32x32xbf16>
  return %t : tensor<1024x32x32xbf16>
}

func.func @single(%a: tensor<4096x16x16xf32>, %b: tensor<4096x16x16xf32>) -> tensor<4096x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x16x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x16x16xf32>) -> tensor<4096x16x16xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<4096x16x16xf32>, tensor<4096x16x16xf32>) outs(%i : tensor<4096x16x16xf32>) -> tensor<4096x16x16xf32>
  return %r : tensor<4096x16x16xf32>
}

func.func @double(%a: tensor<1024x32x32xf64>, %b: tensor<1024x32x32xf64>) -> tensor<1024x32x32xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1024x32x32xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<1024x32x32xf64>) -> tensor<1024x32x32xf64>
  %r = linalg.batch_matmul ins(%a, %b : tensor<1024x32x32xf64>, tensor<1024x32x32xf64>) outs(%i : tensor<1024x32x32xf64>) -> tensor<1024x32x32xf64>
  return %r : tensor<1024x32x32xf64>
}

func.func @bytes(%a: tensor<4096x16x16xi8>, %b: tensor<4096x16x16xi8>) -> tensor<4096x16x16xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x16x16xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x16x16xi32>) -> tensor<4096x16x16xi32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<4096x16x16xi8>, tensor<4096x16x16xi8>) outs(%i : tensor<4096x16x16xi32>) -> tensor<4096x16x16xi32>
  return %r : tensor<4096x16x16xi32>
}

func.func @eight(%a: tensor<16384x8x8xf16>, %b: tensor<16384x8x8xf16>) -> tensor<16384x8x8xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16384x8x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<16384x8x8xf32>) -> tensor<16384x8x8xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<16384x8x8xf16>, tensor<16384x8x8xf16>) outs(%i : tensor<16384x8x8xf32>) -> tensor<16384x8x8xf32>
  %t = arith.truncf %r : tensor<16384x8x8xf32> to tensor<16384x8x8xf16>
  return %t : tensor<16384x8x8xf16>
}

func.func @odd(%a: tensor<3001x15x11xbf16>, %b: tensor<3001x11x13xbf16>) -> tensor<3001x15x13xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3001x15x13xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3001x15x13xf32>) -> tensor<3001x15x13xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<3001x15x11xbf16>, tensor<3001x11x13xbf16>) outs(%i : tensor<3001x15x13xf32>) -> tensor<3001x15x13xf32>
  return %r : tensor<3001x15x13xf32>
}

func.func @ragged(%a: tensor<4099x16x48xf16>, %b: tensor<4099x48x16xf16>) -> tensor<4099x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4099x16x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4099x16x16xf32>) -> tensor<4099x16x16xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<4099x16x48xf16>, tensor<4099x48x16xf16>) outs(%i : tensor<4099x16x16xf32>) -> tensor<4099x16x16xf32>
  return %r : tensor<4099x16x16xf32>
}

func.func @dynamic(%a: tensor<?x16x16xf16>, %b: tensor<?x16x16xf16>) -> tensor<?x16x16xf32> {
  %c0 = arith.constant 0 : index
  %z = tensor.dim %a, %c0 : tensor<?x16x16xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%z) : tensor<?x16x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16x16xf32>) -> tensor<?x16x16xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<?x16x16xf16>, tensor<?x16x16xf16>) outs(%i : tensor<?x16x16xf32>) -> tensor<?x16x16xf32>
  return %r : tensor<?x16x16xf32>
}

func.func @unaligned(%a: tensor<7x197x64xf16>, %b: tensor<7x64x197xf16>) -> tensor<7x197x197xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x197x197xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<7x197x197xf32>) -> tensor<7x197x197xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<7x197x64xf16>, tensor<7x64x197xf16>) outs(%i : tensor<7x197x197xf32>) -> tensor<7x197x197xf32>
  %t = arith.truncf %r : tensor<7x197x197xf32> to tensor<7x197x197xf16>
  return %t : tensor<7x197x197xf16>
}

func.func @hundred(%a: tensor<5x100x100xf16>, %b: tensor<5x100x100xf16>) -> tensor<5x100x100xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x100x100xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<5x100x100xf32>) -> tensor<5x100x100xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<5x100x100xf16>, tensor<5x100x100xf16>) outs(%i : tensor<5x100x100xf32>) -> tensor<5x100x100xf32>
  %t = arith.truncf %r : tensor<5x100x100xf32> to tensor<5x100x100xf16>
  return %t : tensor<5x100x100xf16>
}

// Seven subgroups, whose threads are more than two rows of the output's tile.
func.func @fitted(%a: tensor<3x197x64xf16>, %b: tensor<3x64x197xf16>) -> tensor<3x197x197xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x197x197xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x197x197xf32>) -> tensor<3x197x197xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [112, 104], subgroup = [16, 104], k = 64,
                                                                 kFragment = 16, stages = 1, stageOutput = true>}
      ins(%a, %b : tensor<3x197x64xf16>, tensor<3x64x197xf16>) outs(%i : tensor<3x197x197xf32>) -> tensor<3x197x197xf32>
  %t = arith.truncf %r : tensor<3x197x197xf32> to tensor<3x197x197xf16>
  return %t : tensor<3x197x197xf16>
}
