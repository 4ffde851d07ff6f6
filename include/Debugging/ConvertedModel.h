//===- ConvertedModel.h - The error of a converted model ---------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DEBUGGING_CONVERTEDMODEL_H
#define DEBUGGING_CONVERTEDMODEL_H

#include "Execution/Execution.h"

#include "mlir/IR/MLIRContext.h"

namespace tessera::execution {

/// Imports the model of the options without --convert, evaluates it by the
/// reference, and reports the Euclidean norm of each output's difference from
/// it, relative to that of the reference. The figure is not compared with a
/// limit.
LogicalResult
compareWithOriginal(const ProgramOptions &options, mlir::MLIRContext &context,
                    const std::vector<runtime::HostArray> &arguments,
                    const std::vector<Output> &outputs, Report &report);

} // namespace tessera::execution

#endif // DEBUGGING_CONVERTEDMODEL_H
