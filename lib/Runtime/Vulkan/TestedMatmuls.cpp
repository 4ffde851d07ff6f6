//===- TestedMatmuls.cpp - Matmuls that passed the self-test --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestedMatmuls.h"

#include <sstream>

using namespace tessera::runtime;

Status TestedMatmuls::open(const std::string &directory,
                           const VkPhysicalDeviceProperties &properties,
                           const VkPhysicalDeviceVulkan11Properties &identity) {
  if (file.getDirectory() == directory)
    return Status::success();
  std::string why;
  std::istringstream lines(file.open(directory, properties, identity, why));
  saved.clear();
  for (std::string line; std::getline(lines, line);)
    saved.insert(line);
  names.insert(saved.begin(), saved.end());
  if (why.empty())
    return Status::success();
  return Status(StatusCode::Internal,
                file.getPath() + ": " + why + "; matmuls are tested again");
}

Status TestedMatmuls::save() {
  if (file.getDirectory().empty() || names == saved)
    return Status::success();
  std::string text;
  for (const std::string &name : names)
    text += name + "\n";
  if (Status status = file.write(text); !status.ok())
    return status;
  saved = names;
  return Status::success();
}
