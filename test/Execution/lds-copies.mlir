// Async copies to LDS, on chips that support them; on other chips through registers.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s --entry=nn --verify | FileCheck %s
// RUN: gpu-runner %s --entry=nn --target=cpu:emulate=gfx950 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=nt --target=cpu:emulate=gfx950 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=tn --target=cpu:emulate=gfx950 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=padded --target=cpu:emulate=gfx950 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=words --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=nn --target=cpu:emulate=gfx942 --direct-copies=always --verify | FileCheck %s
// RUN: gpu-runner %s --entry=nt --target=cpu:emulate=gfx942 --direct-copies=always --verify | FileCheck %s
// RUN: gpu-runner %s --entry=tn --target=cpu:emulate=gfx942 --direct-copies=always --verify | FileCheck %s
// RUN: gpu-runner %s --entry=tn --target=cpu:emulate=gfx950 --direct-copies=never --verify | FileCheck %s
// CHECK: {{^}}verified
//
// Only such loads write the tile, and b is transposed when it is read. At three stages all loads are in flight.
// RUN: gpu-runner %s --entry=nn --target=hip:gfx950 --emit=hsaco -o %t.950
// RUN: llvm-objdump -d %t.950 | FileCheck %s --check-prefix=CODE
// CODE-LABEL: <nn_kernel>:
// CODE-NOT:   ds_write
// CODE:       buffer_load_dwordx4 {{.+}} lds
// CODE-NOT:   ds_write
// CODE:       ds_read_b64_tr_b16
// CODE-NOT:   ds_write
// CODE:       s_endpgm
// CODE-LABEL: <nt_kernel>:
// CODE-NOT:   ds_write
// CODE-COUNT-4: buffer_load_dwordx4 {{.+}} lds
// CODE:       s_waitcnt vmcnt(2) lgkmcnt(0)
// CODE-NEXT:  s_barrier
// CODE-NOT:   {{ds_write|tr_b16}}
// CODE:       s_endpgm
// CODE-LABEL: <tn_kernel>:
// CODE-NOT:   ds_write
// CODE:       ds_read_b64_tr_b16
// CODE-NOT:   {{ds_write|ds_read_b128}}
// CODE:       s_endpgm
// Padded rows are not contiguous chunks: these go through registers.
// CODE-LABEL: <padded_kernel>:
// CODE-NOT:   {{ lds$}}
// CODE:       ds_write_b128
// CODE-NOT:   {{ lds$}}
// CODE:       s_endpgm
//
// On gfx942 a load has one word: if a wider read is not possible, or if it is requested.
// RUN: gpu-runner %s --entry=nn --target=hip:gfx942 --emit=amdgcn -o %t.auto
// RUN: FileCheck %s --check-prefix=AUTO --input-file=%t.auto
// AUTO-LABEL: nt_kernel:
// AUTO-NOT:   {{ lds$}}
// AUTO-LABEL: words_kernel:
// AUTO-NOT:   ds_write
// AUTO:       buffer_load_dword {{.+}} lds
// AUTO-NOT:   ds_write
// AUTO:       s_endpgm
// RUN: gpu-runner %s --entry=nn --target=hip:gfx942 --direct-copies=always --emit=amdgcn -o %t.always 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: lds-copies.mlir:[[# @LINE + 20]]:{{[0-9]+}}: remark: copy goes through registers: its target has a k-packed (VNNI) layout
// RUN: FileCheck %s --check-prefix=ALWAYS --input-file=%t.always
// ALWAYS-LABEL: nt_kernel:
// ALWAYS-NOT:   ds_write
// ALWAYS:       buffer_load_dword {{.+}} lds
// ALWAYS-NOT:   ds_write
// ALWAYS:       s_endpgm
// RUN: gpu-runner %s --entry=nn --target=hip:gfx950 --direct-copies=never --emit=amdgcn -o %t.never
// RUN: FileCheck %s --check-prefix=NEVER --input-file=%t.never
// NEVER-NOT:  {{ lds$}}
//
// RUN: not gpu-runner %s --entry=nn --target=hip:gfx90a --direct-copies=always --emit=amdgcn 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: --direct-copies=always: hip:gfx90a has no load that writes workgroup memory directly; remove the option
// RUN: not gpu-runner %s --entry=nn --direct-copies=some 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown value 'some' for --direct-copies; expected auto, always or never

func.func @nn(%a: tensor<128x192xf16>, %b: tensor<192x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 64, stages = 2, swizzle = true>} ins(%a, %b : tensor<128x192xf16>, tensor<192x128xf16>)
      outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
}
func.func @nt(%a: tensor<128x192xf16>, %b: tensor<128x192xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32, stages = 3, swizzle = true>} ins(%a, %b : tensor<128x192xf16>, tensor<128x192xf16>)
      outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
}
func.func @tn(%a: tensor<192x128xf16>, %b: tensor<192x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 64, stages = 2, swizzle = true>} ins(%a, %b : tensor<192x128xf16>, tensor<192x128xf16>)
      outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
}
func.func @padded(%a: tensor<128x192xf16>, %b: tensor<128x192xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32, stages = 2>} ins(%a, %b : tensor<128x192xf16>, tensor<128x192xf16>)
      outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
}

#rows = strided<[65, 1]>
func.func @words(%x: memref<64x65xf32>, %y: memref<64x65xf32>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.subview %x[0, 0] [64, 64] [1, 1] : memref<64x65xf32> to memref<64x64xf32, #rows>
  %b = memref.subview %y[0, 0] [64, 64] [1, 1] : memref<64x65xf32> to memref<64x64xf32, #rows>
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32, stages = 2, swizzle = true>}
      ins(%a, %b : memref<64x64xf32, #rows>, memref<64x64xf32, #rows>) outs(%c : memref<64x64xf32>)
  return
}
