// Convolutions over images of three channels mean the same after images and
// filters were copied for bulk copies, whatever then runs them.
//
// The runner frees the program's own allocations.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pack-operands -o %t.freed.mlir
// RUN: grep -v memref.dealloc %t.freed.mlir > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=REPACKED
// RUN: gpu-runner %s --target=cpu --verify --entry=steps --out=0=%t.steps.npy | FileCheck %s
// RUN: gpu-runner %t.mlir --target=cpu --entry=steps --out=0=%t.repacked.npy
// RUN: cmp %t.steps.npy %t.repacked.npy
// RUN: gpu-runner %s --target=cpu --verify --entry=dense --out=0=%t.dense.npy | FileCheck %s
// RUN: gpu-runner %t.mlir --target=cpu --entry=dense --out=0=%t.repacked.npy
// RUN: cmp %t.dense.npy %t.repacked.npy
// RUN: gpu-runner %s --target=cpu --verify --entry=quantized --out=0=%t.quantized.npy | FileCheck %s
// RUN: gpu-runner %t.mlir --target=cpu --entry=quantized --out=0=%t.repacked.npy
// RUN: cmp %t.quantized.npy %t.repacked.npy
// RUN: gpu-runner %t.mlir --target=cpu:emulate=sm_90a --entry=quantized --out=0=%t.repacked.npy
// RUN: cmp %t.quantized.npy %t.repacked.npy
// RUN: gpu-runner %s --target=cpu --verify --entry=written --out=0=%t.written.npy | FileCheck %s
// RUN: gpu-runner %t.mlir --target=cpu --entry=written --out=0=%t.repacked.npy
// RUN: cmp %t.written.npy %t.repacked.npy
// RUN: gpu-runner %s --target=cpu --verify --entry=padded --out=0=%t.padded.npy | FileCheck %s
// RUN: gpu-runner %t.mlir --target=cpu --entry=padded --out=0=%t.repacked.npy
// RUN: cmp %t.padded.npy %t.repacked.npy
// RUN: gpu-runner %s --target=cpu --entry=narrow --out=0=%t.narrow.npy
// RUN: gpu-runner %t.mlir --target=cpu --entry=narrow --out=0=%t.repacked.npy
// RUN: cmp %t.narrow.npy %t.repacked.npy
// RUN: gpu-runner %t.mlir --target=cpu:emulate=sm_90a --entry=narrow --out=0=%t.repacked.npy
// RUN: cmp %t.narrow.npy %t.repacked.npy
// CHECK: {{^}}verified
// REPACKED-COUNT-4: tessera.packing

// The copy computes the bytes and their padding: neither has memory of its own.
// REPACKED-LABEL: func.func @quantized
// REPACKED-NOT:   memref.copy
// Four pixels are the channels of one position.
// REPACKED:       memref.alloc() {{.*}} : memref<4x47x49x16xi8>
// REPACKED:       memref.alloc() {{.*}} : memref<64x4x4x16xi8>
// REPACKED-NOT:   memref.alloc() {{.*}}x3xi8>
// REPACKED:       tessera.packing = "copies the image
// REPACKED:         scf.if
// REPACKED-NEXT:      memref.load %{{.+}} : memref<4x3x90x94xf32>
// REPACKED:           arith.trunci
// REPACKED:         tessera.packing = "copies the filters

// The input changes after the bytes were computed, so that these are read.
// REPACKED-LABEL: func.func @written
// REPACKED:       linalg.generic
// REPACKED:       linalg.fill
// REPACKED:       tessera.packing = "copies the image
// REPACKED:         scf.if
// REPACKED-NEXT:      memref.load %{{.+}} : memref<4x90x94x3xi8>

// An image that is not packed, since there are few filters, is written by one op.
// REPACKED-LABEL: func.func @padded
// REPACKED:       memref.alloc() : memref<4x93x98x3xi8>
// REPACKED-NOT:   memref.alloc
// REPACKED:       linalg.generic
// REPACKED-SAME:    outs(%{{.+}} : memref<4x93x98x3xi8>)
// REPACKED:         scf.if
// REPACKED-NEXT:      memref.load %{{.+}} : memref<4x3x90x94xf32>
// REPACKED-NOT:   memref.copy
// REPACKED:       tessera.contract
// REPACKED:       return

// Too few filters for a group of subgroups; single ones gain by wide copies too, if the output is large.
// REPACKED-LABEL: func.func @narrow
// REPACKED:       memref.alloc() {{.*}} : memref<8x113x113x16xi8>
// REPACKED:       tessera.packing = "copies the image
// REPACKED:       tessera.packing = "copies the filters

// 7x7 in steps of two with different borders on each side, larger than the
// window's last position reaches.
func.func @steps(%image: memref<4x90x94x3xf16>, %filters: memref<7x7x3x64xf16>, %out: memref<4x45x48x64xf32>) {
  tessera.contract ins(%image, %filters : memref<4x90x94x3xf16>, memref<7x7x3x64xf16>) outs(%out : memref<4x45x48x64xf32>)
      maps [affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r - 3, w * 2 + s - 2, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>,
            affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// 5x3 in steps of one, filters by outputs, one image.
func.func @dense(%image: memref<1x130x131x3xf16>, %filters: memref<128x5x3x3xf16>, %out: memref<1x130x131x128xf32>) {
  tessera.contract ins(%image, %filters : memref<1x130x131x3xf16>, memref<128x5x3x3xf16>) outs(%out : memref<1x130x131x128xf32>)
      maps [affine_map<(n, h, w, f, r, s, c) -> (n, h + r - 2, w + s - 1, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// A quantized image, padded by its zero point: 9.
func.func @quantized(%x: memref<4x3x90x94xf32>, %filters: memref<64x7x7x3xi8>, %out: memref<4x44x46x64xi32>) {
  %scale = arith.constant 1.5 : f32
  %zero = arith.constant 9.0 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %padding = arith.constant 9 : i8
  %none = arith.constant 0.0 : f32
  %bytes = memref.alloc() : memref<4x90x94x3xi8>
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, c, h, w)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<4x3x90x94xf32>) outs(%bytes : memref<4x90x94x3xi8>) {
  ^bb0(%in: f32, %o: i8):
    %0 = arith.mulf %in, %scale : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %zero : f32
    %3 = arith.maximumf %2, %low : f32
    %4 = arith.minimumf %3, %high : f32
    %5 = arith.fptosi %4 : f32 to i32
    %6 = arith.trunci %5 : i32 to i8
    linalg.yield %6 : i8
  }
  %padded = memref.alloc() : memref<4x93x98x3xi8>
  linalg.fill ins(%padding : i8) outs(%padded : memref<4x93x98x3xi8>)
  %inside = memref.subview %padded[0, 2, 3, 0] [4, 90, 94, 3] [1, 1, 1, 1] : memref<4x93x98x3xi8> to memref<4x90x94x3xi8, strided<[27342, 294, 3, 1], offset: 597>>
  memref.copy %bytes, %inside : memref<4x90x94x3xi8> to memref<4x90x94x3xi8, strided<[27342, 294, 3, 1], offset: 597>>
  %start = arith.constant 0 : i32
  tessera.contract ins(%padded, %filters : memref<4x93x98x3xi8>, memref<64x7x7x3xi8>) init(%start : i32) outs(%out : memref<4x44x46x64xi32>)
      maps [affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  memref.dealloc %padded : memref<4x93x98x3xi8>
  memref.dealloc %bytes : memref<4x90x94x3xi8>
  return
}

func.func @written(%x: memref<4x3x90x94xf32>, %filters: memref<64x7x7x3xi8>, %out: memref<4x44x46x64xi32>) {
  %scale = arith.constant 1.5 : f32
  %zero = arith.constant 9.0 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %padding = arith.constant 9 : i8
  %none = arith.constant 0.0 : f32
  %bytes = memref.alloc() : memref<4x90x94x3xi8>
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, c, h, w)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<4x3x90x94xf32>) outs(%bytes : memref<4x90x94x3xi8>) {
  ^bb0(%in: f32, %o: i8):
    %0 = arith.mulf %in, %scale : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %zero : f32
    %3 = arith.maximumf %2, %low : f32
    %4 = arith.minimumf %3, %high : f32
    %5 = arith.fptosi %4 : f32 to i32
    %6 = arith.trunci %5 : i32 to i8
    linalg.yield %6 : i8
  }
  linalg.fill ins(%none : f32) outs(%x : memref<4x3x90x94xf32>)
  %padded = memref.alloc() : memref<4x93x98x3xi8>
  linalg.fill ins(%padding : i8) outs(%padded : memref<4x93x98x3xi8>)
  %inside = memref.subview %padded[0, 2, 3, 0] [4, 90, 94, 3] [1, 1, 1, 1] : memref<4x93x98x3xi8> to memref<4x90x94x3xi8, strided<[27342, 294, 3, 1], offset: 597>>
  memref.copy %bytes, %inside : memref<4x90x94x3xi8> to memref<4x90x94x3xi8, strided<[27342, 294, 3, 1], offset: 597>>
  %start = arith.constant 0 : i32
  tessera.contract ins(%padded, %filters : memref<4x93x98x3xi8>, memref<64x7x7x3xi8>) init(%start : i32) outs(%out : memref<4x44x46x64xi32>)
      maps [affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  memref.dealloc %padded : memref<4x93x98x3xi8>
  memref.dealloc %bytes : memref<4x90x94x3xi8>
  return
}

func.func @padded(%x: memref<4x3x90x94xf32>, %filters: memref<8x7x7x3xi8>, %out: memref<4x44x46x8xi32>) {
  %scale = arith.constant 1.5 : f32
  %zero = arith.constant 9.0 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %padding = arith.constant 9 : i8
  %none = arith.constant 0.0 : f32
  %bytes = memref.alloc() : memref<4x90x94x3xi8>
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, c, h, w)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<4x3x90x94xf32>) outs(%bytes : memref<4x90x94x3xi8>) {
  ^bb0(%in: f32, %o: i8):
    %0 = arith.mulf %in, %scale : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %zero : f32
    %3 = arith.maximumf %2, %low : f32
    %4 = arith.minimumf %3, %high : f32
    %5 = arith.fptosi %4 : f32 to i32
    %6 = arith.trunci %5 : i32 to i8
    linalg.yield %6 : i8
  }
  %padded = memref.alloc() : memref<4x93x98x3xi8>
  linalg.fill ins(%padding : i8) outs(%padded : memref<4x93x98x3xi8>)
  %inside = memref.subview %padded[0, 2, 3, 0] [4, 90, 94, 3] [1, 1, 1, 1] : memref<4x93x98x3xi8> to memref<4x90x94x3xi8, strided<[27342, 294, 3, 1], offset: 597>>
  memref.copy %bytes, %inside : memref<4x90x94x3xi8> to memref<4x90x94x3xi8, strided<[27342, 294, 3, 1], offset: 597>>
  %start = arith.constant 0 : i32
  tessera.contract ins(%padded, %filters : memref<4x93x98x3xi8>, memref<8x7x7x3xi8>) init(%start : i32) outs(%out : memref<4x44x46x8xi32>)
      maps [affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  memref.dealloc %padded : memref<4x93x98x3xi8>
  memref.dealloc %bytes : memref<4x90x94x3xi8>
  return
}

func.func @narrow(%image: memref<8x225x225x3xi8>, %filters: memref<32x3x3x3xi8>, %out: memref<8x112x112x32xi32>) {
  %start = arith.constant 0 : i32
  tessera.contract ins(%image, %filters : memref<8x225x225x3xi8>, memref<32x3x3x3xi8>) init(%start : i32) outs(%out : memref<8x112x112x32xi32>)
      maps [affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}
