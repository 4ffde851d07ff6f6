// RUN: gpu-opt %s --tessera-convert-by-addition --canonicalize | FileCheck %s
//
// The bytes and floats are the same with and without additions, for all bytes, ties and numbers out of
// range. (The second program is the first one's output.)
// RUN: gpu-runner %s --target=cpu --entry=all --out=0=%t.0.npy --out=1=%t.1.npy --out=2=%t.2.npy --out=3=%t.3.npy
// RUN: gpu-opt %s --tessera-convert-by-addition -o %t.mlir
// RUN: FileCheck %s --check-prefix=GONE < %t.mlir
// RUN: gpu-runner %t.mlir --target=cpu --entry=all --out=0=%t.4.npy --out=1=%t.5.npy --out=2=%t.6.npy --out=3=%t.7.npy
// RUN: cmp %t.0.npy %t.4.npy
// RUN: cmp %t.1.npy %t.5.npy
// RUN: cmp %t.2.npy %t.6.npy
// RUN: cmp %t.3.npy %t.7.npy
// RUN: gpu-runner %s --target=cpu --entry=shifted --out=0=%t.8.npy --out=1=%t.9.npy
// RUN: gpu-runner %t.mlir --target=cpu --entry=shifted --out=0=%t.10.npy --out=1=%t.11.npy
// RUN: cmp %t.8.npy %t.10.npy
// RUN: cmp %t.9.npy %t.11.npy
// RUN: od -An -v -tf4 -w8 -j640 -N8 %t.8.npy | FileCheck %s --check-prefix=SHIFTED
// SHIFTED: 0 1{{$}}
// Conversions to bytes without a wider integer, and numbers that are rounded after they are limited.
// RUN: gpu-runner %s --target=cpu --entry=narrow --out=0=%t.n0.npy --out=1=%t.n1.npy --out=2=%t.n2.npy
// RUN: gpu-runner %t.mlir --target=cpu --entry=narrow --out=0=%t.b0.npy --out=1=%t.b1.npy --out=2=%t.b2.npy
// RUN: cmp %t.n0.npy %t.b0.npy
// RUN: cmp %t.n1.npy %t.b1.npy
// RUN: cmp %t.n2.npy %t.b2.npy
// All integers of 4 and 8 bits in vectors.
// RUN: gpu-runner %s --target=cpu --entry=vectors --out=0=%t.h0.npy --out=1=%t.h1.npy --out=2=%t.h2.npy --out=3=%t.h3.npy --out=4=%t.h4.npy --out=5=%t.h5.npy
// RUN: gpu-runner %t.mlir --target=cpu --entry=vectors --out=0=%t.a0.npy --out=1=%t.a1.npy --out=2=%t.a2.npy --out=3=%t.a3.npy --out=4=%t.a4.npy --out=5=%t.a5.npy
// RUN: cmp %t.h0.npy %t.a0.npy
// RUN: cmp %t.h1.npy %t.a1.npy
// RUN: cmp %t.h2.npy %t.a2.npy
// RUN: cmp %t.h3.npy %t.a3.npy
// RUN: cmp %t.h4.npy %t.a4.npy
// RUN: cmp %t.h5.npy %t.a5.npy
// RUN: od -An -v -tx2 -w32 -j128 -N32 %t.a0.npy | FileCheck %s --check-prefix=HALVES
// HALVES: 0000 3c00 4000 4200 4400 4500 4600 4700 c800 c700 c600 c500 c400 c200 c000 bc00
// RUN: od -An -v -td1 -w8 -j128 -N48 %t.0.npy | FileCheck %s --check-prefix=BYTES
// BYTES: -128 -128 -127 3 3 -125 -121 127

// CHECK-LABEL: func @round
// CHECK-SAME:      %[[X:.+]]: f32
// CHECK-DAG:     %[[LOW:.+]] = arith.constant -1.310000e+02 : f32
// CHECK-DAG:     %[[HIGH:.+]] = arith.constant 1.240000e+02 : f32
// CHECK-DAG:     %[[MAGIC:.+]] = arith.constant 0x4B400000 : f32
// CHECK-DAG:     %[[BITS:.+]] = arith.constant -1262485501 : i32
// CHECK:         %[[A:.+]] = arith.maximumf %[[X]], %[[LOW]]
// CHECK:         %[[B:.+]] = arith.minimumf %[[A]], %[[HIGH]]
// CHECK:         %[[S:.+]] = arith.addf %[[B]], %[[MAGIC]]
// CHECK:         %[[I:.+]] = arith.bitcast %[[S]] : f32 to i32
// CHECK:         %[[J:.+]] = arith.addi %[[I]], %[[BITS]]
// CHECK:         %[[Y:.+]] = arith.trunci %[[J]] : i32 to i8
// CHECK:         return %[[Y]]
func.func @round(%x: f32) -> i8 {
  %three = arith.constant 3.0 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %r = math.roundeven %x : f32
  %s = arith.addf %r, %three : f32
  %a = arith.maximumf %s, %low : f32
  %b = arith.minimumf %a, %high : f32
  %i = arith.fptosi %b : f32 to i32
  %y = arith.trunci %i : i32 to i8
  return %y : i8
}

// Rounded, and converted back: no integer is made.
// CHECK-LABEL: func @through
// CHECK-NOT:     arith.bitcast
// CHECK:         %[[S:.+]] = arith.addf %{{.+}}, %{{.+}} : vector<4xf32>
// CHECK:         %[[Y:.+]] = arith.addf %[[S]], %{{.+}} : vector<4xf32>
// CHECK:         return %[[Y]]
func.func @through(%x: vector<4xf32>) -> vector<4xf32> {
  %low = arith.constant dense<-128.0> : vector<4xf32>
  %high = arith.constant dense<127.0> : vector<4xf32>
  %r = math.roundeven %x : vector<4xf32>
  %a = arith.minimumf %r, %high : vector<4xf32>
  %b = arith.maximumf %a, %low : vector<4xf32>
  %i = arith.fptosi %b : vector<4xf32> to vector<4xi32>
  %y = arith.trunci %i : vector<4xi32> to vector<4xi8>
  %z = arith.sitofp %y : vector<4xi8> to vector<4xf32>
  return %z : vector<4xf32>
}

// CHECK-LABEL: func @widen
// CHECK-SAME:      %[[X:.+]]: i8
// CHECK-DAG:     %[[MASK:.+]] = arith.constant 1258291328 : i32
// CHECK-DAG:     %[[BASE:.+]] = arith.constant 0x4B000080 : f32
// CHECK:         %[[E:.+]] = arith.extui %[[X]] : i8 to i32
// CHECK:         %[[B:.+]] = arith.xori %[[E]], %[[MASK]]
// CHECK:         %[[F:.+]] = arith.bitcast %[[B]] : i32 to f32
// CHECK:         arith.subf %[[F]], %[[BASE]]
func.func @widen(%x: i8) -> f32 {
  %y = arith.sitofp %x : i8 to f32
  return %y : f32
}

// A zero point is a part of the constant, since all sums are exact; another number is not.
// CHECK-LABEL: func @shift
// CHECK-SAME:      %[[X:.+]]: i8, %[[Y:.+]]: f32
// CHECK-DAG:     %[[BASE:.+]] = arith.constant 0x4B000005 : f32
// CHECK-DAG:     %[[BACK:.+]] = arith.constant 0xCB400000 : f32
// CHECK-DAG:     %[[PART:.+]] = arith.constant 5.000000e-01 : f32
// CHECK:         %[[A:.+]] = arith.subf %{{.+}}, %[[BASE]]
// CHECK:         %[[S:.+]] = arith.addf
// CHECK:         %[[B:.+]] = arith.addf %[[S]], %[[BACK]]
// CHECK:         %[[D:.+]] = arith.subf %{{.+}}, %[[PART]]
// CHECK:         return %[[A]], %[[B]], %[[D]]
func.func @shift(%x: i8, %y: f32) -> (f32, f32, f32) {
  %five = arith.constant 5.0 : f32
  %part = arith.constant 0.5 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %f = arith.uitofp %x : i8 to f32
  %0 = arith.subf %f, %five : f32
  %r = math.roundeven %y : f32
  %s = arith.addf %r, %five : f32
  %a = arith.maximumf %s, %low : f32
  %b = arith.minimumf %a, %high : f32
  %i = arith.fptosi %b : f32 to i32
  %z = arith.trunci %i : i32 to i8
  %g = arith.sitofp %z : i8 to f32
  %1 = arith.subf %g, %five : f32
  %2 = arith.subf %f, %part : f32
  return %0, %1, %2 : f32, f32, f32
}

// Two bytes to a word, and four of them by one shuffle.
// CHECK-LABEL: func @bytes
// CHECK-SAME:      %[[X:.+]]: vector<4xi8>
// CHECK-DAG:     %[[SIGN:.+]] = arith.constant dense<-128> : vector<4xi8>
// CHECK-DAG:     %[[HIGH:.+]] = arith.constant dense<100> : vector<4xi8>
// CHECK-DAG:     %[[BASE:.+]] = arith.constant dense<1.152000e+03> : vector<4xf16>
// CHECK:         %[[B:.+]] = arith.xori %[[X]], %[[SIGN]]
// CHECK:         %[[W:.+]] = vector.shuffle %[[B]], %[[HIGH]] [0, 4, 1, 4, 2, 4, 3, 4]
// CHECK:         %[[F:.+]] = vector.bitcast %[[W]] : vector<8xi8> to vector<4xf16>
// CHECK:         arith.subf %[[F]], %[[BASE]]
func.func @bytes(%x: vector<4xi8>) -> vector<4xf16> {
  %y = arith.sitofp %x : vector<4xi8> to vector<4xf16>
  return %y : vector<4xf16>
}

// A difference is that of floats, and an extension has no effect.
// CHECK-LABEL: func @difference
// CHECK-NOT:     arith.subi
// CHECK:         %[[A:.+]] = arith.subf {{.*}} : vector<4xf16>
// CHECK:         %[[B:.+]] = arith.subf {{.*}} : vector<4xf16>
// CHECK:         arith.subf %[[A]], %[[B]] : vector<4xf16>
func.func @difference(%x: vector<4xi8>, %z: vector<4xi8>) -> vector<4xf16> {
  %a = arith.extui %x : vector<4xi8> to vector<4xi32>
  %b = arith.extui %z : vector<4xi8> to vector<4xi32>
  %d = arith.subi %a, %b : vector<4xi32>
  %y = arith.sitofp %d : vector<4xi32> to vector<4xf16>
  return %y : vector<4xf16>
}

// It may wrap.
// CHECK-LABEL: func @wraps
// CHECK:         arith.subi
func.func @wraps(%x: vector<4xi8>, %z: vector<4xi8>) -> vector<4xf32> {
  %d = arith.subi %x, %z : vector<4xi8>
  %y = arith.sitofp %d : vector<4xi8> to vector<4xf32>
  return %y : vector<4xf32>
}

// No limits, a limit that is not constant, one that is not an integer, too many bits.
// CHECK-LABEL: func @others
// CHECK-COUNT-4: arith.fptosi
func.func @others(%x: f32, %limit: f32) -> (i8, i8, i8, i24) {
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %half = arith.constant 127.5 : f32
  %r = math.roundeven %x : f32
  %i0 = arith.fptosi %r : f32 to i32
  %y0 = arith.trunci %i0 : i32 to i8
  %a1 = arith.maximumf %r, %limit : f32
  %b1 = arith.minimumf %a1, %high : f32
  %i1 = arith.fptosi %b1 : f32 to i32
  %y1 = arith.trunci %i1 : i32 to i8
  %a2 = arith.maximumf %r, %low : f32
  %b2 = arith.minimumf %a2, %half : f32
  %i2 = arith.fptosi %b2 : f32 to i32
  %y2 = arith.trunci %i2 : i32 to i8
  %b3 = arith.minimumf %a2, %high : f32
  %i3 = arith.fptosi %b3 : f32 to i32
  %y3 = arith.trunci %i3 : i32 to i24
  return %y0, %y1, %y2, %y3 : i8, i8, i8, i24
}

// GONE-LABEL: func.func @all
// GONE-NOT:     math.roundeven
// GONE-NOT:     arith.sitofp {{.*}} : i8
// GONE:         return
#id = affine_map<(i) -> (i)>
func.func @all() -> (tensor<8xi8>, tensor<2048xi8>, tensor<256xf32>, tensor<2048xf32>) {
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %top = arith.constant 255.0 : f32
  %odd = arith.constant 3.0 : f32
  %quarter = arith.constant 0.25 : f32
  %half = arith.constant 1024 : index
  %some = arith.constant dense<[-1.0e30, -131.5, -130.49, 0.5, -0.5, -127.5, -124.5, 3.0e38]> : tensor<8xf32>
  %e0 = tensor.empty() : tensor<8xi8>
  %e1 = tensor.empty() : tensor<2048xi8>
  %e2 = tensor.empty() : tensor<256xf32>
  %e3 = tensor.empty() : tensor<2048xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%some : tensor<8xf32>) outs(%e0 : tensor<8xi8>) {
  ^bb0(%x: f32, %o: i8):
    %r = math.roundeven %x : f32
    %s = arith.addf %r, %odd : f32
    %a = arith.maximumf %s, %low : f32
    %b = arith.minimumf %a, %high : f32
    %i = arith.fptosi %b : f32 to i32
    %y = arith.trunci %i : i32 to i8
    linalg.yield %y : i8
  } -> tensor<8xi8>
  // Quarters from -256 to 256, so that there is each tie.
  %1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e1 : tensor<2048xi8>) {
  ^bb0(%o: i8):
    %n = linalg.index 0 : index
    %m = arith.subi %n, %half : index
    %k = arith.index_cast %m : index to i32
    %f = arith.sitofp %k : i32 to f32
    %x = arith.mulf %f, %quarter : f32
    %r = math.roundeven %x : f32
    %s = arith.addf %r, %odd : f32
    %a = arith.maximumf %s, %low : f32
    %b = arith.minimumf %a, %high : f32
    %i = arith.fptosi %b : f32 to i32
    %y = arith.trunci %i : i32 to i8
    linalg.yield %y : i8
  } -> tensor<2048xi8>
  // Each byte.
  %2 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e2 : tensor<256xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %k = arith.index_cast %n : index to i32
    %y = arith.trunci %k : i32 to i8
    %f = arith.sitofp %y : i8 to f32
    %u = arith.uitofp %y : i8 to f32
    %p = arith.mulf %u, %quarter : f32
    %d = arith.subf %f, %p : f32
    linalg.yield %d : f32
  } -> tensor<256xf32>
  // Rounded and back, without a sign.
  %3 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e3 : tensor<2048xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %k = arith.index_cast %n : index to i32
    %f = arith.sitofp %k : i32 to f32
    %x = arith.mulf %f, %quarter : f32
    %zero = arith.constant 0.0 : f32
    %r = math.roundeven %x : f32
    %a = arith.maximumf %r, %zero : f32
    %b = arith.minimumf %a, %top : f32
    %i = arith.fptosi %b : f32 to i32
    %y = arith.trunci %i : i32 to i8
    %g = arith.uitofp %y : i8 to f32
    linalg.yield %g : f32
  } -> tensor<2048xf32>
  return %0, %1, %2, %3 : tensor<8xi8>, tensor<2048xi8>, tensor<256xf32>, tensor<2048xf32>
}

// Each byte with and without a sign, minus a zero point, and rounded numbers minus theirs.
func.func @shifted() -> (tensor<256xf32>, tensor<2048xf32>) {
  %half = arith.constant 1024 : index
  %quarter = arith.constant 0.25 : f32
  %odd = arith.constant -3.0 : f32
  %even = arith.constant 128.0 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %e0 = tensor.empty() : tensor<256xf32>
  %e1 = tensor.empty() : tensor<2048xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e0 : tensor<256xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %k = arith.index_cast %n : index to i32
    %y = arith.trunci %k : i32 to i8
    %f = arith.sitofp %y : i8 to f32
    %u = arith.uitofp %y : i8 to f32
    %f1 = arith.subf %f, %odd : f32
    %u1 = arith.subf %u, %even : f32
    %d = arith.maximumf %f1, %u1 : f32
    linalg.yield %d : f32
  } -> tensor<256xf32>
  %1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e1 : tensor<2048xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %m = arith.subi %n, %half : index
    %k = arith.index_cast %m : index to i32
    %f = arith.sitofp %k : i32 to f32
    %x = arith.mulf %f, %quarter : f32
    %r = math.roundeven %x : f32
    %s = arith.addf %r, %odd : f32
    %a = arith.maximumf %s, %low : f32
    %b = arith.minimumf %a, %high : f32
    %i = arith.fptosi %b : f32 to i32
    %y = arith.trunci %i : i32 to i8
    %g = arith.sitofp %y : i8 to f32
    %d = arith.subf %g, %odd : f32
    linalg.yield %d : f32
  } -> tensor<2048xf32>
  return %0, %1 : tensor<256xf32>, tensor<2048xf32>
}

// GONE-LABEL: func.func @vectors
// GONE-NOT:     arith.{{[su]}}itofp
// GONE:         return
func.func @vectors(%a: memref<16xf16>, %b: memref<16xf16>, %c: memref<16xbf16>, %d: memref<256xf16>, %e: memref<256xf16>, %f: memref<256xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    // Nothing is known before the run.
    %t = arith.index_cast %tx : index to i8
    %zeros = vector.broadcast %t : i8 to vector<8xi8>
    %two = arith.constant dense<[0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe]> : vector<8xi8>
    %bytes = arith.addi %two, %zeros : vector<8xi8>
    %n = vector.bitcast %bytes : vector<8xi8> to vector<16xi4>
    %n0 = arith.sitofp %n : vector<16xi4> to vector<16xf16>
    %n1 = arith.uitofp %n : vector<16xi4> to vector<16xf16>
    %n2 = arith.sitofp %n : vector<16xi4> to vector<16xbf16>
    vector.store %n0, %a[%c0] : memref<16xf16>, vector<16xf16>
    vector.store %n1, %b[%c0] : memref<16xf16>, vector<16xf16>
    vector.store %n2, %c[%c0] : memref<16xbf16>, vector<16xbf16>
    %all = arith.constant dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : vector<256xi8>
    %none = vector.broadcast %t : i8 to vector<256xi8>
    %m = arith.addi %all, %none : vector<256xi8>
    %m0 = arith.sitofp %m : vector<256xi8> to vector<256xf16>
    %m1 = arith.uitofp %m : vector<256xi8> to vector<256xf16>
    %m2 = arith.sitofp %m : vector<256xi8> to vector<256xbf16>
    vector.store %m0, %d[%c0] : memref<256xf16>, vector<256xf16>
    vector.store %m1, %e[%c0] : memref<256xf16>, vector<256xf16>
    vector.store %m2, %f[%c0] : memref<256xbf16>, vector<256xbf16>
    gpu.terminator
  }
  return
}

// The same bytes from conversions to i8, signed and unsigned, and from numbers that are rounded last.
// GONE-LABEL: func.func @narrow
// GONE-NOT:     math.roundeven
// GONE-NOT:     arith.fpto
// GONE:         return
func.func @narrow() -> (tensor<2048xi8>, tensor<2048xi8>, tensor<2048xi8>) {
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %zero = arith.constant 0.0 : f32
  %top = arith.constant 255.0 : f32
  %odd = arith.constant 3.0 : f32
  %quarter = arith.constant 0.25 : f32
  %half = arith.constant 1024 : index
  %e = tensor.empty() : tensor<2048xi8>
  %0:3 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      outs(%e, %e, %e : tensor<2048xi8>, tensor<2048xi8>, tensor<2048xi8>) {
  ^bb0(%o0: i8, %o1: i8, %o2: i8):
    %n = linalg.index 0 : index
    %m = arith.subi %n, %half : index
    %k = arith.index_cast %m : index to i64
    %f = arith.sitofp %k : i64 to f32
    %x = arith.mulf %f, %quarter : f32
    %r = math.roundeven %x : f32
    %s = arith.addf %r, %odd : f32
    %a = arith.maximumf %s, %low : f32
    %b = arith.minimumf %a, %high : f32
    %y0 = arith.fptosi %b : f32 to i8
    %c = arith.minimumf %s, %top : f32
    %d = arith.maximumf %c, %zero : f32
    %y1 = arith.fptoui %d : f32 to i8
    %g = arith.maximumf %x, %low : f32
    %h = arith.minimumf %g, %high : f32
    %l = math.roundeven %h : f32
    %y2 = arith.fptosi %l : f32 to i8
    linalg.yield %y0, %y1, %y2 : i8, i8, i8
  } -> (tensor<2048xi8>, tensor<2048xi8>, tensor<2048xi8>)
  return %0#0, %0#1, %0#2 : tensor<2048xi8>, tensor<2048xi8>, tensor<2048xi8>
}
