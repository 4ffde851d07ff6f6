// RUN: gpu-opt %s --pass-pipeline="builtin.module(gpu.module(tessera-use-byte-permutes,canonicalize,cse))" | FileCheck %s

gpu.module @kernels {
  // One register of four bytes: selector 7650 has the upper bytes of the constant and byte 0.
  // CHECK-LABEL: func.func @four(
  // CHECK-SAME:      %[[X:.+]]: vector<4xi8>
  // CHECK-DAG:     %[[UNIT:.+]] = arith.constant 1258291200 : i32
  // CHECK-DAG:     %[[B0:.+]] = arith.constant 30288 : i32
  // CHECK-DAG:     %[[B3:.+]] = arith.constant 30291 : i32
  // CHECK:         %[[B:.+]] = vector.bitcast %[[X]] : vector<4xi8> to vector<1xi32>
  // CHECK:         %[[W:.+]] = vector.extract %[[B]][0]
  // CHECK:         nvvm.prmt <default> %[[B0]], %[[W]], %[[UNIT]] : i32
  // CHECK:         nvvm.prmt <default> %[[B3]], %[[W]], %[[UNIT]] : i32
  func.func @four(%x: vector<4xi8>) -> vector<4xi32> {
    %c = arith.constant dense<0x4b000000> : vector<4xi32>
    %e = arith.extui %x : vector<4xi8> to vector<4xi32>
    %y = arith.xori %e, %c : vector<4xi32>
    return %y : vector<4xi32>
  }

  // Bytes with a sign, of two registers of two: the signs of a register change at once.
  // CHECK-LABEL: func.func @signs(
  // CHECK-SAME:      %[[X:.+]]: vector<2xi8>, %[[Y:.+]]: vector<2xi8>
  // CHECK-DAG:     %[[SIGNS:.+]] = arith.constant -2139062144 : i32
  // CHECK-DAG:     %[[UNIT:.+]] = arith.constant 1258291200 : i32
  // CHECK-DAG:     %[[B0:.+]] = arith.constant 30288 : i32
  // CHECK-DAG:     %[[B1:.+]] = arith.constant 30289 : i32
  // CHECK:         %[[P:.+]] = vector.bitcast %[[Y]] : vector<2xi8> to vector<1xi16>
  // CHECK:         %[[V:.+]] = arith.extui {{.*}} : i16 to i32
  // CHECK:         %[[VS:.+]] = arith.xori %[[V]], %[[SIGNS]]
  // CHECK:         %[[R0:.+]] = nvvm.prmt <default> %[[B1]], %[[VS]], %[[UNIT]]
  // CHECK:         %[[Q:.+]] = vector.bitcast %[[X]] : vector<2xi8> to vector<1xi16>
  // CHECK:         %[[W:.+]] = arith.extui {{.*}} : i16 to i32
  // CHECK:         %[[WS:.+]] = arith.xori %[[W]], %[[SIGNS]]
  // CHECK:         %[[R1:.+]] = nvvm.prmt <default> %[[B0]], %[[WS]], %[[UNIT]]
  // CHECK:         vector.from_elements %[[R0]], %[[R1]]
  func.func @signs(%x: vector<2xi8>, %y: vector<2xi8>) -> vector<2xi32> {
    %c = arith.constant dense<0x4b000080> : vector<2xi32>
    %both = vector.shuffle %x, %y [3, 0] : vector<2xi8>, vector<2xi8>
    %e = arith.extui %both : vector<2xi8> to vector<2xi32>
    %z = arith.xori %e, %c : vector<2xi32>
    return %z : vector<2xi32>
  }

  // Scalars are not in a register with others; three bytes are not a register; a constant that varies.
  // CHECK-LABEL: func.func @others(
  // CHECK-NOT:     nvvm.prmt
  // CHECK:         return
  func.func @others(%a: i8, %b: i8, %x: vector<3xi8>, %y: vector<2xi8>) -> (vector<2xi32>, vector<3xi32>, vector<2xi32>) {
    %c2 = arith.constant dense<0x4b000000> : vector<2xi32>
    %c3 = arith.constant dense<0x4b000000> : vector<3xi32>
    %v = arith.constant dense<[0x4b000000, 0]> : vector<2xi32>
    %both = vector.from_elements %a, %b : vector<2xi8>
    %e0 = arith.extui %both : vector<2xi8> to vector<2xi32>
    %0 = arith.xori %e0, %c2 : vector<2xi32>
    %e1 = arith.extui %x : vector<3xi8> to vector<3xi32>
    %1 = arith.xori %e1, %c3 : vector<3xi32>
    %e2 = arith.extui %y : vector<2xi8> to vector<2xi32>
    %2 = arith.xori %e2, %v : vector<2xi32>
    return %0, %1, %2 : vector<2xi32>, vector<3xi32>, vector<2xi32>
  }

  // Words of bytes of one word and a constant: 0, 4, 1 and 4 of both; and of two words.
  // CHECK-LABEL: func.func @shuffles(
  // CHECK-SAME:      %[[X:.+]]: vector<4xi8>, %[[Y:.+]]: vector<4xi8>
  // CHECK-DAG:     %[[LOW:.+]] = arith.constant 16704 : i32
  // CHECK-DAG:     %[[HIGH:.+]] = arith.constant 17218 : i32
  // CHECK-DAG:     %[[BOTH:.+]] = arith.constant 21505 : i32
  // CHECK-DAG:     %[[UNIT:.+]] = arith.constant 1684300900 : i32
  // CHECK:         %[[VX:.+]] = vector.bitcast %[[X]] : vector<4xi8> to vector<1xi32>
  // CHECK:         %[[WX:.+]] = vector.extract %[[VX]][0]
  // CHECK:         %[[P0:.+]] = nvvm.prmt <default> %[[LOW]], %[[WX]], %[[UNIT]] : i32
  // CHECK:         %[[P1:.+]] = nvvm.prmt <default> %[[HIGH]], %[[WX]], %[[UNIT]] : i32
  // CHECK:         vector.from_elements %[[P0]], %[[P1]] : vector<2xi32>
  // CHECK:         %[[VY:.+]] = vector.bitcast %[[Y]] : vector<4xi8> to vector<1xi32>
  // CHECK:         %[[WY:.+]] = vector.extract %[[VY]][0]
  // CHECK:         nvvm.prmt <default> %[[BOTH]], %[[WX]], %[[WY]] : i32
  func.func @shuffles(%x: vector<4xi8>, %y: vector<4xi8>) -> (vector<8xi8>, vector<4xi8>) {
    %unit = arith.constant dense<0x64> : vector<4xi8>
    %0 = vector.shuffle %x, %unit [0, 4, 1, 4, 2, 4, 3, 4] : vector<4xi8>, vector<4xi8>
    %1 = vector.shuffle %x, %y [1, 0, 4, 5] : vector<4xi8>, vector<4xi8>
    return %0, %1 : vector<8xi8>, vector<4xi8>
  }

  // Bytes of three words, words that only change places, and two bytes.
  // CHECK-LABEL: func.func @not_words(
  // CHECK-NOT:     nvvm.prmt
  // CHECK:         return
  func.func @not_words(%x: vector<8xi8>, %y: vector<4xi8>) -> (vector<4xi8>, vector<8xi8>, vector<2xi8>) {
    %0 = vector.shuffle %x, %y [1, 5, 9, 0] : vector<8xi8>, vector<4xi8>
    %1 = vector.shuffle %x, %x [4, 5, 6, 7, 0, 1, 2, 3] : vector<8xi8>, vector<8xi8>
    %2 = vector.shuffle %y, %y [1, 0] : vector<4xi8>, vector<4xi8>
    return %0, %1, %2 : vector<4xi8>, vector<8xi8>, vector<2xi8>
  }
}
