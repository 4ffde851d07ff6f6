// From sm_90 on, all threads of each kernel wait for the kernel before ahead of
// any access to memory, and the module has the mark, also as machine code.
// REQUIRES: can-compile-ptx
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=cubin -o %t.cubin
// RUN: llvm-readelf --symbols %t.cubin | FileCheck %s --check-prefix=CUBIN
// RUN: gpu-runner %s --target=cuda:sm_120 --emit=ptx | FileCheck %s --check-prefix=SM120
// RUN: gpu-runner %s --target=cuda:sm_89 --emit=ptx | FileCheck %s --check-prefix=OLD --implicit-check-not=griddepcontrol --implicit-check-not=tessera_kernels_wait
//
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=MARK
// MARK-COUNT-1: .visible .global .align 1 .b8 tessera_kernels_wait;
// MARK-NOT:     tessera_kernels_wait
//
// A matmul by bulk copies, which are prepared before the wait.
// CHECK:       .entry multiply_kernel(
// CHECK-NOT:   {{[[:space:]](ld|st)\.(global|shared|volatile|relaxed|acquire|release|v2|v4|b|u|f)}}
// CHECK-NOT:   {{[[:space:]](cp|atom|red|mma|wgmma|setmaxnreg|ret)[.;]}}
// CHECK:       prefetch.{{.*}}tensormap
// CHECK-NOT:   {{[[:space:]](ld|st)\.(global|shared|volatile|relaxed|acquire|release|v2|v4|b|u|f)}}
// CHECK-NOT:   {{[[:space:]](cp|atom|red|mma|wgmma|setmaxnreg|ret)[.;]}}
// CHECK:       mbarrier.init
// CHECK-NOT:   {{[[:space:]](ld|st)\.(global|shared|volatile|relaxed|acquire|release|v2|v4|b|u|f)}}
// CHECK-NOT:   {{[[:space:]](cp|atom|red|mma|wgmma|setmaxnreg|ret)[.;]}}
// CHECK:       griddepcontrol.wait;
// CHECK-NEXT:  griddepcontrol.launch_dependents;
// CHECK-NOT:   griddepcontrol
// CHECK:       cp.async.bulk.tensor
//
// Plain loads and stores.
// CHECK:       .entry add_kernel(
// CHECK-NOT:   {{[[:space:]](ld|st)\.(global|shared|volatile|relaxed|acquire|release|v2|v4|b|u|f)}}
// CHECK-NOT:   ret;
// CHECK:       griddepcontrol.wait;
// CHECK-NEXT:  griddepcontrol.launch_dependents;
// CHECK-NOT:   griddepcontrol
// CHECK:       ld.global
// CHECK:       st.global
//
// A kernel in which only the first thread of the first workgroup does anything.
// CHECK:       .entry write_kernel(
// CHECK-NOT:   {{[[:space:]](bra|ret|st)[ ;.]}}
// CHECK:       griddepcontrol.wait;
// CHECK-NEXT:  griddepcontrol.launch_dependents;
// CHECK-NOT:   griddepcontrol
// CHECK:       bra
// CHECK:       st.global
//
// CUBIN:       GLOBAL {{.*}} tessera_kernels_wait{{$}}
// SM120-COUNT-3: griddepcontrol.wait;
// OLD-COUNT-3: .entry

func.func @multiply(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %c = linalg.matmul ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16>)
      outs(%i : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %c : tensor<1024x1024xf32>
}

func.func @add(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.add ins(%x, %y : memref<?xf32>, memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

func.func @write(%x: memref<?xf32>, %value: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c32, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %number = arith.addi %bx, %tx : index
    %isFirst = arith.cmpi eq, %number, %c0 : index
    scf.if %isFirst {
      memref.store %value, %x[%c0] : memref<?xf32>
    }
    gpu.terminator
  }
  return
}
