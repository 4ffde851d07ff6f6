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
  const char *lavapipe = "s8-w32768-t1024-n16-n32-n64-reduce-m8n8k8.f16.f16-"
                         "m8n8k8.f32.f16-m8n8k8.u32.u8-m8n8k8.s32.s8";
  EXPECT_EQ(get("vulkan", lavapipe, "lavapipe"), lavapipe);
  EXPECT_EQ(get("vulkan", lavapipe, lavapipe), "");
  EXPECT_EQ(get("vulkan", lavapipe, "lavapipe-simt"), lavapipe);
}

/// The reason why a device does not run code.
std::string explain(const char *target, const char *code, const char *device,
                    bool isCubin = false) {
  return explainIncompatible(target, code, device, isCubin);
}

TEST(CompatibilityTest, KeepsNansWhereTheDeviceDoes) {
  const char *with = "s8-w32768-t1024-n32", *without = "s8-w32768-t1024";
  EXPECT_EQ(explain("vulkan", without, with), "");
  EXPECT_EQ(explain("vulkan", "s8-w32768-t1024-reduce", without),
            "the device lacks reductions and conversions of cooperative "
            "matrices");
  EXPECT_EQ(explain("vulkan", with, without),
            "the device lacks preservation of NaNs of f32");
}

TEST(CompatibilityTest, ProcessorsHaveTheVectorsOfTheCode) {
  const char *avx512 = "x86-64-avx512", *avx2 = "x86-64-avx2";
  EXPECT_EQ(explain("cpu", avx2, avx512), "");
  EXPECT_EQ(explain("cpu", "generic", avx2), "");
  EXPECT_EQ(explain("cpu", "emulate=sm_80", "generic"), "");
  EXPECT_EQ(explain("cpu", avx512, avx2), "the CPU lacks AVX-512");
  EXPECT_EQ(explain("cpu", avx512, "generic"), "the CPU lacks AVX-512");
  EXPECT_EQ(explain("cpu", avx2, "generic"), "the CPU lacks AVX2");
  const char *vnni = "x86-64-avx512-vnni";
  EXPECT_EQ(explain("cpu", avx512, vnni), "");
  EXPECT_EQ(explain("cpu", vnni, vnni), "");
  EXPECT_EQ(explain("cpu", vnni, avx512), "the CPU lacks AVX512_VNNI");
}

TEST(CompatibilityTest, DevicesOfSpirvHaveTheFeaturesOfTheCode) {
  const char *some = "s16-w65536-t1024-f16";
  EXPECT_EQ(explain("opencl", some, "s16-w65536-t1024-f16-f64-a32"), "");
  EXPECT_EQ(explain("opencl", "s16-w65536-t1024-f16-f64-a32", some),
            "the device lacks f64 arithmetic, atomic addition of f32");
  EXPECT_EQ(explain("level-zero", "s8-w65536-t1024-f16", some),
            "the device has subgroups of 16 lanes, but the code is for 8");
  EXPECT_EQ(explain("opencl", some, "s16-w65536-t512-f16"),
            "the device has 512 threads in a workgroup, but the code may use "
            "1024");
  // A launch checks its workgroup memory.
  EXPECT_EQ(explain("opencl", some, "s16-w32768-t1024-f16"), "");
  EXPECT_EQ(explain("level-zero", "pvc", "s16-w131072-t1024-f16-f64-a32-a64"),
            "the device lacks matmuls of dpas.m8n16k16.f32.f16, matmuls of "
            "dpas.m4n16k16.f32.f16, matmuls of dpas.m2n16k16.f32.f16 and 17 "
            "more");
  EXPECT_EQ(explain("vulkan", "nothing", some), "nothing is not a chip of "
                                                "vulkan");
}

TEST(CompatibilityTest, GpusOfOneVendor) {
  EXPECT_EQ(explain("cuda", "sm_80", "sm_90a"), "");
  EXPECT_EQ(explain("cuda", "sm_90a", "sm_80"), "the device is older");
  EXPECT_EQ(explain("cuda", "sm_90a", "sm_100"),
            "code for sm_90a runs on that chip only");
  EXPECT_EQ(explain("cuda", "sm_80", "sm_90a", /*isCubin=*/true),
            "machine code runs on its own generation only");
  EXPECT_EQ(explain("hip", "gfx90a", "gfx90a:sramecc+:xnack-"), "");
  EXPECT_EQ(explain("hip", "gfx942", "gfx90a"), "the device is another chip");
  EXPECT_EQ(explain("hip", "gfx90a:xnack+", "gfx90a:sramecc+:xnack-"),
            "the device has other settings of its features");
}

TEST(DeviceFeaturesTest, AreNoneWhereTheChipSaysAll) {
  EXPECT_EQ(get("cuda", "sm_90a", "sm_90a"), "");
  EXPECT_EQ(get("cuda", "sm_90a", "sm_80"), "");
  EXPECT_EQ(get("cpu", "x86-64-avx512", "x86-64-avx512"), "");
  EXPECT_EQ(get("cpu", "x86-64-avx512", "x86-64-avx2"), "");
}

} // namespace
