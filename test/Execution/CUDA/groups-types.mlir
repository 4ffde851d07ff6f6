// REQUIRES: can-run-cuda-sm_90a

// Matmuls of warpgroups of tf32 and of 8-bit integers, signed and unsigned:
// operands along K, swizzles of 128, 64 and 32 bytes, odd extents, rows that
// bulk copies do not support, virtual threads, an epilogue, batches, split-K.
// `random` fills all bits: values from 128 on if they are unsigned, and
// mantissas of 24 bits, of which tf32 keeps 11.

// RUN: gpu-runner %s --target=cuda --verify --require-mma --allow-tf32 --entry=tf32 --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --allow-tf32 --entry=tf32 --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --allow-tf32 --entry=tf32_edges --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --allow-tf32 --entry=tf32_narrow --explain --arg=iota | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --allow-tf32 --entry=tf32_unaligned --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --allow-tf32 --entry=tf32_dynamic --explain --arg=random:1:333x200 --arg=random:2:77x200 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --allow-tf32 --entry=tf32_epilogue --explain --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --allow-tf32 --entry=tf32_split --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --allow-tf32 --entry=tf32_columns --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=s8 --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=s8_edges --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=s8_narrow --explain --arg=iota --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=s8_unaligned --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=s8_batched --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=s8_split --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=u8 --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=u8_s8 --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=s8_u8 --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=vthreads --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=conv --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --entry=tf32 --explain | FileCheck %s --check-prefix=BULK
// RUN: gpu-runner %s --target=cuda --entry=s8_edges --explain | FileCheck %s --check-prefix=BULK
// RUN: gpu-runner %s --target=cuda --entry=s8_unaligned --explain | FileCheck %s --check-prefix=NOT
// BULK: operands: bulk copies by a dedicated subgroup
// NOT: operands: asynchronous copies by all threads: rows of argument {{.}} of the kernel are not known to be aligned to 16 bytes
// CHECK: wgmma.m64n
// EXACT: exact)
// CHECK: {{^}}verified

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bnk = affine_map<(b, m, n, k) -> (b, n, k)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

func.func @tf32(%a: tensor<256x192xf32>, %b: tensor<512x192xf32>, %c: tensor<256x512xf32>) -> tensor<256x512xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.allow_tf32, tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 32, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x192xf32>, tensor<512x192xf32>) outs(%c : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %r : tensor<256x512xf32>
}

// No multiple of a tile, in any dimension; the last step of K is 12 of 32.
func.func @tf32_edges(%a: tensor<301x204xf32>, %b: tensor<405x204xf32>, %c: tensor<301x405xf32>) -> tensor<301x405xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.allow_tf32, tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<301x204xf32>, tensor<405x204xf32>) outs(%c : tensor<301x405xf32>) -> tensor<301x405xf32>
  return %r : tensor<301x405xf32>
}

// Rows of 32 bytes in workgroup memory, eight columns at a time.
func.func @tf32_narrow(%a: tensor<128x40xf32>, %b: tensor<72x40xf32>, %c: tensor<128x72xf32>) -> tensor<128x72xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.allow_tf32, tessera.schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [64, 8], k = 8, stages = 2, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<128x40xf32>, tensor<72x40xf32>) outs(%c : tensor<128x72xf32>) -> tensor<128x72xf32>
  return %r : tensor<128x72xf32>
}

// Rows that begin anywhere.
func.func @tf32_unaligned(%a: tensor<301x203xf32>, %b: tensor<405x203xf32>, %c: tensor<301x405xf32>) -> tensor<301x405xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.allow_tf32, tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<301x203xf32>, tensor<405x203xf32>) outs(%c : tensor<301x405xf32>) -> tensor<301x405xf32>
  return %r : tensor<301x405xf32>
}

func.func @tf32_dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c0 : tensor<?x?xf32>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.allow_tf32, tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// By the default schedule.
func.func @tf32_epilogue(%a: tensor<256x256xf32>, %b: tensor<384x256xf32>, %bias: tensor<384xf32>) -> tensor<256x384xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x384xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x384xf32>) -> tensor<256x384xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.allow_tf32} ins(%a, %b : tensor<256x256xf32>, tensor<384x256xf32>) outs(%init : tensor<256x384xf32>) -> tensor<256x384xf32>
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%r, %bias : tensor<256x384xf32>, tensor<384xf32>) outs(%empty : tensor<256x384xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<256x384xf32>
  return %s : tensor<256x384xf32>
}

func.func @tf32_split(%a: tensor<128x8192xf32>, %b: tensor<128x8192xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.allow_tf32} ins(%a, %b : tensor<128x8192xf32>, tensor<128x8192xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

// An lhs with M along the rows, which lanes load to registers; the last step of
// K is 8 of 32.
func.func @tf32_columns(%a: tensor<200x304xf32>, %b: tensor<240x200xf32>, %c: tensor<304x240xf32>) -> tensor<304x240xf32> {
  %r = linalg.matmul indexing_maps = [#km, #nk, #mn] {tessera.allow_tf32, tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 32, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<200x304xf32>, tensor<240x200xf32>) outs(%c : tensor<304x240xf32>) -> tensor<304x240xf32>
  return %r : tensor<304x240xf32>
}

func.func @s8(%a: tensor<256x640xi8>, %b: tensor<512x640xi8>, %c: tensor<256x512xi32>) -> tensor<256x512xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 128, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x640xi8>, tensor<512x640xi8>) outs(%c : tensor<256x512xi32>) -> tensor<256x512xi32>
  return %r : tensor<256x512xi32>
}

// The last step of K is 80 of 128.
func.func @s8_edges(%a: tensor<301x208xi8>, %b: tensor<405x208xi8>, %c: tensor<301x405xi32>) -> tensor<301x405xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 128, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<301x208xi8>, tensor<405x208xi8>) outs(%c : tensor<301x405xi32>) -> tensor<301x405xi32>
  return %r : tensor<301x405xi32>
}

// Rows of 32 bytes; eight columns at a time.
func.func @s8_narrow(%a: tensor<128x176xi8>, %b: tensor<72x176xi8>, %c: tensor<128x72xi32>) -> tensor<128x72xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [64, 8], k = 32, stages = 2, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<128x176xi8>, tensor<72x176xi8>) outs(%c : tensor<128x72xi32>) -> tensor<128x72xi32>
  return %r : tensor<128x72xi32>
}

func.func @s8_unaligned(%a: tensor<301x203xi8>, %b: tensor<405x203xi8>, %c: tensor<301x405xi32>) -> tensor<301x405xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 128, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<301x203xi8>, tensor<405x203xi8>) outs(%c : tensor<301x405xi32>) -> tensor<301x405xi32>
  return %r : tensor<301x405xi32>
}

// By the default schedule.
func.func @s8_batched(%a: tensor<5x128x256xi8>, %b: tensor<5x128x256xi8>, %c: tensor<5x128x128xi32>) -> tensor<5x128x128xi32> {
  %r = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%a, %b : tensor<5x128x256xi8>, tensor<5x128x256xi8>) outs(%c : tensor<5x128x128xi32>) -> tensor<5x128x128xi32>
  return %r : tensor<5x128x128xi32>
}

func.func @s8_split(%a: tensor<128x16384xi8>, %b: tensor<128x16384xi8>, %c: tensor<128x128xi32>) -> tensor<128x128xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<128x16384xi8>, tensor<128x16384xi8>) outs(%c : tensor<128x128xi32>) -> tensor<128x128xi32>
  return %r : tensor<128x128xi32>
}

// Rows of 64 bytes.
func.func @u8(%a: tensor<130x336xi8>, %b: tensor<200x336xi8>, %c: tensor<130x200xi32>) -> tensor<130x200xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {cast = #linalg.type_fn<cast_unsigned>, tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<130x336xi8>, tensor<200x336xi8>) outs(%c : tensor<130x200xi32>) -> tensor<130x200xi32>
  return %r : tensor<130x200xi32>
}

func.func @u8_s8(%a: tensor<256x512xi8>, %b: tensor<256x512xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<256x512xi8>, tensor<256x512xi8>) outs(%c : tensor<256x256xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}

func.func @s8_u8(%a: tensor<256x512xi8>, %b: tensor<256x512xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<256x512xi8>, tensor<256x512xi8>) outs(%c : tensor<256x256xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extui %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}

// Several instructions in each dimension, and two matmuls in a step.
func.func @vthreads(%a: tensor<256x256xi8>, %b: tensor<512x256xi8>, %c: tensor<256x512xi32>) -> tensor<256x512xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [256, 128], subgroup = [128, 64], k = 128, kFragment = 64, stages = 2, vthread = [2, 2], swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x256xi8>, tensor<512x256xi8>) outs(%c : tensor<256x512xi32>) -> tensor<256x512xi32>
  return %r : tensor<256x512xi32>
}

// An image, gathered, and a filter that is stored along the channels.
func.func @conv(%image: tensor<2x16x17x64xi8>, %filter: tensor<128x3x3x64xi8>) -> tensor<2x14x15x128xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<2x14x15x128xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<2x14x15x128xi32>) -> tensor<2x14x15x128xi32>
  %r = linalg.conv_2d_nhwc_fhwc ins(%image, %filter : tensor<2x16x17x64xi8>, tensor<128x3x3x64xi8>) outs(%init : tensor<2x14x15x128xi32>) -> tensor<2x14x15x128xi32>
  return %r : tensor<2x14x15x128xi32>
}
