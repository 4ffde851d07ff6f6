//===- Executable.h - An entry of a program, ready to be called -*- C++ -*-===//
//
// What a bundle needs to be run: its host code is loaded into the process, its
// kernels onto a device, and calls are made with memory of the caller's.
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

/// The host code of a variant, and its kernels.
class LoadedVariant {
public:
  /// Takes a copy of what it needs. `Rejected` where the system does not load
  /// the host code, or it lacks a kernel of its own.
  static Expected<std::unique_ptr<LoadedVariant>>
  load(const ProgramVariant &variant);
  ~LoadedVariant();

  /// The kernels; the image's name is like that of no other.
  const KernelImage &getImage() const { return image; }
  /// Null if there is no entry of that name.
  EntryFunction getFunction(const std::string &name) const;

private:
  LoadedVariant();

  std::unique_ptr<HostLibrary> library;
  KernelImage image;
};

/// What the memory of an operand is.
enum class MemoryKind {
  /// The host's: copied to the device before a run, and back after it where the
  /// program may write it. A run with such an operand waits.
  Host,
  /// The device's, by a pointer that its kernels use: used as it is.
  Device,
  /// The device's, by an object of its driver's (`Device::bindObject`): used as
  /// it is, from its beginning.
  ClMem,
  VkBuffer,
};

/// One argument of a call.
struct Operand {
  MemoryKind kind = MemoryKind::Device;
  /// The first element of an array, the object that it lies in, or a scalar's
  /// value (on the host, whatever `kind` says).
  void *data = nullptr;
  /// Of an array; null stands for the sizes of its type, which are then all
  /// static.
  const int64_t *sizes = nullptr;
  /// In elements; null stands for a dense array in row-major order.
  const int64_t *strides = nullptr;
};

/// A result of a call. Memory on the device is the caller's from then on.
struct CallResult {
  /// Of an array, on the device; null for a scalar.
  void *data = nullptr;
  /// To be handed to `Device::free` in the end.
  void *allocation = nullptr;
  std::vector<int64_t> sizes;
  /// Of a scalar.
  uint64_t scalar = 0;
};

/// An entry on a device. Calls are made one at a time, as is everything else
/// with the device.
class Executable {
public:
  /// The device outlives it. `InvalidArgument` where the bundle has nothing for
  /// the device, or no such entry; what `Device::loadImage` gives.
  static Expected<std::unique_ptr<Executable>>
  create(const Bundle &bundle, const std::string &entry, Device &device);
  ~Executable();
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  const Signature &getSignature() const { return signature; }

  /// Calls the entry, in the device's own queue or in one of the caller's
  /// (`Device::enterQueue`). Without operands of the host's nothing waits: the
  /// work is queued when this returns, and an error of a running kernel comes
  /// from a later call. `results` are as many as the signature's: they replace
  /// what is in the vector, which is not freed. A run that fails leaves the
  /// vector as it is, and frees what it allocated itself.
  ///
  /// `InvalidArgument` names the operand and what is wrong with it.
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
  /// Lives from run to run, for the copies of constants that it has.
  std::unique_ptr<Session> session;
  /// The fields of all arguments, and where each argument's begin.
  std::vector<uint64_t> words;
  std::vector<size_t> firstWords;
  /// What the entry is called with.
  std::vector<void *> pointers;
  ResultLayout layout;
  std::vector<uint64_t> resultWords;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_EXECUTABLE_H
