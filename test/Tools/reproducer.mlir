// A reproducer of a failing pass holds the module and that pass, and fails in the same way (docs/Debugging.md).
// RUN: not gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},linalg-to-tessera-pipeline)" --mlir-disable-threading --mlir-pass-pipeline-local-reproducer --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | FileCheck %s
// CHECK: Pipeline failed while executing `TesseraChooseSchedule`
// RUN: FileCheck %s --check-prefix=FILE --input-file=%t.mlir
// FILE: pipeline: "builtin.module(func.func(tessera-choose-schedule))"
// RUN: not gpu-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: schedule_c7

func.func @main(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [48, 48], subgroup = [24, 24], k = 32>}
      ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
