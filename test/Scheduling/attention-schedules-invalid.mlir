// RUN: gpu-opt %s --split-input-file --verify-diagnostics --tessera-attach-chip="target=cuda chip=sm_80" --tessera-choose-schedule

// Schedules that attention cannot have; and a kernel that fits in no registers.

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c24_columns(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>) {
  // expected-error @+1 {{schedule_c24: the subgroup tile must cover all 64 keys of a block, not 32}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [64, 64], subgroup = [16, 32], k = 64, kFragment = 32, stages = 1, vthread = [1, 1]>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c24_k(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>) {
  // expected-error @+1 {{schedule_c24: k must be the head dimension D, 64, not 32}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [64, 64], subgroup = [16, 64], k = 32, kFragment = 32, stages = 1, vthread = [1, 1]>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c24_vthread(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>) {
  // expected-error @+1 {{schedule_c24: vthread is not supported for attention}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [64, 64], subgroup = [32, 64], k = 64, kFragment = 32, stages = 1, vthread = [2, 1]>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c24_wide(%q: memref<512x512xf16>, %k: memref<512x512xf16>, %v: memref<512x512xf16>, %o: memref<512x512xf16>) {
  // expected-error @+1 {{schedule_c24: head dimensions D and E must be from 1 to 256, not 512 and 512}}
  tessera.attention ins(%q, %k, %v : memref<512x512xf16>, memref<512x512xf16>, memref<512x512xf16>) outs(%o : memref<512x512xf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c7(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>) {
  // expected-error @+1 {{schedule_c7: no matrix instruction of sm_80 for f16 divides query by key, a matmul of 8x64x32}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [64, 64], subgroup = [8, 64], k = 64, kFragment = 32, stages = 1, vthread = [1, 1]>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c8(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>) {
  // expected-error @+1 {{schedule_c8: the workgroup needs 2048 threads, sm_80 allows 1024}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [1024, 16], subgroup = [16, 16], k = 64, kFragment = 32, stages = 1, vthread = [1, 1]>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c9(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>) {
  // expected-error @+1 {{schedule_c9: the tiles need 180224 bytes of workgroup memory, sm_80 has 166912}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [128, 128], subgroup = [16, 128], k = 64, kFragment = 32, stages = 4, vthread = [1, 1], swizzle = true>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c10(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>) {
  // expected-error @+1 {{schedule_c10: fragments need}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [64, 128], subgroup = [64, 128], k = 64, kFragment = 32, stages = 1, vthread = [1, 1]>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c12(%q: memref<512x24xf16>, %k: memref<512x24xf16>, %v: memref<512x24xf16>, %o: memref<512x24xf16>) {
  // expected-error @+1 {{schedule_c12: rows of 24 and 24 elements cannot be swizzled}}
  tessera.attention ins(%q, %k, %v : memref<512x24xf16>, memref<512x24xf16>, memref<512x24xf16>) outs(%o : memref<512x24xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [64, 64], subgroup = [16, 64], k = 24, kFragment = 8, stages = 1, vthread = [1, 1], swizzle = true>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c24_atomic(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>) {
  // expected-error @+1 {{schedule_c24: splitKReduction is not supported for attention}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [64, 64], subgroup = [16, 64], k = 64, kFragment = 32, stages = 1, vthread = [1, 1], splitK = 2, splitKReduction = atomic>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c24_parts(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>) {
  // expected-error @+1 {{schedule_c24: splitK is at most 65535 for attention, not 65536}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [64, 64], subgroup = [16, 64], k = 64, kFragment = 32, stages = 1, vthread = [1, 1], splitK = 65536>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c24_stages(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>, %n: memref<index>) {
  // expected-error @+1 {{schedule_c24: keys of variable number or in pages require stages of 1 or more}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 last affine_map<(i, l) -> (l - 1)> schedule <workgroup = [64, 64], subgroup = [16, 64], k = 64, kFragment = 32, stages = 0> length {
    %l = memref.load %n[] : memref<index>
    tessera.yield %l : index
  }
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @schedule_c24_persistent_parts(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>) {
  // expected-error @+1 {{schedule_c24: parts of the keys (splitK > 1) support neither persistent nor stageOutput}}
  tessera.attention ins(%q, %k, %v : memref<512x64xf16>, memref<512x64xf16>, memref<512x64xf16>) outs(%o : memref<512x64xf16>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [64, 64], subgroup = [16, 64], k = 64, kFragment = 32, stages = 1, vthread = [1, 1], persistent = 132, splitK = 2>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

// With 32 KiB of output, which would fit without it.
func.func @schedule_c9_output(%q: memref<512x128xf16>, %k: memref<512x128xf16>, %v: memref<512x128xf16>, %o: memref<512x128xf32>) {
  // expected-error @+1 {{schedule_c9: the tiles need 189440 bytes of workgroup memory, sm_80 has 166912}}
  tessera.attention ins(%q, %k, %v : memref<512x128xf16>, memref<512x128xf16>, memref<512x128xf16>) outs(%o : memref<512x128xf32>) maps [#q, #k, #v, #o] scale 0.125 schedule <workgroup = [64, 64], subgroup = [16, 64], k = 128, kFragment = 32, stages = 3, vthread = [1, 1], stageOutput = true>
  return
}
