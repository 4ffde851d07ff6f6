func.func @main(%a: memref<64x512xf16>, %b: memref<512x64xf16>, %c: memref<64x64xf32>) {
  linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 32, kFragment = 16,
                                                      stages = 2, splitK = 8, splitKReduction = atomic>}
      ins(%a, %b : memref<64x512xf16>, memref<512x64xf16>) outs(%c : memref<64x64xf32>)
  return
}
