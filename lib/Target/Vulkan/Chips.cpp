//===- Chips.cpp - Devices of Vulkan, by what they report -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chips are described by what devices report (../SPIRV/ReportedChip.cpp).
//
//===----------------------------------------------------------------------===//

#include "../../TargetInfo/Tables.h"
#include "TargetInfo/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tessera;

static const ReportedProfile vulkanProfiles[] = {
    // Mesa's lavapipe since 26.0, and before that: on the CPU, 8 lanes.
    {"lavapipe",
     "s8-w32768-t1024-n16-n32-n64-reduce-m8n8k8.f16.f16-m8n8k8.f32.f16-"
     "m8n8k8.u32.u8-m8n8k8.s32.s8"},
    {"lavapipe-simt", "s8-w32768-t1024-n16-n32-n64"},
    // H100 and H200.
    {"nvidia-hopper",
     "s32-w49152-t1024-n16-n32-n64-reduce-m16n16k16.f16.f16-m16n8k16.f16.f16-"
     "m16n8k8."
     "f16.f16-"
     "m16n16k16.f32.f16-m16n8k16.f32.f16-m16n8k8.f32.f16-m16n16k16.f32.bf16-"
     "m16n16k32.u32.u8-m16n8k32.u32.u8-m16n16k32.s32.s8-m16n8k32.s32.s8"},
};

static std::unique_ptr<Chip> parseVulkanChip(llvm::StringRef name,
                                             llvm::StringRef description) {
  std::unique_ptr<Chip> chip = parseReportedChip("vulkan", name, description);
  if (!chip)
    return nullptr;
  llvm::SmallVector<llvm::StringRef> fields;
  description.split(fields, '-');
  for (unsigned bits : {16, 32, 64})
    if (llvm::is_contained(fields, "n" + std::to_string(bits)))
      chip->keptNans.push_back(bits);
  chip->reducesMatrices = llvm::is_contained(fields, "reduce");
  return chip;
}

static void addVulkanChips(std::vector<Chip> &chips) {
  for (const ReportedProfile &profile : vulkanProfiles)
    chips.push_back(
        std::move(*parseVulkanChip(profile.name, profile.description)));
}

namespace mlir::tessera {
const TargetInfo &getVulkanTarget() {
  static const TargetInfo target = [] {
    TargetInfo target{"vulkan"};
    target.addChips = addVulkanChips;
    target.findDescribedChip = [](llvm::StringRef name) {
      return findReportedChip("vulkan", name, vulkanProfiles, parseVulkanChip);
    };
    target.getReportedDescription = [](llvm::StringRef name) {
      return getDescription(vulkanProfiles, name);
    };
    return target;
  }();
  return target;
}
} // namespace mlir::tessera
