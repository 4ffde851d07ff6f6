// Programs for capture.c: with a result, a reduction in parts, an operand that
// is copied to padded rows, attention, and three kernels in a row.

func.func @result(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>) -> tensor<256x256xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<256x256xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<256x256xf16>) -> tensor<256x256xf16>
  %r = linalg.matmul ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%i : tensor<256x256xf16>) -> tensor<256x256xf16>
  return %r : tensor<256x256xf16>
}

func.func @splitk(%a: tensor<64x512xf16>, %b: tensor<512x64xf16>, %bias: tensor<64xf32>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 16], k = 32,
                                                           kFragment = 16, splitK = 4>}
      ins(%a, %b : tensor<64x512xf16>, tensor<512x64xf16>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = tensor.empty() : tensor<64x64xf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<64x64xf32>, tensor<64xf32>) outs(%h : tensor<64x64xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %s = arith.addf %x, %y : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x64xf16>
  return %o : tensor<64x64xf16>
}

func.func @repacked(%a: tensor<1537x1031xbf16>, %b: tensor<1031x1411xbf16>, %c: tensor<1537x1411xf32>) -> tensor<1537x1411xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1537x1031xbf16>, tensor<1031x1411xbf16>) outs(%c : tensor<1537x1411xf32>) -> tensor<1537x1411xf32>
  return %r : tensor<1537x1411xf32>
}

func.func @three(%a: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<128x128xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<128x128xf16>) -> tensor<128x128xf16>
  %b = linalg.matmul ins(%a, %a : tensor<128x128xf16>, tensor<128x128xf16>) outs(%i : tensor<128x128xf16>) -> tensor<128x128xf16>
  %c = linalg.matmul ins(%b, %a : tensor<128x128xf16>, tensor<128x128xf16>) outs(%i : tensor<128x128xf16>) -> tensor<128x128xf16>
  %d = linalg.matmul ins(%c, %b : tensor<128x128xf16>, tensor<128x128xf16>) outs(%i : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %d : tensor<128x128xf16>
}

func.func @attention(%Q: tensor<2x3x100x64xf16>, %K: tensor<2x3x77x64xf16>,
                    %V: tensor<2x3x77x64xf16>) -> tensor<2x3x100x64xf16> {
  %zero = arith.constant 0.0 : f32
  %eighth = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x3x100x77xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x100x77xf32>) -> tensor<2x3x100x77xf32>
  %qk = linalg.contract
      indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>,
                       affine_map<(b, h, m, n, k) -> (b, h, n, k)>,
                       affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
      ins(%Q, %K : tensor<2x3x100x64xf16>, tensor<2x3x77x64xf16>)
      outs(%i : tensor<2x3x100x77xf32>) -> tensor<2x3x100x77xf32>
  %s = linalg.map ins(%qk : tensor<2x3x100x77xf32>) outs(%e : tensor<2x3x100x77xf32>) (%x: f32, %o: f32) {
    %y = arith.mulf %x, %eighth : f32
    linalg.yield %y : f32
  }
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x3x100x77xf32>)
                                   outs(%e : tensor<2x3x100x77xf32>) -> tensor<2x3x100x77xf32>
  %eh = tensor.empty() : tensor<2x3x100x77xf16>
  %h = linalg.map ins(%p : tensor<2x3x100x77xf32>) outs(%eh : tensor<2x3x100x77xf16>) (%x: f32, %o: f16) {
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  }
  %f = tensor.empty() : tensor<2x3x100x64xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x3x100x64xf32>) -> tensor<2x3x100x64xf32>
  %pv = linalg.contract
      indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>,
                       affine_map<(b, h, m, n, k) -> (b, h, k, n)>,
                       affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
      ins(%h, %V : tensor<2x3x100x77xf16>, tensor<2x3x77x64xf16>)
      outs(%j : tensor<2x3x100x64xf32>) -> tensor<2x3x100x64xf32>
  %er = tensor.empty() : tensor<2x3x100x64xf16>
  %r = linalg.map ins(%pv : tensor<2x3x100x64xf32>) outs(%er : tensor<2x3x100x64xf16>) (%x: f32, %o: f16) {
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  }
  return %r : tensor<2x3x100x64xf16>
}
