//===- TesseraTransformOps.td - Ops of transform scripts --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TRANSFORMOPS_TESSERATRANSFORMOPS_TD
#define TESSERA_TRANSFORMOPS_TESSERATRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Not the attribute's own definition: the schedule must be written in full, as
// it is printed elsewhere.
def Tessera_AnySchedule
    : Attr<CPred<"::llvm::isa<::mlir::tessera::ScheduleAttr>($_self)">,
           "a #tessera.schedule<...>"> {
  let storageType = "::mlir::Attribute";
  let returnType = "::mlir::Attribute";
  let convertFromStorage = "$_self";
}

def SetScheduleOp : Op<Transform_Dialect, "tessera.set_schedule",
    [TransformOpInterface, TransformEachOpTrait,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     ReportTrackingListenerFailuresOpTrait]> {
  let summary = "set the schedule of matmuls";
  let description = [{
    Sets the schedule of each op that `target` stands for: the attribute
    `tessera.schedule` of a linalg op, the schedule of a `tessera.contract`.
    One that is there already is replaced.

    Fails silenceably at an op that is not a matmul: neither a `tessera.contract`
    nor a linalg op that reduces over two inputs. Whether the chip can run the
    schedule is found out when the op is tiled.

    Example:

    ```mlir
    module attributes {transform.with_named_sequence} {
      func.func @main(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>)
          -> tensor<256x256xf32> {
        %d = linalg.matmul ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>)
            outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
        return %d : tensor<256x256xf32>
      }
      transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
        %products = transform.structured.match ops{["linalg.matmul"]} in %module
            : (!transform.any_op) -> !transform.any_op
        transform.tessera.set_schedule
            #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32,
                              kFragment = 16, stages = 3, vthread = [1, 1]>
            on %products : !transform.any_op
        transform.yield
      }
    }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Tessera_AnySchedule:$schedule);
  let results = (outs);
  let assemblyFormat =
      "$schedule `on` $target attr-dict `:` type($target)";
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter,
        ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results,
        ::mlir::transform::TransformState &state);
  }];
  let cppNamespace = "::mlir::tessera";
}

#endif // TESSERA_TRANSFORMOPS_TESSERATRANSFORMOPS_TD
