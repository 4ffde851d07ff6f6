// RUN: gpu-opt %s --pass-pipeline="builtin.module(gpu.module(tessera-place-tensor-maps))" --split-input-file --verify-diagnostics | FileCheck %s
// The pass leaves its own result alone.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(gpu.module(tessera-place-tensor-maps, tessera-place-tensor-maps))" --split-input-file --verify-diagnostics | FileCheck %s

// The parameters follow the kernel's others in the list's order. An unused map
// has one too, and so do maps of the same argument.
// CHECK-LABEL: gpu.module @m
// CHECK-NOT:     llvm.mlir.global
// CHECK:         llvm.func @k(%{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: i64,
// CHECK-SAME:      %[[A:[^:]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
// CHECK-SAME:      %{{[^:]+}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
// CHECK-SAME:      %[[C:[^:]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
// CHECK-SAME:      tessera.tensor_maps = [
// CHECK-SAME:        {argument = 0 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64},
// CHECK-SAME:        {argument = 0 : i64, box = array<i64: 64, 8>, swizzle = 0 : i64},
// CHECK-SAME:        {argument = 0 : i64, box = array<i64: 64, 16>, swizzle = 32 : i64}]
// CHECK-NOT:     llvm.mlir.addressof
// CHECK:         nvvm.prefetch tensormap, %[[C]]
// CHECK:         llvm.cond_br
// CHECK:         nvvm.prefetch tensormap, %[[A]]
// CHECK:         nvvm.prefetch tensormap, %[[A]]
// CHECK:         llvm.func @plain(%{{.+}}: !llvm.ptr)
gpu.module @m {
  llvm.mlir.global external constant @map_a() {addr_space = 0 : i32} : !llvm.array<128 x i8>
  llvm.mlir.global external constant @map_b() {addr_space = 0 : i32} : !llvm.array<128 x i8>
  llvm.mlir.global external constant @map_c() {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<128 x i8>
  llvm.func @k(%x: !llvm.ptr, %n: i64) attributes {gpu.kernel, nvvm.kernel, tessera.tensor_maps = [
      {argument = 0 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64, symbol = @map_a},
      {argument = 0 : i64, box = array<i64: 64, 8>, swizzle = 0 : i64, symbol = @map_b},
      {argument = 0 : i64, box = array<i64: 64, 16>, swizzle = 32 : i64, symbol = @map_c}]} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %c = llvm.mlir.addressof @map_c : !llvm.ptr
    nvvm.prefetch tensormap, %c : !llvm.ptr
    %some = llvm.icmp "ne" %n, %zero : i64
    llvm.cond_br %some, ^more, ^end
  ^more:
    %a = llvm.mlir.addressof @map_a : !llvm.ptr
    nvvm.prefetch tensormap, %a : !llvm.ptr
    %again = llvm.mlir.addressof @map_a : !llvm.ptr
    nvvm.prefetch tensormap, %again : !llvm.ptr
    llvm.br ^end
  ^end:
    llvm.return
  }
  llvm.func @plain(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.mlir.global external constant @map() {addr_space = 0 : i32} : !llvm.array<64 x i8>
  // expected-error @below {{tensor map @map must be an llvm.mlir.global of '!llvm.array<128 x i8>', in address space 0 of the kernel's module}}
  llvm.func @k(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, tessera.tensor_maps = [
      {argument = 0 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64, symbol = @map}]} {
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.mlir.global external constant @map() {addr_space = 0 : i32} : !llvm.array<128 x i8>
  llvm.func @k(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, tessera.tensor_maps = [
      {argument = 0 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64, symbol = @map}]} {
    llvm.return
  }
  llvm.func @helper() {
    // expected-error @below {{tensor map @map belongs to a kernel, but this function is not the one that lists it in tessera.tensor_maps: pass the address to the function as an argument}}
    %map = llvm.mlir.addressof @map : !llvm.ptr
    nvvm.prefetch tensormap, %map : !llvm.ptr
    llvm.return
  }
}
