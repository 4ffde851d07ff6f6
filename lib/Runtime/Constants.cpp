//===- Constants.cpp - Constants that are not part of code ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Constants.h"

#include "Format.h"
#include "Runtime/Device.h"

using namespace tessera::runtime;

DeviceConstants::~DeviceConstants() {
  for (void *memory : computed)
    (void)device.free(memory);
}

Status DeviceConstants::load(const std::vector<Constant> &constants) {
  for (const Constant &constant : constants) {
    void *address = nullptr;
    if (constant.hash.empty()) {
      if (constant.size < 0)
        return Status(StatusCode::InvalidArgument,
                      format("constant %zu of the program has %lld bytes",
                             copies.size(),
                             static_cast<long long>(constant.size)));
      Status status =
          device.allocate(static_cast<size_t>(constant.size), &address);
      if (!status.ok())
        return status;
      computed.push_back(address);
    } else {
      if (static_cast<int64_t>(constant.bytes.size()) != constant.size)
        return Status(StatusCode::InvalidArgument,
                      format("the contents of constant %zu of the program (%s) "
                             "are missing",
                             copies.size(), constant.hash.c_str()));
      Expected<std::shared_ptr<void>> copy = device.shareConstant(constant);
      if (!copy.ok())
        return copy.status();
      shared.push_back(copy.take());
      address = shared.back().get();
    }
    copies.push_back({constant.size, address});
  }
  return Status::success();
}

Expected<std::shared_ptr<void>>
Device::shareConstant(const Constant &constant) {
  std::string key = constant.hash + ":" + std::to_string(constant.size);
  SharedConstant &shared = sharedConstants[key];
  // A bundle may claim the hash of another program's weights, so the contents
  // decide; those without an owner may be gone.
  std::shared_ptr<void> known = shared.copy.lock();
  std::shared_ptr<const void> owner = shared.owner.lock();
  if (known && owner && shared.bytes == constant.bytes)
    return known;
  // Without copies, where kernels can read the host's memory.
  constexpr uintptr_t alignment = 256;
  std::shared_ptr<void> copy;
  if (usesHostMemory() && !checking && !constant.bytes.empty() &&
      reinterpret_cast<uintptr_t>(constant.bytes.data()) % alignment == 0) {
    // Weak references keep the deleter.
    copy = std::shared_ptr<void>(
        const_cast<char *>(constant.bytes.data()),
        [kept = constant.owner](void *) mutable { kept.reset(); });
  } else {
    void *memory = nullptr;
    if (Status status = allocate(constant.bytes.size(), &memory); !status.ok())
      return status;
    copy =
        std::shared_ptr<void>(memory, [this](void *ptr) { (void)free(ptr); });
    if (!constant.bytes.empty())
      if (Status status = copyToDevice(memory, constant.bytes.data(),
                                       constant.bytes.size());
          !status.ok())
        return status;
  }
  if (!known)
    shared = {copy, constant.owner, constant.bytes};
  return copy;
}
