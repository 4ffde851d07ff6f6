//===- DriverFile.cpp - Cache file of a device and driver -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverFile.h"

#include "../Checksum.h"
#include "../Format.h"
#include "Runtime/OutputFile.h"
#include "Runtime/PrivateFile.h"

#include <dirent.h>
#include <unistd.h>

using namespace tessera::runtime;

static std::string toHex(const uint8_t *bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += format("%02x", bytes[i]);
  return text;
}

std::string DriverFile::getHead(const std::string &data) const {
  std::string head = heading;
  uint64_t sum = getChecksum(data);
  for (int i = 0; i < 8; ++i)
    head += static_cast<char>(sum >> (8 * i) & 0xff);
  return head;
}

/// All of a file; empty if there is none. `why` has the reason for a file that
/// cannot be used.
static std::string readFile(const std::string &path, std::string &why) {
  PrivateFileOptions options;
  options.maxBytes = 2 * DriverFile::maxBytes;
  bool isAbsent = false;
  Expected<std::string> text = readPrivateFile(path, options, &isAbsent);
  if (text.ok() && text->empty())
    why = "checksum mismatch";
  else if (!text.ok() && !isAbsent)
    why = "it " + text.status().message();
  return text.ok() ? text.take() : "";
}

std::string DriverFile::open(const std::string &where,
                             const VkPhysicalDeviceProperties &properties,
                             const VkPhysicalDeviceVulkan11Properties &identity,
                             std::string &why) {
  directory = where;
  prefix = "vulkan-" + toHex(identity.deviceUUID, VK_UUID_SIZE) + "-";
  name = prefix + format("%x-", properties.driverVersion) +
         toHex(properties.pipelineCacheUUID, VK_UUID_SIZE) + suffix;
  if (Status status = checkPrivateFolder(directory); !status.ok()) {
    why = status.message();
    return "";
  }
  std::string text = readFile(getPath(), why);
  if (text.empty())
    return "";
  size_t headBytes = heading.size() + 8;
  if (text.size() >= headBytes) {
    std::string data = text.substr(headBytes);
    if (text.compare(0, headBytes, getHead(data)) == 0)
      return data;
  }
  why = "checksum mismatch";
  return "";
}

Status DriverFile::write(const std::string &data) const {
  if (Status status = checkPrivateFolder(directory); !status.ok())
    return status;
  if (Status status = writePrivateFile(getPath(), {getHead(data), data});
      !status.ok())
    return status;
  removeOlder();
  return Status::success();
}

void DriverFile::removeOlder() const {
  DIR *folder = ::opendir(directory.c_str());
  if (!folder)
    return;
  while (dirent *entry = ::readdir(folder)) {
    std::string other = entry->d_name;
    bool isOlder = other.compare(0, prefix.size(), prefix) == 0 &&
                   other.size() > suffix.size() &&
                   other.compare(other.size() - suffix.size(),
                                 std::string::npos, suffix) == 0 &&
                   other != name;
    if (isOlder)
      ::unlink((directory + "/" + other).c_str());
  }
  ::closedir(folder);
}
