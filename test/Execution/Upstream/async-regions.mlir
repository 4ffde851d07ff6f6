// Regions of the async dialect run in program order: they launch a kernel, yield buffers and call
// functions.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e sums --verify | FileCheck %s --check-prefix=VERIFIED

// CHECK:      Current thread id: [[ID:[0-9a-fx]+]]
// CHECK-NEXT: Current thread id: [[ID]]
// CHECK-NEXT: Unranked Memref
// CHECK-NEXT: {{^}}[12,  14,  16,  18]
// CHECK-NEXT: {{^}}2.5

// VERIFIED: {{^}}verified

func.func private @printMemrefF32(memref<*xf32>)
func.func private @mlirAsyncRuntimePrintCurrentThreadId()

async.func private @half(%v: !async.value<f32>) -> !async.value<f32> {
  %x = async.await %v : !async.value<f32>
  %h = arith.constant 0.5 : f32
  %y = arith.mulf %x, %h : f32
  return %y : f32
}

func.func private @add(%a: memref<4xf32>, %b: memref<4xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%tx] : memref<4xf32>
    %y = memref.load %b[%tx] : memref<4xf32>
    %s = arith.addf %x, %y : f32
    memref.store %s, %b[%tx] : memref<4xf32>
    gpu.terminator
  }
  return
}

func.func @sums(%a: memref<4xf32>, %b: memref<4xf32>) {
  %c4 = arith.constant 4 : index
  %t0, %v = async.execute -> !async.value<memref<4xf32>> {
    %d = gpu.alloc () : memref<4xf32>
    gpu.memcpy %d, %a : memref<4xf32>, memref<4xf32>
    async.yield %d : memref<4xf32>
  }
  %t1 = async.execute [%t0] (%v as %d : !async.value<memref<4xf32>>) {
    func.call @add(%d, %b, %c4) : (memref<4xf32>, memref<4xf32>, index) -> ()
    async.yield
  }
  async.await %t1 : !async.token
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %ten = arith.constant 10.0 : f32
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %group = async.create_group %c4 : !async.group
  scf.for %i = %c0 to %c4 step %c1 {
    %t = async.execute {
      %n = arith.index_cast %i : index to i32
      %x = arith.sitofp %n : i32 to f32
      %y = arith.addf %x, %ten : f32
      memref.store %y, %a[%i] : memref<4xf32>
      %two = arith.constant 2.0 : f32
      %z = arith.addf %x, %two : f32
      memref.store %z, %b[%i] : memref<4xf32>
      async.yield
    }
    %rank = async.add_to_group %t, %group : !async.token
  }
  async.await_all %group
  call @mlirAsyncRuntimePrintCurrentThreadId() : () -> ()
  %t1 = async.execute {
    func.call @mlirAsyncRuntimePrintCurrentThreadId() : () -> ()
    func.call @sums(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
    async.yield
  }
  async.await %t1 : !async.token
  %u = memref.cast %b : memref<4xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  %t2, %five = async.execute -> !async.value<f32> {
    %x = arith.constant 5.0 : f32
    async.yield %x : f32
  }
  %h = async.call @half(%five) : (!async.value<f32>) -> !async.value<f32>
  %r = async.await %h : !async.value<f32>
  vector.print %r : f32
  return
}
