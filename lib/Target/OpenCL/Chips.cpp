//===- Chips.cpp - Devices of OpenCL, by their reports --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As for Vulkan (../Vulkan/Chips.cpp), a device of OpenCL is described by a
// text of its reported properties, which is also the chip's name:
//
//     s16-w65536-t1024-f16-f64-a32-a64
//
// The lanes of a subgroup, and the maximal bytes of workgroup memory and
// threads of a workgroup; followed, in any order, by optional features of
// OpenCL (The OpenCL Specification, "Extensions"):
//
//     f16, f64   arithmetic in them              cl_khr_fp16, cl_khr_fp64
//     a32, a64   atomic sums of f32, of f64      cl_ext_float_atomics
//
//     dpas       Intel's matrix unit (../Intel/Chips.cpp), for subgroups of 8
//                or 16 lanes. Level Zero reports it (lib/Runtime/LevelZero);
//                OpenCL has no query for it
//
// and matmuls of cooperative matrices, in Vulkan's syntax: no device reports
// any, but kernels with them can be compiled for a device that is known to
// support them.
//
// A device without subgroups has "s1": each thread is a subgroup, and fragments
// belong to one thread. Threads then share data through workgroup memory only.
//
//===----------------------------------------------------------------------===//

#include "../../TargetInfo/Tables.h"
#include "../SPIRV/Schedules.h"
#include "TargetInfo/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tessera;

static const ReportedProfile openCLProfiles[] = {
    // A generic device: the minimum that GPUs with subgroups support.
    {"simt", "s16-w65536-t1024-f16-f64"},
    // The minimum that PoCL reports on any CPU; its workgroup memory depends on
    // the CPU's caches.
    {"pocl", "s1-w32768-t4096-f64-a32-a64"},
    // Mesa's rusticl on llvmpipe.
    {"rusticl", "s8-w32768-t1024-f16"},
};

static std::unique_ptr<Chip> parseOpenCLChip(llvm::StringRef name,
                                             llvm::StringRef description) {
  std::unique_ptr<Chip> chip = parseReportedChip("opencl", name, description);
  if (!chip)
    return nullptr;
  chip->hasF16 = chip->hasF64 = false;
  chip->hasAtomicF32 = chip->hasAtomicF64 = false;
  llvm::SmallVector<llvm::StringRef> fields;
  description.split(fields, '-');
  bool dpas = false;
  const std::pair<const char *, bool *> options[] = {
      {"dpas", &dpas},
      {"f16", &chip->hasF16},
      {"f64", &chip->hasF64},
      {"a32", &chip->hasAtomicF32},
      {"a64", &chip->hasAtomicF64},
  };
  for (llvm::StringRef field : llvm::ArrayRef(fields).drop_front(3)) {
    auto option = llvm::find_if(
        options, [&](const auto &known) { return field == known.first; });
    if (option != std::end(options))
      *option->second = true;
    else if (!field.starts_with("m"))
      return nullptr;
  }
  if (dpas) {
    if (chip->subgroupSize != 8 && chip->subgroupSize != 16)
      return nullptr;
    // The number of a smaller device (bmg).
    chip->processors = 20;
    addIntelMatrixUnit(*chip);
  }
  if (!chip->hasLanes())
    setLanelessSchedules(*chip);
  return chip;
}

static void addOpenCLChips(std::vector<Chip> &chips) {
  addIntelChips(chips);
  for (const ReportedProfile &profile : openCLProfiles)
    chips.push_back(
        std::move(*parseOpenCLChip(profile.name, profile.description)));
}

namespace mlir::tessera {
const TargetInfo &getOpenCLTarget() {
  static const TargetInfo target = [] {
    TargetInfo target{"opencl"};
    target.aliases = {"level-zero"};
    target.addChips = addOpenCLChips;
    target.findDescribedChip = [](llvm::StringRef name) {
      return findReportedChip("opencl", name, openCLProfiles, parseOpenCLChip);
    };
    target.getReportedDescription = [](llvm::StringRef name) {
      return getDescription(openCLProfiles, name);
    };
    return target;
  }();
  return target;
}
} // namespace mlir::tessera
