// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
def Tessera_Dialect : Dialect {
  let description = [{
    | attribute | value | on | set by | read by |
    |---|---|---|---|---|
    | `group` | Integer: a number | a kernel | a pass | a pass |
    | `gone` | Unit | a kernel | a pass | a pass |
  }];
  let discardableAttrs = (ins
    "::mlir::IntegerAttr":$group,
    "::mlir::UnitAttr":$kernel);
}
def Tessera_CopyOp : Tessera_Op<"copy"> {}
