//===- SpirvProfile.h - Requirements of SPIR-V code -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_SPIRVPROFILE_H
#define TESSERA_LIB_RUNTIME_SPIRVPROFILE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::runtime {

/// The limits and features that a device of SPIR-V has or that code requires,
/// as devices report them: "s16-w65536-t1024-f16-f64"
/// (lib/Target/SPIRV/ReportedChip.cpp).
struct SpirvProfile {
  int64_t lanes = 0, workgroupBytes = 0, threads = 0;
  /// "f64", "n32", "m16n16k16.f32.f16", in any order.
  std::vector<std::string> features;

  /// Absent for text that is not a report.
  static std::optional<SpirvProfile> parse(const std::string &chip);
  bool has(const std::string &feature) const;
};

/// Describes a feature in messages: "f64 arithmetic", for "f64".
std::string describeSpirvFeature(const std::string &feature);

/// The rule of `RuntimeBackend::explainIncompatible`: subgroups have the same
/// number of lanes, workgroup memory and threads suffice, and the device has
/// all features.
std::string explainReportedIncompatible(const std::string &code,
                                        const std::string &device,
                                        bool isMachineCode);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_SPIRVPROFILE_H
