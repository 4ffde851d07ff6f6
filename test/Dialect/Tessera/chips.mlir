// A chip or target that is not known: the known ones, the nearest first.
// RUN: not gpu-opt %s --tessera-legalize-fragments="target=cuda chip=sm_88" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not gpu-opt %s --tessera-resolve-subgroups="target=cuda chip=sm_88" 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'sm_88' of target 'cuda': known are, nearest first: sm_80, sm_86, sm_89,
// CHIP-SAME: sm_100

// RUN: not gpu-opt %s --tessera-legalize-fragments="target=cuda" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: unknown chip '' of target 'cuda'

// RUN: not gpu-opt %s --tessera-legalize-fragments="target=cpu chip=x86-64-avx" 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: unknown chip 'x86-64-avx' of target 'cpu': known are, nearest first: x86-64-avx2, x86-64-avx512, generic

// RUN: not gpu-opt %s --tessera-legalize-fragments="target=metal chip=m1" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unknown target 'metal': known are cpu, cuda, hip, vulkan, opencl and level-zero

// On the CPU, the host's chip is found.
// RUN: gpu-opt %s --tessera-legalize-fragments | FileCheck %s --check-prefix=HOST
// RUN: gpu-opt %s --tessera-legalize-fragments="target=cpu" | FileCheck %s --check-prefix=HOST
// HOST: func @f
func.func @f() {
  return
}
