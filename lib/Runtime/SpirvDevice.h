//===- SpirvDevice.h - Kernels of SPIR-V ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of OpenCL, Level Zero and Vulkan are SPIR-V, whose entry points state
// the number of threads of a workgroup and, except for Vulkan, the parameters.
// `SpirvDevice` keeps the images; each driver makes kernels of their modules.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_SPIRVDEVICE_H
#define TESSERA_LIB_RUNTIME_SPIRVDEVICE_H

#include "DriverDevice.h"
#include "SpirvModule.h"

#include <memory>

namespace tessera::runtime {

class SpirvDevice : public DriverDevice {
public:
  Status loadImage(const KernelImage &image) override;

protected:
  struct Function {
    /// The driver's kernel.
    void *handle = nullptr;
    SpirvKernel kernel;
    /// As in `KernelResources`.
    int64_t spillBytes = -1;
  };
  /// An image: one module of the driver's for each module of SPIR-V in it.
  struct Module {
    std::vector<void *> handles;
    std::vector<Function> functions;
  };

  /// `unknownKernel`: the driver's result for a kernel that a module does not
  /// have.
  SpirvDevice(DeviceInfo info, DriverResult unknownKernel)
      : DriverDevice(std::move(info)), unknownKernel(unknownKernel) {}

  static DriverResult success() { return {"", 0}; }

  /// Adds the driver's kernels of one module of `image`. After a failure, the
  /// caller releases those already added.
  virtual Status build(const KernelImage &image, const SpirvModule &code,
                       Module &module) = 0;
  /// The same for all modules of `image`; by default one after another.
  virtual Status buildAll(const KernelImage &image,
                          const std::vector<SpirvModule> &code, Module &module);
  /// Gives kernels and modules back to the driver.
  virtual void release(Module &module) = 0;

  /// Whether the device has a feature of `SpirvProfile`: "f16", "f64", "a32"
  /// or "a64". By default, whether it reports it.
  virtual bool hasFeature(const std::string &feature) const;

  /// Whether an argument of this value is an address, rather than the number of
  /// a driver's object.
  virtual bool isAddress(uintptr_t) const { return true; }

  DriverResult makeCurrent() override { return success(); }
  /// OpenCL and Level Zero do not report the free bytes.
  DriverResult memInfo(size_t *, size_t *) override { return {"", -1}; }
  DriverResult moduleUnload(void *module) override;
  DriverResult moduleGetFunction(void **function, void *module,
                                 const char *name) override;
  /// A kernel's workgroup memory is its own, and launches specify its size.
  DriverResult setDynamicLimit(void *, int64_t) override { return success(); }
  /// The drivers do not report it.
  DriverResult occupancy(int *workgroups, void *, int64_t, int64_t) override {
    *workgroups = -1;
    return success();
  }
  Status checkOwnLimits(const LaunchRequest &request,
                        const LoadedKernel &kernel) const override;
  LoadedKernel describeKernel(void *function, void *module,
                              const char *name) const override;
  std::vector<std::string> listKernels(void *module) const override;

  /// The most recently loaded function of this name, or null.
  const Function *findFunction(const std::string &name) const;

private:
  /// Rejects a module that declares a capability which the device lacks: a
  /// driver may compile it anyway, or crash.
  Status checkCapabilities(const KernelImage &image,
                           const SpirvModule &code) const;
  /// Whether buffers begin at the alignment of the kernel's parameters.
  Status checkAlignment(const SpirvKernel &kernel,
                        const LaunchRequest &request) const;

  DriverResult unknownKernel;
  /// In the order of loading.
  std::vector<std::unique_ptr<Module>> modules;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_SPIRVDEVICE_H
