//===- TargetId.h - Target IDs of AMD code objects ----*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target ID names a processor and, of the features that its code depends on,
// those that are settled: "gfx90a:sramecc+:xnack-". Syntax and rules are those
// of LLVM's "User Guide for AMDGPU Backend", section "Target ID", and of
// Clang's "Offload Bundler", section "Compatibility Rules for Target ID".
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TARGETID_H
#define TESSERA_RUNTIME_TARGETID_H

#include <optional>
#include <string>
#include <vector>

namespace tessera::runtime {

struct TargetId {
  struct Feature {
    std::string name;
    bool isOn;
  };
  /// "gfx90a".
  std::string processor;
  /// Those that are not "any", in alphabetic order.
  std::vector<Feature> features;

  /// The canonical form: "gfx90a:sramecc+:xnack-".
  std::string str() const;
};

/// Absent for text that is not a target ID, or names a feature twice. Features
/// may be listed in any order.
std::optional<TargetId> parseTargetId(const std::string &text);

/// Whether code for `code` runs on a device that calls itself `device`: the
/// processor is the same, and the device has each feature that the code settles
/// set alike. A feature that the code does not name matches any setting.
bool runsOnTarget(const TargetId &code, const TargetId &device);

/// Why a device with the target ID `device` does not run code for `code`; see
/// `explainIncompatible` in CodeCompatibility.h.
std::string explainTargetIncompatible(const std::string &code,
                                      const std::string &device,
                                      bool isMachineCode = true);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_TARGETID_H
