// Index arithmetic of the dialects index and affine, and a switch, in host code and in a kernel, which
// --verify evaluates as well.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper --emit=spirv -o %t.spv
// RUN: gpu-runner %s --target=cpu -e printed | FileCheck %s --check-prefix=PRINTED
// CHECK: {{^}}verified
// -7 divided by 2, rounded up and down, and its remainder
// PRINTED: {{^}}( -3, -4, -1 )
// The element of (5, 3, 2) whose number is 17 is (2, 2, 1).
// PRINTED-NEXT: {{^}}( 2, 2, 1 )
// PRINTED-NEXT: {{^}}17
// PRINTED-NEXT: {{^}}( 30, 10, 99 )

func.func @main(%in: memref<24xi32>, %out: memref<24xi32>) {
  %c1 = index.constant 1
  %c24 = index.constant 24
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c24, %ny = %c1, %nz = %c1) {
    // A transposition of (4, 6) to (6, 4).
    %0:2 = affine.delinearize_index %tx into (4, 6) : index, index
    %1 = affine.linearize_index disjoint [%0#1, %0#0] by (6, 4) : index
    %2 = memref.load %in[%tx] : memref<24xi32>
    %3 = scf.index_switch %0#0 -> i32
    case 1 {
      %4 = arith.addi %2, %2 : i32
      scf.yield %4 : i32
    }
    case 3 {
      %5 = index.castu %1 : index to i32
      scf.yield %5 : i32
    }
    default {
      scf.yield %2 : i32
    }
    memref.store %3, %out[%1] : memref<24xi32>
    gpu.terminator
  }
  return
}

func.func private @choose(%which: index) -> i32 {
  %0 = scf.index_switch %which -> i32
  case 0 {
    %c = arith.constant 10 : i32
    scf.yield %c : i32
  }
  case 5 {
    %c = arith.constant 30 : i32
    scf.yield %c : i32
  }
  default {
    %c = arith.constant 99 : i32
    scf.yield %c : i32
  }
  return %0 : i32
}

func.func private @divide(%a: index, %b: index) {
  %up = index.ceildivs %a, %b
  %down = index.floordivs %a, %b
  %rest = index.rems %a, %b
  %0 = index.casts %up : index to i64
  %1 = index.casts %down : index to i64
  %2 = index.casts %rest : index to i64
  %v = vector.from_elements %0, %1, %2 : vector<3xi64>
  vector.print %v : vector<3xi64>
  return
}

func.func private @split(%n: index) {
  %0:3 = affine.delinearize_index %n into (5, 3, 2) : index, index, index
  %v = vector.from_elements %0#0, %0#1, %0#2 : vector<3xindex>
  vector.print %v : vector<3xindex>
  %1 = affine.linearize_index [%0#0, %0#1, %0#2] by (5, 3, 2) : index
  vector.print %1 : index
  return
}

func.func @printed() {
  %a = index.constant -7
  %b = index.constant 2
  call @divide(%a, %b) : (index, index) -> ()
  %n = index.constant 17
  call @split(%n) : (index) -> ()
  %c0 = index.constant 0
  %c5 = index.constant 5
  %0 = call @choose(%c5) : (index) -> i32
  %1 = call @choose(%c0) : (index) -> i32
  %2 = call @choose(%n) : (index) -> i32
  %v = vector.from_elements %0, %1, %2 : vector<3xi32>
  vector.print %v : vector<3xi32>
  return
}
