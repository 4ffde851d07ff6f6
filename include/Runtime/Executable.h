//===- Executable.h - An entry of a program, ready to be called -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs bundles: the host code is loaded into the process, the kernels onto a
// device, and calls use the caller's memory.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EXECUTABLE_H
#define TESSERA_RUNTIME_EXECUTABLE_H

#include "Runtime/Bundle.h"
#include "Runtime/Device.h"
#include "Runtime/Session.h"

#include <memory>
#include <optional>

namespace tessera::runtime {

class HostLibrary;

/// Runs an entry: takes an array of pointers, one to each field of each
/// argument (an array of rank r: allocated and aligned pointer, offset, r
/// sizes, r strides, 8 bytes each; a scalar: itself), then one to memory for
/// the results (`ResultLayout`). It is called within a `SessionScope`.
using EntryFunction = void (*)(void **);

/// The loaded host code of a variant, and its kernels.
class LoadedVariant {
public:
  /// Copies all data it needs. `Rejected` if the system cannot load the host
  /// code, or the host code does not define one of its kernels.
  static Expected<std::unique_ptr<LoadedVariant>>
  load(const ProgramVariant &variant);
  ~LoadedVariant();

  /// The kernels; the name of the image is unique.
  const KernelImage &getImage() const { return image; }
  /// Returns null if no entry point has that name.
  EntryFunction getFunction(const std::string &name) const;

private:
  LoadedVariant();

  std::unique_ptr<HostLibrary> library;
  KernelImage image;
};

/// The kind of memory of an operand.
enum class MemoryKind {
  /// Host memory: copied to the device before a run, and back afterwards if the
  /// program may write it. A run with such an operand is synchronous.
  Host,
  /// Device memory, by a pointer that kernels can use: used in place.
  Device,
  /// Device memory, by a driver object (`Device::bindObject`): used in place,
  /// from offset 0.
  ClMem,
  VkBuffer,
};

/// One argument of a call.
struct Operand {
  MemoryKind kind = MemoryKind::Device;
  /// The first element of an array, the driver object that contains it, or a
  /// scalar's value (always on the host, independent of `kind`).
  void *data = nullptr;
  /// The sizes of an array; null stands for the sizes of its type, which must
  /// then be static.
  const int64_t *sizes = nullptr;
  /// The strides of an array in elements; null stands for a dense row-major
  /// array.
  const int64_t *strides = nullptr;
};

/// A result of a call. The caller owns its device memory.
struct CallResult {
  /// The first element of an array, on the device; null for a scalar.
  void *data = nullptr;
  /// The allocation, which the caller must pass to `Device::free`.
  void *allocation = nullptr;
  std::vector<int64_t> sizes;
  /// The value of a scalar.
  uint64_t scalar = 0;
};

/// An entry point on a device. Calls must not overlap with each other or with
/// other uses of the device.
class Executable {
public:
  /// The device must outlive the executable. `InvalidArgument` if the bundle
  /// does not contain code for the device or the entry point; also the errors
  /// of `Device::loadImage`.
  static Expected<std::unique_ptr<Executable>>
  create(const Bundle &bundle, const std::string &entry, Device &device);
  ~Executable();
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  const Signature &getSignature() const { return signature; }

  /// Calls the entry point on the device's own queue or on the caller's
  /// (`Device::enterQueue`). Without host operands the call is asynchronous:
  /// the work is queued when it returns, and a later call reports an error of a
  /// running kernel. `results` receives as many results as the signature has;
  /// its previous contents are replaced but not freed. A run that fails leaves
  /// the vector unchanged, and frees its own allocations.
  ///
  /// `InvalidArgument` names the operand and the reason.
  Status run(const std::vector<Operand> &operands,
             std::vector<CallResult> &results,
             const std::optional<void *> &queue = std::nullopt);

private:
  class Copies;
  class Objects;
  class Results;

  Executable(Device &device, const Signature &signature);

  Status runInQueue(const std::vector<Operand> &operands,
                    std::vector<CallResult> &results);
  Status bind(size_t index, const Operand &operand);
  Status takeResults(std::vector<CallResult> &results);
  Status takeArray(size_t index, CallResult &result);

  Device &device;
  Signature signature;
  std::unique_ptr<LoadedVariant> variant;
  bool isLoaded = false;
  EntryFunction function = nullptr;
  /// Lives across runs, because it owns the copies of constants.
  std::unique_ptr<Session> session;
  /// The fields of all arguments, and the offset of each argument's first
  /// field.
  std::vector<uint64_t> words;
  std::vector<size_t> firstWords;
  /// The pointers that the entry point is called with.
  std::vector<void *> pointers;
  ResultLayout layout;
  std::vector<uint64_t> resultWords;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_EXECUTABLE_H
