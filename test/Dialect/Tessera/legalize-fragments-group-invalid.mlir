// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-legalize-fragments))" --split-input-file --verify-diagnostics

// The requirements of an instruction that reads its operands from workgroup memory on their loads.

#wg = #gpu.address_space<workgroup>

gpu.module @plain {
  gpu.func @k(%a: memref<64x64xf16, #wg>, %b: memref<64x64xf16, #wg>, %c: memref<64x64xf32>) kernel attributes {tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %x = tessera.load %a[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x16xf16, a>
    %y = tessera.load %b[%c0, %c0] in_bounds : memref<64x64xf16, #wg> -> !tessera.fragment<16x64xf16, b>
    %z = tessera.load %c[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, acc>
    // expected-error @+1 {{wgmma.m64n64k16.f32.f16 reads operand b from workgroup memory, but it is loaded from memory that is not swizzled}}
    %r = tessera.mma %x, %y, %z : !tessera.fragment<64x16xf16, a>, !tessera.fragment<16x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
    tessera.store %r, %c[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @changed {
  gpu.func @k(%a: memref<64x64xf16, #wg>, %b: memref<64x64xf16, #wg>, %c: memref<64x64xf32>) kernel attributes {tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %x = tessera.load %a[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x16xf16, a>
    %y = tessera.load %b[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<16x64xf16, b>
    %z = tessera.load %c[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, acc>
    gpu.barrier
    // expected-error @+1 {{wgmma.m64n64k16.f32.f16 reads operand a from workgroup memory, but it is loaded before an op that may write the memory}}
    %r = tessera.mma %x, %y, %z : !tessera.fragment<64x16xf16, a>, !tessera.fragment<16x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
    tessera.store %r, %c[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @global {
  gpu.func @k(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) kernel attributes {tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %x = tessera.load %a[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<64x16xf16, a>
    %y = tessera.load %b[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x64xf16, b>
    %z = tessera.load %c[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, acc>
    // expected-error @+1 {{wgmma.m64n64k16.f32.f16.rs reads operand b from workgroup memory, but it is not loaded from workgroup memory}}
    %r = tessera.mma %x, %y, %z : !tessera.fragment<64x16xf16, a>, !tessera.fragment<16x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
    tessera.store %r, %c[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @order_b {
  gpu.func @k(%a: memref<64x64xi8, #wg>, %b: memref<64x64xi8, #wg>, %c: memref<64x64xi32>) kernel attributes {tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %x = tessera.load %a[%c0, %c0] in_bounds swizzled : memref<64x64xi8, #wg> -> !tessera.fragment<64x32xi8, a>
    %y = tessera.load %b[%c0, %c0] in_bounds swizzled : memref<64x64xi8, #wg> -> !tessera.fragment<32x64xi8, b>
    %z = tessera.load %c[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<64x64xi32, acc>
    // expected-error @+1 {{wgmma.m64n64k32.i32.i8 reads operand b from workgroup memory, but it is row-major}}
    %r = tessera.mma %x, %y, %z : !tessera.fragment<64x32xi8, a>, !tessera.fragment<32x64xi8, b> -> !tessera.fragment<64x64xi32, acc>
    tessera.store %r, %c[%c0, %c0] : !tessera.fragment<64x64xi32, acc>, memref<64x64xi32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @order_a {
  gpu.func @k(%a: memref<64x64xi8, #wg>, %b: memref<64x64xi8, #wg>, %c: memref<64x64xi32>) kernel attributes {tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %x = tessera.load %a[%c0, %c0] transpose in_bounds swizzled : memref<64x64xi8, #wg> -> !tessera.fragment<64x32xi8, a>
    %y = tessera.load %b[%c0, %c0] transpose in_bounds swizzled : memref<64x64xi8, #wg> -> !tessera.fragment<32x64xi8, b>
    %z = tessera.load %c[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<64x64xi32, acc>
    // expected-error @+1 {{wgmma.m64n64k32.i32.i8 reads operand a from workgroup memory, but it is column-major}}
    %r = tessera.mma %x, %y, %z : !tessera.fragment<64x32xi8, a>, !tessera.fragment<32x64xi8, b> -> !tessera.fragment<64x64xi32, acc>
    tessera.store %r, %c[%c0, %c0] : !tessera.fragment<64x64xi32, acc>, memref<64x64xi32>
    gpu.return
  }
}
