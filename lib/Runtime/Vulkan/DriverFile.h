//===- DriverFile.h - Cache file of a device and driver -----*- C++ -*-----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_DRIVERFILE_H
#define TESSERA_LIB_RUNTIME_VULKAN_DRIVERFILE_H

#include "VulkanDriver.h"

#include "Runtime/Status.h"

#include <string>

namespace tessera::runtime {

/// A file of the cache's folder, one for each device and driver:
///
///     tessera pipelines 1\n
///     8 bytes    FNV-1a (64 bits) of what follows, little-endian
///     ...        the data
class DriverFile {
public:
  /// `heading` is the first line, with its end; `suffix` how the name ends,
  /// with its dot.
  DriverFile(const char *heading, const char *suffix)
      : heading(heading), suffix(suffix) {}

  /// Chooses the file of `directory` for the device and driver that
  /// `properties` and `identity` describe, and returns what it holds: nothing
  /// where there is none. `why` has the reason for a file that cannot be used.
  std::string open(const std::string &directory,
                   const VkPhysicalDeviceProperties &properties,
                   const VkPhysicalDeviceVulkan11Properties &identity,
                   std::string &why);

  /// Writes the file anew: to a file of its own first, which is then renamed.
  /// Files of other drivers for the same device are removed. After `open`.
  Status write(const std::string &data) const;

  /// Empty before `open`.
  const std::string &getDirectory() const { return directory; }
  std::string getPath() const { return directory + "/" + name; }

  /// A file that has grown beyond this size is not written.
  static constexpr size_t maxBytes = 64 << 20;

private:
  std::string getHead(const std::string &data) const;
  void removeOlder() const;

  std::string heading, suffix, directory, name;
  /// How the names of all files of this device begin.
  std::string prefix;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_DRIVERFILE_H
