//===- MatmulWork.h - Operations and bytes of matmuls -*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_MATMULWORK_H
#define REPORT_MATMULWORK_H

#include "Execution/Program.h"

namespace tessera::execution {

/// A matmul, a convolution or an attention that is an op on whole arrays in an
/// entry.
struct MatmulWork {
  /// "file:line:column", as reports of matmuls have it.
  std::string location;
  mlir::Operation *op = nullptr;
  /// Multiplications and additions of one execution; absent where an extent is
  /// not known beforehand.
  std::optional<double> operations;
  /// Bytes of both operands and the result, each once; absent likewise.
  std::optional<double> bytes;
};

/// The matmuls, convolutions and attentions of the entry, for arguments of
/// these shapes; without arguments, as far as the program itself states sizes.
std::vector<MatmulWork>
collectWork(const Entry &entry,
            const std::vector<runtime::HostArray> &arguments);

/// Multiplications and additions of all of them in one run. Absent if there is
/// none, or one whose extent is not known beforehand or that is in a loop.
std::optional<double>
countOperations(const Entry &entry,
                const std::vector<runtime::HostArray> &arguments);

} // namespace tessera::execution

#endif // REPORT_MATMULWORK_H
