//===- Constants.h - Constants that are not part of code --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Large constants of a program, such as the weights of a model, are bytes
// beside its code: in a section of a bundle, or in a mapped file. Host code
// asks for their copies on the device by number (`tessera_rt_data`).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_CONSTANTS_H
#define TESSERA_RUNTIME_CONSTANTS_H

#include "Runtime/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

class Device;

/// How contents follow from those of another constant: its dimensions are
/// permuted.
struct Transposition {
  /// The hash of the other constant; empty for none.
  std::string source;
  /// Its shape.
  std::vector<int64_t> shape;
  /// Dimension `i` of the result is dimension `permutation[i]` of the source.
  std::vector<int64_t> permutation;
  int64_t elementBytes = 0;
};

/// Whether a source of `bytes` bytes can be transposed so.
bool canTranspose(const Transposition &transposition, size_t bytes);

/// The contents of a source with its dimensions permuted. The transposition
/// must be one of `canTranspose`.
std::string transpose(std::string_view bytes,
                      const Transposition &transposition);

/// A constant of a program.
struct Constant {
  /// Names the contents: equal for equal bytes. A bundle states it, so other
  /// bytes may have it too. Empty for a constant that the program's loader
  /// computes.
  std::string hash;
  /// Its size in bytes.
  int64_t size = 0;
  /// The contents; empty if they are not at hand, or computed.
  std::string_view bytes;
  /// Keeps `bytes` alive.
  std::shared_ptr<const void> owner;
  /// A bundle may store this instead of the contents.
  Transposition transposition;
};

/// The constants of one program on a device.
class DeviceConstants {
public:
  /// The device must outlive this object.
  explicit DeviceConstants(Device &device) : device(device) {}
  ~DeviceConstants();
  DeviceConstants(const DeviceConstants &) = delete;
  DeviceConstants &operator=(const DeviceConstants &) = delete;

  /// Copies the constants to the device, which the caller has to itself. A
  /// constant that another program has on the device, with an owner and equal
  /// contents, is shared with it. Memory
  /// of computed constants has undefined contents. `InvalidArgument` for a
  /// constant without contents; the errors of allocations and copies.
  Status load(const std::vector<Constant> &constants);

  /// The address of a constant, aligned to 256 bytes; null if there is none of
  /// that number and size.
  void *find(int64_t index, int64_t bytes) const {
    if (index < 0 || static_cast<size_t>(index) >= copies.size() ||
        copies[static_cast<size_t>(index)].bytes != bytes)
      return nullptr;
    return copies[static_cast<size_t>(index)].address;
  }

private:
  struct Copy {
    int64_t bytes;
    void *address;
  };

  Device &device;
  std::vector<Copy> copies;
  std::vector<std::shared_ptr<void>> shared;
  /// The memory of computed ones.
  std::vector<void *> computed;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_CONSTANTS_H
