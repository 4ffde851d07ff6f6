// Static and dynamic workgroup memory of one kernel do not overlap.
//
// RUN: gpu-runner --target=cpu %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=sm_90a %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=gfx942 %s | FileCheck %s
// RUN: gpu-runner --target=cuda:sm_90a --emit=ptx %s | FileCheck %s --check-prefix=PTX

// The first row is from static memory, the second one from dynamic memory.
// CHECK:      {{^}}{{\[\[}}3,   2,   1,   0],
// CHECK-NEXT: {{^}} [103,   102,   101,   100]]

// PTX: st.shared{{.*}}+128]

func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %bytes = arith.constant 16 : i32
  %out = memref.alloc() : memref<2x4xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1)
      dynamic_shared_memory_size %bytes
      workgroup(%static : memref<4xi32, #gpu.address_space<workgroup>>) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c100 = arith.constant 100 : i32
    %all = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %dynamic = memref.view %all[%c0][] : memref<?xi8, #gpu.address_space<workgroup>>
        to memref<4xi32, #gpu.address_space<workgroup>>
    %x = arith.index_cast %tx : index to i32
    %y = arith.addi %x, %c100 : i32
    memref.store %x, %static[%tx] : memref<4xi32, #gpu.address_space<workgroup>>
    memref.store %y, %dynamic[%tx] : memref<4xi32, #gpu.address_space<workgroup>>
    gpu.barrier
    %other = arith.subi %c3, %tx : index
    %s = memref.load %static[%other] : memref<4xi32, #gpu.address_space<workgroup>>
    %d = memref.load %dynamic[%other] : memref<4xi32, #gpu.address_space<workgroup>>
    memref.store %s, %out[%c0, %tx] : memref<2x4xi32>
    memref.store %d, %out[%one, %tx] : memref<2x4xi32>
    gpu.terminator
  }
  %u = memref.cast %out : memref<2x4xi32> to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
