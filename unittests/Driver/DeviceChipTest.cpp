//===- DeviceChipTest.cpp - Chips of devices ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/DeviceChip.h"
#include "FakeHip.h"
#include "HIP/HipDevice.h"

using namespace mlir::tessera;

namespace {

/// The features that a device reporting `reported` has in addition to `chip`.
std::string get(const char *target, const char *reported, const char *chip) {
  runtime::DeviceInfo device;
  device.target = target;
  device.chip = reported;
  return getFeatures(device, chip);
}

TEST(DeviceFeaturesTest, AreTheTargetIdOfHip) {
  runtime::FakeHip state;
  runtime::fake = &state;
  runtime::HipDriver driver = runtime::makeFakeDriver();
  auto list = [&](const char *id, const char *chip) {
    state.targetId = id;
    std::vector<runtime::DeviceInfo> devices;
    EXPECT_EQ(listHipDevices(driver, devices), "");
    return getFeatures(devices.at(0), chip);
  };
  EXPECT_EQ(list("gfx90a:sramecc+:xnack-", "gfx90a"), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(list("gfx90a:sramecc+:xnack+", "gfx90a"), "gfx90a:sramecc+:xnack+");
  EXPECT_EQ(list("gfx1100", "gfx1100"), "");
  runtime::fake = nullptr;
}

TEST(DeviceFeaturesTest, AreWhatADeviceReports) {
  const char *pvc = "s16-w131072-t1024-f16-f64-a32-a64-dpas";
  EXPECT_EQ(get("level-zero", pvc, "pvc"), pvc);
  EXPECT_EQ(get("opencl", pvc, "pvc"), pvc);
  // By which a chip of no name is known.
  EXPECT_EQ(get("opencl", "s8-w32768-t1024-f64", "s8-w32768-t1024-f64"), "");
  const char *lavapipe = "s8-w32768-t1024-n16-n32-n64-m8n8k8.f16.f16-"
                         "m8n8k8.f32.f16-m8n8k8.u32.u8-m8n8k8.s32.s8";
  EXPECT_EQ(get("vulkan", lavapipe, "lavapipe"), lavapipe);
  EXPECT_EQ(get("vulkan", lavapipe, lavapipe), "");
  EXPECT_EQ(get("vulkan", lavapipe, "lavapipe-simt"), lavapipe);
}

TEST(RunsOnTest, KeepsNansWhereTheDeviceDoes) {
  const char *with = "s8-w32768-t1024-n32", *without = "s8-w32768-t1024";
  EXPECT_TRUE(runsOn("vulkan", without, with, /*isCubin=*/false));
  EXPECT_FALSE(runsOn("vulkan", with, without, /*isCubin=*/false));
}

TEST(DeviceFeaturesTest, AreNoneWhereTheChipSaysAll) {
  EXPECT_EQ(get("cuda", "sm_90a", "sm_90a"), "");
  EXPECT_EQ(get("cuda", "sm_90a", "sm_80"), "");
  EXPECT_EQ(get("cpu", "x86-64-avx512", "x86-64-avx512"), "");
  EXPECT_EQ(get("cpu", "x86-64-avx512", "x86-64-avx2"), "");
}

} // namespace
