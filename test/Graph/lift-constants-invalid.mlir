// RUN: not gpu-opt %s --tessera-lift-constants 2>&1 | FileCheck %s
// RUN: not gpu-runner %s --target=cpu 2>&1 | FileCheck %s

// Weights are shared by the hash of their contents, which no name replaces.
// CHECK: :[[@LINE+2]]:8: error: the resource 'tessera_00112233445566778899aabbccddeeff' has other contents than its name states, which is the hash of a constant; rename it
func.func @main() -> tensor<2xf32> {
  %a = arith.constant dense_resource<tessera_00112233445566778899aabbccddeeff> : tensor<2xf32>
  return %a : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      tessera_00112233445566778899aabbccddeeff: "0x040000000000803F00000040"
    }
  }
#-}
