//===- ImportOnnx.h - gpu-opt --import=onnx ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_OPT_IMPORTONNX_H
#define GPU_OPT_IMPORTONNX_H

/// True when --import is among the arguments.
bool wantsImport(int argc, char **argv);

/// Prints a model as a module, or the table of operators with
/// --print-operators. Returns the exit status.
int runImport(int argc, char **argv);

#endif // GPU_OPT_IMPORTONNX_H
