//===- HostMemory.cpp - Buffers that host code accesses -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostMemory.h"

#include "Format.h"

#include <algorithm>
#include <cstdlib>

using namespace tessera::runtime;

HostMemory::~HostMemory() { clear(); }

void HostMemory::clear() {
  for (auto &[host, block] : blocks) {
    if (block.kind != Kind::OnDevice)
      (void)device.free(block.device);
    if (block.kind == Kind::Allocated || block.kind == Kind::OnDevice)
      std::free(const_cast<char *>(host));
  }
  blocks.clear();
}

static Expected<void *> allocateHost(size_t bytes, size_t alignment) {
  constexpr size_t natural = 64;
  alignment = std::max(alignment, natural);
  // A multiple of the alignment, and an address of its own without elements.
  size_t rounded = std::max(bytes, size_t(1)) + alignment - 1;
  rounded -= rounded % alignment;
  void *host =
      rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (!host)
    return Status(StatusCode::OutOfMemory,
                  format("the host has no %zu bytes of memory", bytes));
  return host;
}

Expected<void *> HostMemory::allocate(size_t bytes, size_t alignment) {
  Expected<void *> host = allocateHost(bytes, alignment);
  if (host.ok())
    blocks[static_cast<char *>(*host)] = {bytes, Kind::Allocated};
  return host;
}

void HostMemory::addVariable(void *host, size_t bytes, bool isConstant) {
  auto [block, isNew] = blocks.try_emplace(
      static_cast<char *>(host),
      Block{bytes, isConstant ? Kind::Constant : Kind::Variable});
  if (isNew)
    block->second.isHostNewer = true;
}

Expected<void *> HostMemory::addDevice(void *memory, size_t bytes) {
  Expected<void *> host = allocateHost(bytes, /*alignment=*/1);
  if (host.ok()) {
    Block block{bytes, Kind::OnDevice, memory};
    block.isDeviceNewer = true;
    blocks[static_cast<char *>(*host)] = block;
  }
  return host;
}

HostMemory::Blocks::iterator HostMemory::find(const void *host) {
  const char *address = static_cast<const char *>(host);
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin())
    return blocks.end();
  auto block = std::prev(next);
  bool isWithin =
      address < block->first + block->second.bytes || address == block->first;
  return isWithin ? block : blocks.end();
}

bool HostMemory::findBounds(const void *host, const char *&begin,
                            size_t &bytes) const {
  auto block = const_cast<HostMemory *>(this)->find(host);
  if (block == blocks.end())
    return false;
  begin = block->first;
  bytes = block->second.bytes;
  return true;
}

void HostMemory::release(Blocks::iterator block) {
  (void)device.free(block->second.device);
  std::free(const_cast<char *>(block->first));
  blocks.erase(block);
}

bool HostMemory::free(void *host) {
  auto block = blocks.find(static_cast<char *>(host));
  if (block == blocks.end() || block->second.kind != Kind::Allocated)
    return false;
  release(block);
  return true;
}

Status HostMemory::upload(char *host, Block &block) {
  if (!block.device)
    if (Status status = device.allocate(block.bytes, &block.device);
        !status.ok())
      return status;
  if (!block.isHostNewer)
    return Status::success();
  block.isHostNewer = false;
  if (block.bytes == 0)
    return Status::success();
  if (Status status = flush(); !status.ok())
    return status;
  return device.copyToDevice(block.device, host, block.bytes);
}

Status HostMemory::download(char *host, Block &block) {
  if (!block.isDeviceNewer)
    return Status::success();
  block.isDeviceNewer = false;
  if (block.bytes == 0)
    return Status::success();
  if (Status status = flush(); !status.ok())
    return status;
  return device.copyToHost(host, block.device, block.bytes);
}

Expected<void *> HostMemory::toDevice(void *host) {
  auto found = find(host);
  if (found == blocks.end())
    return host;
  auto &[begin, block] = *found;
  if (Status status = upload(const_cast<char *>(begin), block); !status.ok())
    return status;
  block.isDeviceNewer = block.kind != Kind::Constant;
  ptrdiff_t offset = static_cast<char *>(host) - begin;
  return static_cast<void *>(static_cast<char *>(block.device) + offset);
}

Status HostMemory::access(const void *host, bool isWrite) {
  auto found = find(host);
  if (found == blocks.end())
    return Status::success();
  auto &[begin, block] = *found;
  block.isHostNewer |= isWrite;
  return download(const_cast<char *>(begin), block);
}

Status HostMemory::endEntry() {
  for (auto next = blocks.begin(); next != blocks.end();) {
    auto current = next++;
    if (current->second.kind != Kind::OnDevice)
      continue;
    char *host = const_cast<char *>(current->first);
    if (Status status = upload(host, current->second); !status.ok())
      return status;
    std::free(host);
    blocks.erase(current);
  }
  return Status::success();
}

Expected<HostMemory::Exported> HostMemory::exportBlock(void *host) {
  auto found = find(host);
  Exported result;
  result.address = host;
  if (found == blocks.end())
    return result;
  Expected<void *> address = toDevice(host);
  if (!address.ok())
    return address.status();
  result.address = *address;
  if (found->second.kind != Kind::Allocated)
    return result;
  result.base = found->second.device;
  result.bytes = found->second.bytes;
  // Another result may be the same buffer.
  found->second.kind = Kind::OnDevice;
  return result;
}
