// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-choose-schedule --split-input-file --verify-diagnostics

// Schedules that the chip does not support, by the constraints' names in docs/Schedules.md.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c7_rows(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+4 {{schedule_c7: subgroup = [24, 64]: no matrix instruction of sm_80 for f16 x f16 -> f32 divides 24 rows; the nearest legal schedule has subgroup = [32, 64]}}
  // expected-note @+3 {{mma.m16n8k16.f32.f16: takes multiples of 16x8x16}}
  // expected-note @+2 {{mma.m16n8k8.f32.f16: takes multiples of 16x8x8}}
  // expected-note @+1 {{mma.m8n8k4.f32.f16: takes multiples of 16x16x4}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [96, 128], subgroup = [24, 64], k = 32, kFragment = 16, stages = 3> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c7_vthread(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+4 {{schedule_c7: subgroup = [64, 64], vthread = [1, 16]: no matrix instruction of sm_80 for f16 x f16 -> f32 divides 4 columns; the nearest legal schedule has vthread = [1, 8]}}
  // expected-note @+3 {{mma.m16n8k16.f32.f16: takes multiples of 16x8x16}}
  // expected-note @+2 {{mma.m16n8k8.f32.f16: takes multiples of 16x8x8}}
  // expected-note @+1 {{mma.m8n8k4.f32.f16: takes multiples of 16x16x4}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [64, 64], k = 32, kFragment = 16, stages = 3, vthread = [1, 16]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c7_steps(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+4 {{schedule_c7: kFragment = 2: no matrix instruction of sm_80 for f16 x f16 -> f32 divides 2 elements of K; the nearest legal schedule has kFragment = 4}}
  // expected-note @+3 {{mma.m16n8k16.f32.f16: takes multiples of 16x8x16}}
  // expected-note @+2 {{mma.m16n8k8.f32.f16: takes multiples of 16x8x8}}
  // expected-note @+1 {{mma.m8n8k4.f32.f16: takes multiples of 16x16x4}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [64, 64], k = 32, kFragment = 2, stages = 3> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c8_threads(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c8: requires 2048 threads in a workgroup (64 subgroups of 32), but sm_80 supports 1024; the nearest legal schedule has subgroup = [32, 16]}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [16, 16], k = 16, kFragment = 16, stages = 1> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c9_stages(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c9: requires 215040 bytes of workgroup memory, but sm_80 has 166912; stages = 4 is the most that fits}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 64], k = 64, kFragment = 16, stages = 6> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c10_thread(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c10: requires 304 registers per thread (256 for accumulators, 48 for operands), but sm_80 has 255; the nearest legal schedule has subgroup = [64, 64]}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [128, 64], k = 32, kFragment = 16, stages = 3> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c11_workgroup(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c11: requires 163840 registers per workgroup (160 for each of 1024 threads), but sm_80 has 65536; the nearest legal schedule has workgroup = [128, 256]}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [512, 256], subgroup = [64, 64], k = 16, kFragment = 16, stages = 1> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c12_swizzle(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c12: swizzle requires rows of 32 or a multiple of 64 bytes, but the rows of the staged lhs (64x48) have 96; the nearest legal schedule has k = 64}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 48, kFragment = 16, stages = 2, swizzle = true> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c13_parts(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c13: splitK = 7, but a reduction of 64 has 2 steps of k = 32; splitK = 2 is the most that fits}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2, splitK = 7> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c14_raster(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c14: raster = 4294967296, but a grid has at most 2147483647 workgroups; raster = 2147483647 is the most that fits}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2, raster = 4294967296> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c14_persistent(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c14: persistent = 4294967296, but a grid has at most 2147483647 workgroups; persistent = 2147483647 is the most that fits}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2, persistent = 4294967296> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c7_two(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+5 {{schedule_c7: subgroup = [24, 64]: no matrix instruction of sm_80 for f16 x f16 -> f32 divides 24 rows; the nearest legal schedule has subgroup = [32, 64], splitK = 2}}
  // expected-note @+4 {{mma.m16n8k16.f32.f16: takes multiples of 16x8x16}}
  // expected-note @+3 {{mma.m16n8k8.f32.f16: takes multiples of 16x8x8}}
  // expected-note @+2 {{mma.m8n8k4.f32.f16: takes multiples of 16x16x4}}
  // expected-note @+1 {{schedule_c13: splitK = 9, but a reduction of 64 has 2 steps of k = 32}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [96, 128], subgroup = [24, 64], k = 32, kFragment = 16, stages = 3, splitK = 9> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c17_type(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf16>) {
  // expected-error @+1 {{schedule_c17: splitKReduction = atomic requires accumulators of f32, f64 or i32, not f16; the nearest legal schedule has splitKReduction = ordered}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf16>)
      maps [#mk, #kn, #mn] accumulate f16
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2, splitK = 2,
                splitKReduction = atomic> {
  ^bb0(%acc: f16):
    tessera.yield %acc : f16
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c18_subgroup(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{schedule_c18: the epilogue reduces along N: subgroup = [32, 32], but a row has 64 elements; the nearest legal schedule has subgroup = [32, 64]}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) init(%zero : f32) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2> {
  ^bb0(%acc: f32):
    %max = tessera.row_reduce max %acc : f32
    tessera.yield %max : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c18_workgroup(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{schedule_c18: the epilogue reduces along N: workgroup = [64, 128], but one subgroup must compute a whole row: its tile has 64 columns; the nearest legal schedule has}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) init(%zero : f32) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 128], subgroup = [32, 64], k = 32, kFragment = 16, stages = 2> {
  ^bb0(%acc: f32):
    %max = tessera.row_reduce max %acc : f32
    tessera.yield %max : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c18_vthread(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{schedule_c18: the epilogue reduces along N: vthread = [2, 2], but one virtual thread must compute a whole row; the nearest legal schedule has vthread = [2, 1]}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) init(%zero : f32) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 64], k = 32, kFragment = 16, stages = 2, vthread = [2, 2]> {
  ^bb0(%acc: f32):
    %max = tessera.row_reduce max %acc : f32
    tessera.yield %max : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c18_splitK(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{schedule_c18: the epilogue reduces along N: splitK = 2, but rows can only be reduced in the kernel that computes all of K; the nearest legal schedule has splitK = 1}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) init(%zero : f32) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 64], k = 32, kFragment = 16, stages = 2, splitK = 2> {
  ^bb0(%acc: f32):
    %max = tessera.row_reduce max %acc : f32
    tessera.yield %max : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c18_dynamic(%a: memref<64x64xf16>, %b: memref<64x?xf16>, %c: memref<64x?xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{schedule_c18: the epilogue reduces along N: the extent of N is dynamic}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x?xf16>) init(%zero : f32) outs(%c : memref<64x?xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 64], k = 32, kFragment = 16, stages = 2> {
  ^bb0(%acc: f32):
    %max = tessera.row_reduce max %acc : f32
    tessera.yield %max : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c20_atomic(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c20: stageOutput = true, but the parts of the reduction are accumulated in the output itself; the nearest legal schedule has stageOutput = false}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 16, splitK = 2, splitKReduction = atomic, stageOutput = true> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#m = affine_map<(m, n, k) -> (m)>

func.func @schedule_c20_rows(%a: memref<64x64xf16>, %b: memref<64x32xf16>, %c: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{schedule_c20: stageOutput = true, but the output has no N dimension; the nearest legal schedule has stageOutput = false}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x32xf16>) init(%zero : f32) outs(%c : memref<64xf32>)
      maps [#mk, #kn, #m] accumulate f32
      schedule <workgroup = [64, 32], subgroup = [32, 32], k = 16, stageOutput = true> {
  ^bb0(%acc: f32):
    %sum = tessera.row_reduce add %acc : f32
    tessera.yield %sum : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// 128 KiB of operands fit; with 64 KiB of output they do not.

func.func @schedule_c9_output(%a: memref<512x512xf16>, %b: memref<512x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c9: requires 196608 bytes of workgroup memory, but sm_80 has 166912; stages = 3 is the most that fits}}
  tessera.contract ins(%a, %b : memref<512x512xf16>, memref<512x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 64], k = 64, kFragment = 16, stages = 4, swizzle = true, stageOutput = true> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

func.func @schedule_c23_output(%a: memref<64x16x16xf16>, %b: memref<64x16x16xf16>, %c: memref<64x16x16xf32>) {
  // expected-error @+1 {{schedule_c23: batches = 4, but stageOutput supports one matrix only; the nearest legal schedule has batches = 1}}
  tessera.contract ins(%a, %b : memref<64x16x16xf16>, memref<64x16x16xf16>) outs(%c : memref<64x16x16xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32
      schedule <workgroup = [16, 16], subgroup = [16, 16], k = 16, stageOutput = true, batches = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

func.func @schedule_c23_count(%a: memref<5x16x16xf16>, %b: memref<5x16x16xf16>, %c: memref<5x16x16xf32>) {
  // expected-error @+1 {{schedule_c23: batches = 8, but the batch has 5 matrices; batches = 4 is the most that fits}}
  tessera.contract ins(%a, %b : memref<5x16x16xf16>, memref<5x16x16xf16>) outs(%c : memref<5x16x16xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32
      schedule <workgroup = [16, 16], subgroup = [16, 16], k = 16, stages = 0, batches = 8> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

// Each matrix has a subgroup of its own.

func.func @schedule_c8_batches(%a: memref<64x16x16xf16>, %b: memref<64x16x16xf16>, %c: memref<64x16x16xf32>) {
  // expected-error @+1 {{schedule_c8: requires 2048 threads in a workgroup (64 subgroups of 32), but sm_80 supports 1024; the nearest legal schedule has batches = 32}}
  tessera.contract ins(%a, %b : memref<64x16x16xf16>, memref<64x16x16xf16>) outs(%c : memref<64x16x16xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32
      schedule <workgroup = [16, 16], subgroup = [16, 16], k = 16, stages = 0, batches = 64> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

// The tiles of all matrices are staged.

func.func @schedule_c9_batches(%a: memref<64x64x64xf32>, %b: memref<64x64x64xf32>, %c: memref<64x64x64xf32>) {
  // expected-error @+1 {{schedule_c9: requires 262144 bytes of workgroup memory, but sm_80 has 166912; the nearest legal schedule has k = 32}}
  tessera.contract ins(%a, %b : memref<64x64x64xf32>, memref<64x64x64xf32>) outs(%c : memref<64x64x64xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, kFragment = 1, swizzle = true, batches = 8> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h + r, w + s, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// The image of a convolution is not a matrix in memory.

func.func @schedule_c15(%a: memref<1x18x18x64xf16>, %b: memref<3x3x64x64xf16>, %c: memref<1x16x16x64xf32>) {
  // expected-error @+1 {{schedule_c15: stages = 0, but lhs is gathered (it is not a matrix in memory), which requires staging in workgroup memory}}
  tessera.contract ins(%a, %b : memref<1x18x18x64xf16>, memref<3x3x64x64xf16>) outs(%c : memref<1x16x16x64xf32>)
      maps [#image, #hwcf, #out] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 0> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#scale = affine_map<(m, n, k) -> (m, k floordiv 64)>

// A scale applies to 64 elements of K.

func.func @schedule_c16(%a: memref<64x256xi8>, %b: memref<256x64xf16>, %s: memref<64x4xf16>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{schedule_c16: k = 96, but a producer's inputs change every 64 elements of K: k must divide that, or be a multiple of it}}
  tessera.contract ins(%a, %b : memref<64x256xi8>, memref<256x64xf16>)
      init(%zero : f32) lhs_inputs(%s : memref<64x4xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn, #scale] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 96, kFragment = 16, stages = 2>
      lhs_producer {
      ^bb0(%q: i8, %x: f16):
        %f = arith.sitofp %q : i8 to f16
        %d = arith.mulf %f, %x : f16
        tessera.yield %d : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#scale = affine_map<(m, n, k) -> (m, k floordiv 64)>

func.func @schedule_c16_fragment(%a: memref<64x256xi8>, %b: memref<256x64xf16>, %s: memref<64x4xf16>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{schedule_c16: kFragment = 128, but a producer's inputs change every 64 elements of K: kFragment must divide that}}
  tessera.contract ins(%a, %b : memref<64x256xi8>, memref<256x64xf16>)
      init(%zero : f32) lhs_inputs(%s : memref<64x4xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn, #scale] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 128, kFragment = 128, stages = 2>
      lhs_producer {
      ^bb0(%q: i8, %x: f16):
        %f = arith.sitofp %q : i8 to f16
        %d = arith.mulf %f, %x : f16
        tessera.yield %d : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
