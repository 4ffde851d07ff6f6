//===- TestedMatmuls.h - Matmuls that passed the self-test ----*- C++ -*---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_TESTEDMATMULS_H
#define TESSERA_LIB_RUNTIME_VULKAN_TESTEDMATMULS_H

#include "DriverFile.h"

#include <set>
#include <string>

namespace tessera::runtime {

/// The names of the matmuls that a device computed correctly: in this process,
/// and where there is a folder for it, in all that ran with the same driver.
/// The file has a name in each line. Wrong results are not recorded: these
/// matmuls are tested each time.
class TestedMatmuls {
public:
  /// Those that are known of the device and driver that `properties` and
  /// `identity` describe from now on. Reads the file of `directory`; one that
  /// cannot be used is as if there were none, and the status has the reason.
  Status open(const std::string &directory,
              const VkPhysicalDeviceProperties &properties,
              const VkPhysicalDeviceVulkan11Properties &identity);

  /// Writes the file anew if there is more than it has.
  Status save();

  bool contains(const std::string &name) const { return names.count(name); }
  void add(const std::string &name) { names.insert(name); }

private:
  DriverFile file{"tessera matmuls 1\n", ".products"};
  std::set<std::string> names, saved;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_TESTEDMATMULS_H
