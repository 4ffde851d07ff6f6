//===- BundleFuzzer.cpp - Bytes that may be a bundle ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For libFuzzer. The checksum of each input is corrected first, since all
// inputs would be rejected otherwise; a bundle that can be read must be written
// again unchanged, and selected from and described without a fault. Host code
// is not loaded: a bundle's machine code is as trusted as a shared library.
//
//===----------------------------------------------------------------------===//

#include "Checksum.h"
#include "Runtime/Bundle.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace tessera::runtime;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  // As it is,
  (void)readBundle(bytes);
  // and with the beginning that an empty bundle has, and a right checksum.
  constexpr size_t head = 9, checksumBytes = 8;
  // The fields follow their size; contents of constants are what is left.
  uint64_t fieldBytes = 0;
  constexpr size_t sizeBytes = sizeof(fieldBytes);
  if (bytes.size() < sizeBytes)
    bytes.resize(sizeBytes);
  std::memcpy(&fieldBytes, bytes.data(), sizeBytes);
  fieldBytes = std::min<uint64_t>(fieldBytes, bytes.size() - sizeBytes);
  std::memcpy(bytes.data(), &fieldBytes, sizeBytes);
  std::string whole =
      writeBundle(Bundle()).substr(0, head) + "checksum" + bytes;
  uint64_t hash =
      getChecksum(std::string_view(bytes).substr(0, sizeBytes + fieldBytes));
  std::memcpy(&whole[head], &hash, checksumBytes);
  auto bundle = readBundle(whole);
  if (!bundle.ok()) {
    if (bundle.status().message().find("checksum") != std::string::npos)
      std::abort(); // The format has changed, and this file has not.
    return 0;
  }
  std::string again = writeBundle(*bundle);
  auto second = readBundle(again);
  if (!second.ok() || writeBundle(*second) != again)
    std::abort();
  for (const char *target : {"cpu", "cuda", "hip", "vulkan"}) {
    DeviceInfo device;
    device.target = target;
    device.chip = "sm_90a";
    device.targetId = "gfx942";
    (void)selectVariant(*bundle, device);
  }
  return 0;
}
