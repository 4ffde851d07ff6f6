//===- SpirvDevice.cpp - Kernels of SPIR-V --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpirvDevice.h"

#include "Format.h"
#include "Runtime/CodeCompatibility.h"
#include "SpirvProfile.h"

#include <algorithm>
#include <cstring>

using namespace tessera::runtime;

namespace {
/// A capability (SPIR-V Specification, 3.31, and the registry of extensions)
/// and the feature of `SpirvProfile` that it requires.
struct Capability {
  uint32_t number;
  const char *name, *feature;
};
} // namespace

static constexpr Capability capabilities[] = {
    {9, "Float16", "f16"},
    {10, "Float64", "f64"},
    {6033, "AtomicFloat32AddEXT", "a32"},
    {6034, "AtomicFloat64AddEXT", "a64"},
};

bool SpirvDevice::hasFeature(const std::string &feature) const {
  std::optional<SpirvProfile> profile = SpirvProfile::parse(info().chip);
  return !profile || profile->has(feature);
}

Status SpirvDevice::checkCapabilities(const KernelImage &image,
                                      const SpirvModule &code) const {
  for (const Capability &capability : capabilities)
    if (std::find(code.capabilities.begin(), code.capabilities.end(),
                  capability.number) != code.capabilities.end() &&
        !hasFeature(capability.feature))
      return Status(
          StatusCode::Rejected,
          "image '" + image.name + "' cannot be loaded: " +
              describeIncompatible(
                  info(),
                  std::string("SPIR-V with the capability ") + capability.name,
                  "the device lacks " +
                      describeSpirvFeature(capability.feature)));
  return Status::success();
}

Status SpirvDevice::loadImage(const KernelImage &image) {
  if (image.kind != KernelImage::SPIRV)
    return Status(StatusCode::InvalidArgument,
                  "image '" + image.name +
                      "' is not SPIR-V, and devices of target " +
                      info().target + " accept nothing else");
  if (Status status = enter(); !status.ok())
    return status;
  Expected<std::vector<SpirvModule>> code = readSpirv(image.bytes);
  if (!code.ok())
    return Status(StatusCode::InvalidArgument,
                  "image '" + image.name + "': " + code.status().message());
  for (const SpirvModule &part : *code)
    if (Status status = checkCapabilities(image, part); !status.ok())
      return status;
  auto module = std::make_unique<Module>();
  if (Status status = buildAll(image, *code, *module); !status.ok()) {
    release(*module);
    return status;
  }
  Module *loaded = module.get();
  modules.push_back(std::move(module));
  return addModule(image.name, loaded);
}

Status SpirvDevice::buildAll(const KernelImage &image,
                             const std::vector<SpirvModule> &code,
                             Module &module) {
  for (const SpirvModule &part : code)
    if (Status status = build(image, part, module); !status.ok())
      return status;
  return Status::success();
}

DriverResult SpirvDevice::moduleUnload(void *module) {
  auto found = std::find_if(modules.begin(), modules.end(),
                            [&](const auto &m) { return m.get() == module; });
  if (found != modules.end()) {
    release(**found);
    modules.erase(found);
  }
  return success();
}

DriverResult SpirvDevice::moduleGetFunction(void **function, void *module,
                                            const char *name) {
  for (Function &candidate : static_cast<Module *>(module)->functions)
    if (candidate.kernel.name == name) {
      *function = &candidate;
      return success();
    }
  return unknownKernel;
}

std::vector<std::string> SpirvDevice::listKernels(void *module) const {
  std::vector<std::string> names;
  for (const Function &function : static_cast<Module *>(module)->functions)
    names.push_back(function.kernel.name);
  return names;
}

LoadedKernel SpirvDevice::describeKernel(void *loaded, void *,
                                         const char *) const {
  auto *function = static_cast<Function *>(loaded);
  const SpirvKernel &kernel = function->kernel;
  LoadedKernel result;
  result.handle = function;
  result.dynamicLimit = static_cast<int64_t>(info().workgroupMemoryBytes);
  result.resources.spillBytes = function->spillBytes;
  result.resources.maxThreads =
      static_cast<int>(kernel.block[0] * kernel.block[1] * kernel.block[2]);
  result.threadLimit = "it was compiled for that workgroup size";
  result.parametersKnown = true;
  for (const SpirvParameter &parameter : kernel.parameters)
    result.parameters.push_back(parameter.bytes);
  return result;
}

Status SpirvDevice::checkAlignment(const SpirvKernel &kernel,
                                   const LaunchRequest &request) const {
  size_t count =
      std::min(kernel.parameters.size(), static_cast<size_t>(request.numArgs));
  for (size_t i = 0; i < count; ++i) {
    const SpirvParameter &parameter = kernel.parameters[i];
    if (!parameter.isPointer || parameter.alignment <= 1)
      continue;
    uintptr_t address = 0;
    std::memcpy(&address, request.args[i], sizeof(address));
    if (isAddress(address) &&
        address % static_cast<uintptr_t>(parameter.alignment) != 0)
      return reject(
          request,
          format("a buffer at 0x%llx, whose rows this kernel loads by block "
                 "loads: its address must be a multiple of %lld bytes",
                 static_cast<unsigned long long>(address),
                 static_cast<long long>(parameter.alignment)));
  }
  return Status::success();
}

Status SpirvDevice::checkOwnLimits(const LaunchRequest &request,
                                   const LoadedKernel &loaded) const {
  const SpirvKernel &kernel =
      static_cast<const Function *>(loaded.handle)->kernel;
  if (std::equal(kernel.block.begin(), kernel.block.end(), request.block))
    return checkAlignment(kernel, request);
  return reject(request, "a block of " + formatDims(request.block) +
                             " threads, but this kernel is compiled for " +
                             formatDims(kernel.block.data()));
}

const SpirvDevice::Function *
SpirvDevice::findFunction(const std::string &name) const {
  for (auto module = modules.rbegin(); module != modules.rend(); ++module)
    for (const Function &function : (*module)->functions)
      if (function.kernel.name == name)
        return &function;
  return nullptr;
}
