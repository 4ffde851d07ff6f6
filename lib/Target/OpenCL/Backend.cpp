//===- Backend.cpp - The target opencl ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../SPIRV/Backend.h"

using namespace mlir;
using namespace mlir::tessera;

namespace mlir::tessera {
const TargetInfo &getOpenCLTarget();
} // namespace mlir::tessera

namespace {
class OpenCLBackend : public SpirvBackend {
public:
  OpenCLBackend() : SpirvBackend(getOpenCLTarget()) {}
  StringRef getPipelineName() const override {
    return "tessera-to-opencl-pipeline";
  }
  StringRef getPipelineDescription() const override {
    return "Portable program to kernels in the spirv dialect for OpenCL "
           "(simt..)";
  }
};
} // namespace

namespace mlir::tessera {
const TargetBackend &getOpenCLBackend() {
  static const OpenCLBackend backend;
  return backend;
}
} // namespace mlir::tessera
