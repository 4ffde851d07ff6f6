// nvgpu.mma.sync of bf16, which upstream does not lower: raised on NVIDIA's own chips.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx 2>&1 | FileCheck %s --check-prefix=PTX

// CHECK: {{^}}verified
// PTX: remark: raised to portable code, through workgroup memory: 1 nvgpu.mma.sync; upstream has no lowering of such forms for cuda:sm_80
// PTX: st.shared
// PTX: fma.rn.f32

func.func @main(%a: memref<32x8xbf16>, %b: memref<32x4xbf16>, %c: memref<32x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %la = vector.load %a[%tx, %c0] : memref<32x8xbf16>, vector<8xbf16>
    %lb = vector.load %b[%tx, %c0] : memref<32x4xbf16>, vector<4xbf16>
    %lc = vector.load %c[%tx, %c0] : memref<32x4xf32>, vector<4xf32>
    %x = vector.shape_cast %la : vector<8xbf16> to vector<4x2xbf16>
    %y = vector.shape_cast %lb : vector<4xbf16> to vector<2x2xbf16>
    %z = vector.shape_cast %lc : vector<4xf32> to vector<2x2xf32>
    %d = nvgpu.mma.sync(%x, %y, %z) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %e = vector.shape_cast %d : vector<2x2xf32> to vector<4xf32>
    vector.store %e, %c[%tx, %c0] : memref<32x4xf32>, vector<4xf32>
    gpu.terminator
  }
  return
}
