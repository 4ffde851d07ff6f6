//===- CudaChip.cpp - Which code runs on which NVIDIA chip ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/CudaChip.h"

using namespace tessera::runtime;

std::optional<CudaChip> CudaChip::parse(const std::string &name) {
  constexpr size_t prefix = 3, mostDigits = 4;
  if (name.compare(0, prefix, "sm_") != 0)
    return std::nullopt;
  CudaChip chip;
  std::string digits = name.substr(prefix);
  if (!digits.empty() && digits.back() == 'a') {
    chip.isSpecific = true;
    digits.pop_back();
  }
  if (digits.empty() || digits.size() > mostDigits ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  chip.level = std::stoi(digits);
  return chip;
}

bool tessera::runtime::runsOnCudaChip(const CudaChip &code,
                                      const CudaChip &device, bool isCubin) {
  if (code.isSpecific)
    return code.level == device.level;
  return code.level <= device.level &&
         (!isCubin || code.level / 10 == device.level / 10);
}
