// RUN: gpu-opt %s --split-input-file --tessera-merge-kernels | FileCheck %s --implicit-check-not=gpu.module
// RUN: gpu-opt %s --split-input-file --tessera-merge-kernels --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// Two layers of the same sizes are one kernel, launched twice. The module keeps what it states of the
// kernel under the name that is left.

// CHECK: module attributes {gpu.container_module, tessera.packings = {main_kernel = "copies it"}}
module attributes {gpu.container_module,
                   tessera.packings = {main_kernel = "copies it", main_kernel_1 = "copies it"}} {
  // CHECK-LABEL: func.func @main(
  func.func @main(%a: memref<64xf32>, %b: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    // CHECK: gpu.launch_func @main_kernel::@main_kernel {{.*}}args(%arg0 : memref<64xf32>)
    gpu.launch_func @main_kernel::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
    // CHECK: gpu.launch_func @main_kernel::@main_kernel {{.*}}args(%arg1 : memref<64xf32>)
    gpu.launch_func @main_kernel_1::@main_kernel_1 blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%b : memref<64xf32>)
    return
  }
  // CHECK:         gpu.module @main_kernel {
  // CHECK-NEXT:      gpu.func @main_kernel(
  // LOC-DAG:         math.exp %{{.*}} : f32 loc(#[[EXP:.*]])
  // LOC-DAG:       #[[FIRST:.*]] = loc("model":1:1)
  // LOC-DAG:       #[[SECOND:.*]] = loc("model":2:1)
  // LOC-DAG:       #[[EXP]] = loc(fused<"merged">[#[[FIRST]], #[[SECOND]]])
  gpu.module @main_kernel {
    gpu.func @main_kernel(%m: memref<64xf32>) kernel {
      %i = gpu.thread_id x
      %x = memref.load %m[%i] : memref<64xf32>
      %y = math.exp %x : f32 loc("model":1:1)
      memref.store %y, %m[%i] : memref<64xf32>
      gpu.return
    }
  }
  gpu.module @main_kernel_1 {
    gpu.func @main_kernel_1(%m: memref<64xf32>) kernel {
      %i = gpu.thread_id x
      %x = memref.load %m[%i] : memref<64xf32>
      %y = math.exp %x : f32 loc("model":2:1)
      memref.store %y, %m[%i] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Kernels stay that differ in an op, in an attribute, in an entry of the module's attributes, or in
// the function that launches them. Modules of several kernels stay as well.

module attributes {gpu.container_module, tessera.packings = {packed = "copies it"}} {
  // CHECK-LABEL: func.func @main(
  // CHECK: gpu.launch_func @base::@base
  // CHECK: gpu.launch_func @other_op::@other_op
  // CHECK: gpu.launch_func @other_attribute::@other_attribute
  // CHECK: gpu.launch_func @packed::@packed
  // CHECK: gpu.launch_func @several::@one
  // CHECK: gpu.launch_func @several::@two
  // CHECK-LABEL: func.func @other(
  // CHECK: gpu.launch_func @other_function::@other_function
  // CHECK: gpu.module @base
  // CHECK: gpu.module @other_op
  // CHECK: gpu.module @other_attribute
  // CHECK: gpu.module @packed
  // CHECK: gpu.module @other_function
  // CHECK: gpu.module @several
  func.func @main() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @base::@base blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @other_op::@other_op blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @other_attribute::@other_attribute blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @packed::@packed blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @several::@one blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @several::@two blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  func.func @other() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @other_function::@other_function blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  gpu.module @base {
    gpu.func @base() kernel {
      gpu.barrier
      gpu.return
    }
  }
  gpu.module @other_op {
    gpu.func @other_op() kernel {
      gpu.return
    }
  }
  gpu.module @other_attribute {
    gpu.func @other_attribute() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      gpu.barrier
      gpu.return
    }
  }
  gpu.module @packed {
    gpu.func @packed() kernel {
      gpu.barrier
      gpu.return
    }
  }
  gpu.module @other_function {
    gpu.func @other_function() kernel {
      gpu.barrier
      gpu.return
    }
  }
  gpu.module @several {
    gpu.func @one() kernel {
      gpu.barrier
      gpu.return
    }
    gpu.func @two() kernel {
      gpu.barrier
      gpu.return
    }
  }
}

// -----

// Origins and predictions of schedules do not distinguish kernels. The kernel that is left has all
// texts, each once.

#schedule = #tessera.window_schedule<points = 4, rows = 1, threads = 128>
#other = #tessera.window_schedule<points = 2, rows = 1, threads = 128>

// CHECK: module attributes {
// CHECK-SAME: tessera.schedule_origins = {main_kernel = "record 1; equal kernel: record 2", main_kernel_3 = "record 3"}
// CHECK-SAME: tessera.schedule_predictions = {main_kernel = "5 us"}
// CHECK-SAME: tessera.schedules = {main_kernel = #tessera.window_schedule<points = 4{{[^>]*}}>, main_kernel_3 = #tessera.window_schedule<points = 2{{[^>]*}}>}
module attributes {gpu.container_module,
                   tessera.schedule_origins = {main_kernel = "record 1", main_kernel_1 = "record 2",
                                               main_kernel_2 = "record 1", main_kernel_3 = "record 3"},
                   tessera.schedule_predictions = {main_kernel_1 = "5 us"},
                   tessera.schedules = {main_kernel = #schedule, main_kernel_1 = #schedule,
                                        main_kernel_2 = #schedule, main_kernel_3 = #other}} {
  // CHECK-LABEL: func.func @main(
  // CHECK-COUNT-3: gpu.launch_func @main_kernel::@main_kernel
  // CHECK: gpu.launch_func @main_kernel_3::@main_kernel_3
  func.func @main() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @main_kernel::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @main_kernel_1::@main_kernel_1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @main_kernel_2::@main_kernel_2 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @main_kernel_3::@main_kernel_3 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  // CHECK: gpu.module @main_kernel
  gpu.module @main_kernel {
    gpu.func @main_kernel() kernel {
      gpu.barrier
      gpu.return
    }
  }
  gpu.module @main_kernel_1 {
    gpu.func @main_kernel_1() kernel {
      gpu.barrier
      gpu.return
    }
  }
  gpu.module @main_kernel_2 {
    gpu.func @main_kernel_2() kernel {
      gpu.barrier
      gpu.return
    }
  }
  // CHECK: gpu.module @main_kernel_3
  gpu.module @main_kernel_3 {
    gpu.func @main_kernel_3() kernel {
      gpu.barrier
      gpu.return
    }
  }
}

// -----

// A function that a kernel calls belongs to it, and is compared as well.

module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @main(
  // CHECK: gpu.launch_func @plus::@plus
  // CHECK: gpu.launch_func @plus::@plus
  // CHECK: gpu.launch_func @minus::@minus
  func.func @main(%a: memref<f32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @plus::@plus blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<f32>)
    gpu.launch_func @again::@again blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<f32>)
    gpu.launch_func @minus::@minus blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<f32>)
    return
  }
  // CHECK: gpu.module @plus
  gpu.module @plus {
    gpu.func @plus(%m: memref<f32>) kernel {
      %x = memref.load %m[] : memref<f32>
      %y = func.call @f(%x) : (f32) -> f32
      memref.store %y, %m[] : memref<f32>
      gpu.return
    }
    func.func private @f(%x: f32) -> f32 {
      %y = arith.addf %x, %x : f32
      return %y : f32
    }
  }
  gpu.module @again {
    gpu.func @again(%m: memref<f32>) kernel {
      %x = memref.load %m[] : memref<f32>
      %y = func.call @f(%x) : (f32) -> f32
      memref.store %y, %m[] : memref<f32>
      gpu.return
    }
    func.func private @f(%x: f32) -> f32 {
      %y = arith.addf %x, %x : f32
      return %y : f32
    }
  }
  // CHECK: gpu.module @minus
  gpu.module @minus {
    gpu.func @minus(%m: memref<f32>) kernel {
      %x = memref.load %m[] : memref<f32>
      %y = func.call @f(%x) : (f32) -> f32
      memref.store %y, %m[] : memref<f32>
      gpu.return
    }
    func.func private @f(%x: f32) -> f32 {
      %y = arith.subf %x, %x : f32
      return %y : f32
    }
  }
}
