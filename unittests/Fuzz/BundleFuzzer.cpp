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
  std::string whole =
      writeBundle(Bundle()).substr(0, head) + "checksum" + bytes;
  uint64_t hash = getChecksum(bytes);
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
