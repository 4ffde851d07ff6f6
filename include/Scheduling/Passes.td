//===- Passes.td - Passes that choose schedules -----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_SCHEDULING_PASSES_TD
#define TESSERA_SCHEDULING_PASSES_TD

include "Flags/CompileFlags.td"
include "mlir/Pass/PassBase.td"

def TesseraUseTunedSchedules
    : Pass<"tessera-use-tuned-schedules", "::mlir::func::FuncOp"> {
  let summary = "Give matmuls their tuned schedules";
  let description = [{
    Sets the `schedule` of each `tessera.contract` and `tessera.attention`, and
    the `tessera.window_schedule` of each window that threads compute, on
    memrefs that has none and whose task key (`getTaskKey`) is in the module's
    dictionary `tessera.tuned`. The origin that the record states, or the fact
    that the source named by `tessera.tuned_source` has no record, is kept on
    the op as `tessera.schedule_origin`, for reports. Modules with neither
    attribute are not changed.

    A record has the form `"0123456789abcdef" = {schedule =
    #tessera.schedule<...>, origin = "..."}`. That of a window has a
    `#tessera.window_schedule<...>`.

    The key depends on the flags that change the code of the same op: a record
    that was tuned with other ones is not used.

    If the schedule is not legal on the chip, `tessera-choose-schedule`, or for
    a window `tessera-map-linalg-to-simt`, warns and uses its own.
  }];
  let options = [CompileFlagsOption];
}

def TesseraChooseSchedule : Pass<"tessera-choose-schedule"> {
  let summary = "Give every contraction a schedule that the chip can run";
  let description = [{
    Expects `tessera.contract` on memrefs, with a `schedule` or without. Leaves
    a schedule on each: for ops without one, the chip's default tiling for the
    types, halved while it is larger than the problem.

    A schedule that the chip cannot run is an error, which names the violated
    constraint and the nearest legal schedule; docs/Schedules.md lists the
    constraints. A schedule on a linalg op that was not converted to a
    contraction has no effect, which is a warning.

    Before

    ```mlir
    tessera.contract ins(%a, %b : memref<512x512xf16>, memref<512x512xf16>)
        outs(%c : memref<512x512xf32>) maps [#mk, #kn, #mn] accumulate f32 { ... }
    ```

    After, for sm_80

    ```mlir
    tessera.contract ins(%a, %b : memref<512x512xf16>, memref<512x512xf16>)
        outs(%c : memref<512x512xf32>) maps [#mk, #kn, #mn] accumulate f32
        schedule <workgroup = [128, 128], subgroup = [64, 64], k = 32,
                  kFragment = 16, stages = 4, vthread = [1, 1]> { ... }
    ```
  }];
}

#endif // TESSERA_SCHEDULING_PASSES_TD
