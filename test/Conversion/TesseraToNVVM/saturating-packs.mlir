// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-saturating-packs,canonicalize))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_86},gpu.module(tessera-use-saturating-packs,canonicalize))" | FileCheck %s
// Other chips would convert each number by itself.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},gpu.module(tessera-use-saturating-packs,canonicalize))" | FileCheck %s --check-prefix=OLD
// OLD-NOT: cvt.pack

gpu.module @kernels {
  // A store of four bytes.
  // CHECK-LABEL: func.func @four(
  // CHECK-SAME:      %[[X:.+]]: vector<4xf32>
  // CHECK-DAG:     %[[A0:.+]] = vector.extract %[[X]][0]
  // CHECK-DAG:     %[[A1:.+]] = vector.extract %[[X]][1]
  // CHECK-DAG:     %[[A2:.+]] = vector.extract %[[X]][2]
  // CHECK-DAG:     %[[A3:.+]] = vector.extract %[[X]][3]
  // CHECK:         %[[W:.+]] = llvm.inline_asm "{\0A.reg .b32 t<4>;
  // CHECK-SAME:        cvt.rni.s32.f32 t0, $1;
  // CHECK-SAME:        cvt.rni.s32.f32 t3, $4;
  // CHECK-SAME:        cvt.pack.sat.s8.s32.b32 t2, t3, t2, 0;
  // CHECK-SAME:        cvt.pack.sat.s8.s32.b32 $0, t1, t0, t2;
  // CHECK-SAME:        "=r,f,f,f,f" %[[A0]], %[[A1]], %[[A2]], %[[A3]]
  // CHECK:         vector.bitcast {{.*}} : vector<1xi32> to vector<4xi8>
  func.func @four(%x: vector<4xf32>) -> vector<4xi8> {
    %low = arith.constant dense<-128.0> : vector<4xf32>
    %high = arith.constant dense<127.0> : vector<4xf32>
    %r = math.roundeven %x : vector<4xf32>
    %a = arith.maximumf %r, %low : vector<4xf32>
    %b = arith.minimumf %a, %high : vector<4xf32>
    %i = arith.fptosi %b : vector<4xf32> to vector<4xi32>
    %y = arith.trunci %i : vector<4xi32> to vector<4xi8>
    return %y : vector<4xi8>
  }

  // Pairs are stored: no register has four bytes that would be split again. The zero point is added to
  // the number that an addition has rounded.
  // CHECK-LABEL: func.func @pairs(
  // CHECK-SAME:      %[[X:.+]]: vector<4xf32>
  // CHECK-DAG:     %[[MAGIC:.+]] = arith.constant dense<0x4B400000> : vector<4xf32>
  // CHECK-DAG:     %[[ZERO:.+]] = arith.constant dense<0xCB3FFFF9> : vector<4xf32>
  // CHECK:         %[[R:.+]] = arith.addf %[[X]], %[[MAGIC]]
  // CHECK:         %[[Y:.+]] = arith.addf %[[R]], %[[ZERO]]
  // CHECK-DAG:     %[[A0:.+]] = vector.extract %[[Y]][0]
  // CHECK-DAG:     %[[A1:.+]] = vector.extract %[[Y]][1]
  // CHECK:         cvt.pack.sat.u8.s32.b32 $0, t1, t0, 0;{{.*}} "=r,f,f" %[[A0]], %[[A1]]
  // CHECK-DAG:     %[[A2:.+]] = vector.extract %[[Y]][2]
  // CHECK-DAG:     %[[A3:.+]] = vector.extract %[[Y]][3]
  // CHECK:         cvt.pack.sat.u8.s32.b32 $0, t1, t0, 0;{{.*}} "=r,f,f" %[[A2]], %[[A3]]
  // CHECK-NOT:     math.roundeven
  func.func @pairs(%x: vector<4xf32>, %memory: memref<8x8xi8>, %i: index, %j: index, %k: index) {
    %zero = arith.constant dense<7.0> : vector<4xf32>
    %low = arith.constant dense<0.0> : vector<4xf32>
    %high = arith.constant dense<255.0> : vector<4xf32>
    %r = math.roundeven %x : vector<4xf32>
    %s = arith.addf %r, %zero : vector<4xf32>
    %a = arith.minimumf %s, %high : vector<4xf32>
    %b = arith.maximumf %a, %low : vector<4xf32>
    %n = arith.fptosi %b : vector<4xf32> to vector<4xi32>
    %y = arith.trunci %n : vector<4xi32> to vector<4xi8>
    %p = vector.shuffle %y, %y [0, 1] : vector<4xi8>, vector<4xi8>
    %q = vector.shuffle %y, %y [2, 3] : vector<4xi8>, vector<4xi8>
    vector.store %p, %memory[%i, %j] : memref<8x8xi8>, vector<2xi8>
    vector.store %q, %memory[%k, %j] : memref<8x8xi8>, vector<2xi8>
    return
  }

  // CHECK-LABEL: func.func @one(
  // CHECK-SAME:      %[[X:.+]]: f32
  // CHECK:         %[[W:.+]] = llvm.inline_asm {{.*}} %[[X]], %[[X]]
  // CHECK:         %[[Y:.+]] = arith.trunci %[[W]] : i32 to i8
  // CHECK:         return %[[Y]]
  func.func @one(%x: f32) -> i8 {
    %low = arith.constant -128.0 : f32
    %high = arith.constant 127.0 : f32
    %r = math.roundeven %x : f32
    %a = arith.maximumf %r, %low : f32
    %b = arith.minimumf %a, %high : f32
    %i = arith.fptosi %b : f32 to i32
    %y = arith.trunci %i : i32 to i8
    return %y : i8
  }

  // Conversions to bytes without a wider integer, the second of a number that is rounded after it is limited.
  // CHECK-LABEL: func.func @narrow(
  // CHECK:         llvm.inline_asm {{.*}}cvt.pack.sat.s8
  // CHECK:         llvm.inline_asm {{.*}}cvt.pack.sat.u8
  // CHECK-NOT:     arith.fpto
  // CHECK:         return
  func.func @narrow(%x: vector<4xf32>) -> (vector<4xi8>, vector<4xi8>) {
    %low = arith.constant dense<-128.0> : vector<4xf32>
    %high = arith.constant dense<127.0> : vector<4xf32>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %top = arith.constant dense<255.0> : vector<4xf32>
    %r = math.roundeven %x : vector<4xf32>
    %a = arith.maximumf %r, %low : vector<4xf32>
    %b = arith.minimumf %a, %high : vector<4xf32>
    %0 = arith.fptosi %b : vector<4xf32> to vector<4xi8>
    %c = arith.minimumf %x, %top : vector<4xf32>
    %d = arith.maximumf %c, %zero : vector<4xf32>
    %s = math.roundeven %d : vector<4xf32>
    %1 = arith.fptoui %s : vector<4xf32> to vector<4xi8>
    return %0, %1 : vector<4xi8>, vector<4xi8>
  }

  // Three bytes, a smaller range, a number that becomes a float again.
  // CHECK-LABEL: func.func @others(
  // CHECK-NOT:     llvm.inline_asm
  // CHECK:         return
  func.func @others(%x: vector<3xf32>, %y: f32, %z: f32) -> (vector<3xi8>, i8, f32) {
    %low = arith.constant -128.0 : f32
    %less = arith.constant 126.0 : f32
    %high = arith.constant 127.0 : f32
    %lows = arith.constant dense<-128.0> : vector<3xf32>
    %highs = arith.constant dense<127.0> : vector<3xf32>
    %r0 = math.roundeven %x : vector<3xf32>
    %a0 = arith.maximumf %r0, %lows : vector<3xf32>
    %b0 = arith.minimumf %a0, %highs : vector<3xf32>
    %i0 = arith.fptosi %b0 : vector<3xf32> to vector<3xi32>
    %0 = arith.trunci %i0 : vector<3xi32> to vector<3xi8>
    %r1 = math.roundeven %y : f32
    %a1 = arith.maximumf %r1, %low : f32
    %b1 = arith.minimumf %a1, %less : f32
    %i1 = arith.fptosi %b1 : f32 to i32
    %1 = arith.trunci %i1 : i32 to i8
    %r2 = math.roundeven %z : f32
    %a2 = arith.maximumf %r2, %low : f32
    %b2 = arith.minimumf %a2, %high : f32
    %i2 = arith.fptosi %b2 : f32 to i32
    %t2 = arith.trunci %i2 : i32 to i8
    %2 = arith.sitofp %t2 : i8 to f32
    return %0, %1, %2 : vector<3xi8>, i8, f32
  }
}
