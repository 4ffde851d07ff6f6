// A kernel's tensor maps are in its parameters, where the bulk copies read them:
// no copy of a map is made.
// REQUIRES: can-compile-ptx
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
//
// CHECK:       .entry copy(
// CHECK:       .param .align 64 .b8 copy_param_[[A:[0-9]+]][128],
// CHECK-NEXT:  .param .align 64 .b8 copy_param_[[B:[0-9]+]][128]
// CHECK-NEXT:  )
// CHECK-NOT:   .local
// CHECK-DAG:   mov.b64 [[PA:%rd[0-9]+]], copy_param_[[A]];
// CHECK-DAG:   cvta.param.u64 [[GA:%rd[0-9]+]], [[PA]];
// CHECK-DAG:   mov.b64 [[PB:%rd[0-9]+]], copy_param_[[B]];
// CHECK-DAG:   cvta.param.u64 [[GB:%rd[0-9]+]], [[PB]];
// CHECK-NOT:   .local
// CHECK:       cp.async.bulk.tensor.2d.shared::cluster.global{{.*}} [{{.+}}], [[[GA]], {{.+}}], [{{.+}}];
// CHECK-NOT:   .local
// CHECK:       cp.async.bulk.tensor.3d.shared::cluster.global{{.*}} [{{.+}}], [[[GB]], {{.+}}], [{{.+}}];
// CHECK-NOT:   .local
//
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global external constant @copy_map_0() {addr_space = 0 : i32} : !llvm.array<128 x i8>
    llvm.mlir.global external constant @copy_map_1() {addr_space = 0 : i32} : !llvm.array<128 x i8>
    llvm.mlir.global internal @tiles() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<32768 x i8>
    llvm.mlir.global internal @barrier() {addr_space = 3 : i32, alignment = 8 : i64} : i64
    gpu.func @copy(%x: memref<?x?xf16>, %y: memref<?x?x?xf16>) kernel attributes {tessera.tensor_maps = [
        {argument = 0 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64, symbol = @copy_map_0},
        {argument = 1 : i64, box = array<i64: 1, 128, 64>, swizzle = 128 : i64, symbol = @copy_map_1}]} {
      %tiles = llvm.mlir.addressof @tiles : !llvm.ptr<3>
      %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
      %a = llvm.mlir.addressof @copy_map_0 : !llvm.ptr
      %b = llvm.mlir.addressof @copy_map_1 : !llvm.ptr
      %block = gpu.block_id x
      %row = arith.index_cast %block : index to i32
      %zero = arith.constant 0 : i32
      %more = llvm.getelementptr %tiles[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %to_a = llvm.addrspacecast %tiles : !llvm.ptr<3> to !llvm.ptr<7>
      %to_b = llvm.addrspacecast %more : !llvm.ptr<3> to !llvm.ptr<7>
      nvvm.prefetch tensormap, %a : !llvm.ptr
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to_a, %a, %barrier, box [%zero, %row] : !llvm.ptr<7>, !llvm.ptr
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to_b, %b, %barrier, box [%zero, %row, %zero] : !llvm.ptr<7>, !llvm.ptr
      gpu.return
    }
  }
  func.func @main() {
    return
  }
}
