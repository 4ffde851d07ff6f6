//===- Backend.cpp - The target vulkan ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../SPIRV/Backend.h"

using namespace mlir;
using namespace mlir::tessera;

namespace mlir::tessera {
const TargetInfo &getVulkanTarget();
} // namespace mlir::tessera

namespace {
class VulkanBackend : public SpirvBackend {
public:
  VulkanBackend() : SpirvBackend(getVulkanTarget()) {}
  StringRef getPipelineName() const override {
    return "tessera-to-spirv-pipeline";
  }
  StringRef getPipelineDescription() const override {
    return "Portable program to kernels in the spirv dialect (lavapipe..)";
  }
};
} // namespace

namespace mlir::tessera {
const TargetBackend &getVulkanBackend() {
  static const VulkanBackend backend;
  return backend;
}
} // namespace mlir::tessera
