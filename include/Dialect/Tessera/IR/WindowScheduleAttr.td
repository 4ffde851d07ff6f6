//===- WindowScheduleAttr.td - The schedule of a window ----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IR_WINDOWSCHEDULEATTR_TD
#define TESSERA_IR_WINDOWSCHEDULEATTR_TD

include "Dialect/Tessera/IR/TesseraDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Tessera_WindowScheduleAttr : AttrDef<Tessera_Dialect, "WindowSchedule"> {
  let mnemonic = "window_schedule";
  let summary = "how threads divide the points of a window";
  let description = [{
    A window is a pooling, or a depthwise or grouped convolution, that threads
    compute point by point, without matrix instructions. A thread computes a
    box of `lines` by `rows` by `points` elements of the output:

    | field | meaning |
    |---|---|
    | `points` | elements along the dimension in which the output is contiguous: a vector, or a strip if windows overlap along that dimension |
    | `rows` | elements along another dimension, at which neighboring windows share elements and filters |
    | `lines` | elements along a third dimension along which windows overlap; 1 if it is not given |
    | `threads` | the threads of a workgroup |

    All but `lines` must be given, in any order. The attribute is
    `tessera.window_schedule` of the linalg op.

    Example:

    ```mlir
    #tessera.window_schedule<points = 4, rows = 8, threads = 256>
    ```

    Constraints
    - `window_schedule_c1`: each number is at least 1.
    - `window_schedule_c2`: `points` is a power of two, and `points` times
      `rows` times `lines` is at most 256.

    docs/Schedules.md lists the constraints of an op on a chip
    (`window_schedule_c3` and on), and explains how a schedule is chosen, set and
    printed.
  }];
  let parameters = (ins "int64_t":$points, "int64_t":$rows,
      DefaultValuedParameter<"int64_t", "1">:$lines, "int64_t":$threads);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // TESSERA_IR_WINDOWSCHEDULEATTR_TD
