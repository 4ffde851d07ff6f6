// tessera-attach-chip states the chip that a module is compiled for, by the names of its row.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" | FileCheck %s --check-prefix=GOOD
// GOOD: module attributes {tessera.chip = #tessera.chip<"cuda", "sm_90a">}

// Where no chip is named, it is the host's.
// RUN: gpu-opt %s --tessera-attach-chip | FileCheck %s --check-prefix=HOST
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --tessera-legalize-fragments | FileCheck %s --check-prefix=HOST
// HOST: module attributes {tessera.chip = #tessera.chip<"cpu", "{{[^"]+}}">}

// An alias of a target stands for the target that has the chips.
// RUN: gpu-opt %s --tessera-attach-chip="target=level-zero chip=pvc" | FileCheck %s --check-prefix=ALIAS
// ALIAS: module attributes {tessera.chip = #tessera.chip<"opencl", "pvc">}
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=emulate=gfx942" | FileCheck %s --check-prefix=EMULATED
// EMULATED: module attributes {tessera.chip = #tessera.chip<"cpu", "emulate=gfx942">}

// Unknown names are errors, with the known ones, the nearest first.
// RUN: not gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_88" 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: attach-chip.mlir:{{.*}} error: unknown chip 'sm_88' of target 'cuda': known are, nearest first: sm_80, sm_86, sm_89,
// CHIP-SAME: sm_100
// RUN: not gpu-opt %s --tessera-attach-chip="target=cuda" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: unknown chip '' of target 'cuda'
// RUN: not gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx" 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: unknown chip 'x86-64-avx' of target 'cpu': known are, nearest first: x86-64-avx2, x86-64-avx512, x86-64-avx512-vnni, generic
// RUN: not gpu-opt %s --tessera-attach-chip="target=metal chip=m1" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unknown target 'metal': known are cpu, cuda, hip, vulkan, opencl and level-zero

// The same chip may be attached again. Another one is an error, unless it shall be replaced.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-attach-chip="target=cuda chip=sm_90a" | FileCheck %s --check-prefix=GOOD
// RUN: not gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-attach-chip="target=cuda chip=sm_90a" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'tessera.chip' is #tessera.chip<"hip", "gfx942"> already, not #tessera.chip<"cuda", "sm_90a">; the option 'replace' replaces it
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-attach-chip="target=cuda chip=sm_90a replace" | FileCheck %s --check-prefix=GOOD

// So is the chip of a kernel's module, which applies there.
// RUN: sed 's/gpu.module @kernels/gpu.module @kernels attributes {tessera.chip = #tessera.chip<"cuda", "sm_70">}/' %s >%t.kernels.mlir
// RUN: not gpu-opt %t.kernels.mlir --tessera-attach-chip="target=cuda chip=sm_90a" 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: error: 'tessera.chip' is #tessera.chip<"cuda", "sm_70"> already, not #tessera.chip<"cuda", "sm_90a">
// RUN: gpu-opt %t.kernels.mlir --tessera-attach-chip="target=cuda chip=sm_90a replace" | FileCheck %s --check-prefixes=GOOD,REPLACED
// REPLACED: gpu.module @kernels {
// RUN: gpu-opt %t.kernels.mlir --pass-pipeline="builtin.module(gpu.module(tessera-legalize-fragments))" | FileCheck %s --check-prefix=INNER
// INNER: tessera.mma {{.*}}{tessera.instruction = "mma.m8n8k4.f32.f16"}

// A pass that depends on the chip does not guess it.
// RUN: not gpu-opt %s --pass-pipeline="builtin.module(gpu.module(tessera-legalize-fragments))" 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: attach-chip.mlir:[[#]]:1: error: unknown chip to compile for: no module around this op has the attribute 'tessera.chip'; attach it by tessera-attach-chip
// RUN: sed 's/gpu.module @kernels/gpu.module @kernels attributes {tessera.chip = #tessera.chip<"cuda", "sm_88">}/' %s | not gpu-opt --pass-pipeline="builtin.module(gpu.module(tessera-legalize-fragments))" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown chip 'sm_88' of target 'cuda'
// RUN: not gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(convert-tessera-to-nvvm))" 2>&1 | FileCheck %s --check-prefix=VENDOR
// VENDOR: error: a chip of target cuda is required, but the module is compiled for hip:gfx942
// RUN: not gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(convert-tessera-to-cpu))" 2>&1 | FileCheck %s --check-prefix=LANES
// LANES: error: a thread of the CPU has no lanes, but the module is compiled for hip:gfx942
gpu.module @kernels {
  gpu.func @f(%m: memref<16x16xf16>, %r: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %m[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %m[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
    %c = tessera.load %r[%c0, %c0] : memref<16x16xf32> -> !tessera.fragment<16x16xf32, acc>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b>
        -> !tessera.fragment<16x16xf32, acc>
    tessera.store %d, %r[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.return
  }
}
