//===- CodeCompatibility.cpp - Which code a device runs -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/CodeCompatibility.h"

#include "Backend.h"

using namespace tessera::runtime;

std::string tessera::runtime::explainIncompatible(const std::string &target,
                                                  const std::string &code,
                                                  const std::string &device,
                                                  bool isMachineCode) {
  if (code == device)
    return "";
  const RuntimeBackend *backend = findRuntimeBackend(target);
  return backend ? backend->explainIncompatible(code, device, isMachineCode)
                 : "no driver of " + target + " is known";
}

std::string tessera::runtime::describeIncompatible(const DeviceInfo &device,
                                                   const std::string &what,
                                                   const std::string &why) {
  const std::string &chip =
      device.targetId.empty() ? device.chip : device.targetId;
  return device.name + (chip == device.name ? "" : " (" + chip + ")") +
         " does not run " + what + ": " + why;
}
