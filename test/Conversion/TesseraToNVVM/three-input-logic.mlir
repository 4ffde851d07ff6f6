// RUN: gpu-opt %s --pass-pipeline="builtin.module(gpu.module(tessera-use-three-input-logic,canonicalize))" | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: func.func @word(
  // CHECK-SAME:      %[[X:.+]]: i32
  // CHECK-NEXT:    %[[Y:.+]] = llvm.inline_asm "lop3.b32 $0, $1, 0x000f000f, 0x43084308, 0x6a;", "=r,r" %[[X]] : (i32) -> i32
  // CHECK-NEXT:    return %[[Y]]
  func.func @word(%x: i32) -> i32 {
    %m = arith.constant 0x000f000f : i32
    %c = arith.constant 0x43084308 : i32
    %a = arith.andi %x, %m : i32
    %y = arith.xori %a, %c : i32
    return %y : i32
  }

  // CHECK-LABEL: func.func @words(
  // CHECK-SAME:      %[[X:.+]]: vector<2xi32>
  // CHECK:         %[[X0:.+]] = vector.extract %[[X]][0]
  // CHECK:         %[[Y0:.+]] = llvm.inline_asm {{.+}} %[[X0]] : (i32) -> i32
  // CHECK:         %[[X1:.+]] = vector.extract %[[X]][1]
  // CHECK:         %[[Y1:.+]] = llvm.inline_asm {{.+}} %[[X1]] : (i32) -> i32
  // CHECK:         vector.from_elements %[[Y0]], %[[Y1]] : vector<2xi32>
  func.func @words(%x: vector<2xi32>) -> vector<2xi32> {
    %m = arith.constant dense<0x000f000f> : vector<2xi32>
    %c = arith.constant dense<0x64006400> : vector<2xi32>
    %a = arith.andi %x, %m : vector<2xi32>
    %y = arith.xori %a, %c : vector<2xi32>
    return %y : vector<2xi32>
  }

  // A mask that something else uses, half words, an operand that is not constant.
  // CHECK-LABEL: func.func @others(
  // CHECK-NOT:     llvm.inline_asm
  // CHECK:         return
  func.func @others(%x: i32, %h: i16) -> (i32, i32, i16, i32) {
    %m = arith.constant 15 : i32
    %c = arith.constant 8 : i32
    %m16 = arith.constant 15 : i16
    %c16 = arith.constant 8 : i16
    %a = arith.andi %x, %m : i32
    %y = arith.xori %a, %c : i32
    %b = arith.andi %h, %m16 : i16
    %z = arith.xori %b, %c16 : i16
    %d = arith.andi %x, %c : i32
    %w = arith.xori %d, %x : i32
    return %a, %y, %z, %w : i32, i32, i16, i32
  }
}
