//===- BundleTest.cpp - Compiled programs in one file ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Bundle.h"

#include "Checksum.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace tessera::runtime;

static ProgramVariant makeVariant(const std::string &target,
                                  const std::string &chip,
                                  KernelImage::Kind kind) {
  ProgramVariant variant;
  variant.target = target;
  variant.chip = chip;
  variant.host = listDevices(nullptr, "cpu").back().chip;
  variant.imageKind = kind;
  variant.image = "code of " + chip;
  variant.library = "library";
  variant.imports = {"f", "g"};
  Signature entry;
  entry.name = "main";
  entry.arguments.resize(2);
  entry.arguments[0].kind = Slot::MemRef;
  entry.arguments[0].shape = {-1, 64};
  entry.arguments[0].element = ElementType::BF16;
  entry.arguments[0].mayWrite = true;
  entry.arguments[0].text = "memref<?x64xbf16>";
  entry.results.resize(1);
  variant.entries = {entry};
  variant.kernels = {{"k",
                      "#schedule",
                      "tuned",
                      {{"16x16x16", "mma", true, "a:1:2", 14, 128}}}};
  return variant;
}

static Bundle makeBundle() {
  Bundle bundle;
  bundle.producer = "test";
  bundle.source = "module {}";
  bundle.file = "a.mlir";
  bundle.variants = {makeVariant("cuda", "sm_80", KernelImage::PTX),
                     makeVariant("cuda", "sm_90a", KernelImage::Cubin),
                     makeVariant("hip", "gfx90a", KernelImage::HSACO),
                     makeVariant("hip", "gfx90a:xnack-", KernelImage::HSACO)};
  return bundle;
}

TEST(Bundle, IsReadAsItWasWritten) {
  std::string bytes = writeBundle(makeBundle());
  EXPECT_TRUE(isBundle(bytes));
  auto read = readBundle(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(writeBundle(*read), bytes);
  ASSERT_EQ(read->variants.size(), 4u);
  const ProgramVariant &variant = read->variants[1];
  EXPECT_EQ(variant.chip, "sm_90a");
  EXPECT_EQ(variant.imageKind, KernelImage::Cubin);
  const Slot &slot = variant.entries.at(0).arguments.at(0);
  EXPECT_EQ(slot.shape, (std::vector<int64_t>{-1, 64}));
  EXPECT_EQ(slot.element, ElementType::BF16);
  EXPECT_TRUE(slot.mayWrite);
  EXPECT_EQ(variant.kernels.at(0).matmuls.at(0).instruction, "mma");
  EXPECT_TRUE(variant.kernels.at(0).matmuls.at(0).matrixUnit);
  EXPECT_EQ(variant.kernels.at(0).matmuls.at(0).unitBits, 14);
  EXPECT_EQ(variant.kernels.at(0).matmuls.at(0).unitLength, 128);
}

TEST(Bundle, EveryDamagedByteIsFound) {
  const std::string bytes = writeBundle(makeBundle());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    auto read = readBundle(damaged);
    ASSERT_FALSE(read.ok()) << "byte " << at;
    EXPECT_EQ(read.status().code(), StatusCode::InvalidArgument);
  }
}

TEST(Bundle, EveryCutIsFound) {
  const std::string bytes = writeBundle(makeBundle());
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(readBundle(std::string_view(bytes).substr(0, size)).ok())
        << size;
  EXPECT_FALSE(readBundle(bytes + "x").ok());
}

/// A constant of these contents.
static Constant makeConstant(const std::string &hash, std::string contents) {
  auto owner = std::make_shared<std::string>(std::move(contents));
  Constant constant;
  constant.hash = hash;
  constant.size = static_cast<int64_t>(owner->size());
  constant.bytes = *owner;
  constant.owner = owner;
  return constant;
}

/// Two constants, of which both variants and the source use one.
static Bundle makeBundleWithConstants() {
  Bundle bundle = makeBundle();
  Constant first = makeConstant("first", std::string(300, 'a')),
           second = makeConstant("second", "bcd");
  Constant computed;
  computed.size = 16;
  bundle.variants[0].constants = {first, computed, second};
  bundle.variants[1].constants = {second, first};
  bundle.variants[0].loader = "load";
  bundle.constants = {first};
  return bundle;
}

TEST(Bundle, HoldsConstantsOnce) {
  std::string bytes = writeBundle(makeBundleWithConstants());
  std::string contents(300, 'a');
  size_t at = bytes.find(contents);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(at % 256, 0u);
  EXPECT_EQ(bytes.find(contents, at + 1), std::string::npos);
  auto read = readBundle(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(writeBundle(*read), bytes);
  const ProgramVariant &variant = read->variants[0];
  EXPECT_EQ(variant.loader, "load");
  ASSERT_EQ(variant.constants.size(), 3u);
  EXPECT_EQ(variant.constants[0].bytes, contents);
  EXPECT_EQ(variant.constants[1].size, 16);
  EXPECT_TRUE(variant.constants[1].bytes.empty());
  EXPECT_EQ(variant.constants[2].bytes, "bcd");
  EXPECT_EQ(read->variants[1].constants[0].bytes, "bcd");
  EXPECT_EQ(read->constants[0].bytes, contents);
  // They are copied, unless something else keeps them.
  auto isWithin = [](const std::string &whole, std::string_view part) {
    return part.data() >= whole.data() &&
           part.data() < whole.data() + whole.size();
  };
  EXPECT_FALSE(isWithin(bytes, variant.constants[0].bytes));
  auto owner = std::make_shared<std::string>(bytes);
  auto mapped = readBundle(*owner, owner);
  ASSERT_TRUE(mapped.ok());
  EXPECT_TRUE(isWithin(*owner, mapped->variants[0].constants[0].bytes));
}

/// A constant of 2x3x100 bytes, and one with its dimensions in the order 2 0 1.
static Bundle makeBundleWithTransposed() {
  Bundle bundle = makeBundle();
  std::string contents, other;
  for (int i = 0; i < 600; ++i)
    contents += static_cast<char>(i * 7 % 251);
  for (size_t i = 0; i < 600; ++i)
    other += contents[i % 6 * 100 + i / 6];
  Constant source = makeConstant("source", contents),
           moved = makeConstant("moved", other);
  moved.transposition = {"source", {2, 3, 100}, {2, 0, 1}, 1};
  bundle.variants[0].constants = {moved};
  bundle.variants[1].constants = {moved, source};
  bundle.constants = {source};
  return bundle;
}

TEST(Bundle, DoesNotHoldTransposedConstants) {
  Bundle bundle = makeBundleWithTransposed();
  std::string other(bundle.variants[0].constants[0].bytes);
  std::string bytes = writeBundle(bundle);
  EXPECT_EQ(bytes.find(other), std::string::npos);
  auto owner = std::make_shared<std::string>(bytes);
  for (bool isMapped : {false, true}) {
    auto read = readBundle(*owner, isMapped ? owner : nullptr);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->variants[0].constants.at(0).bytes, other);
    EXPECT_EQ(read->variants[1].constants.at(0).bytes, other);
    EXPECT_EQ(read->variants[1].constants.at(1).bytes,
              read->constants.at(0).bytes);
    EXPECT_EQ(writeBundle(*read), bytes);
  }
  // A second form of the same source is stored.
  Constant again =
      makeConstant("again", std::string(other.rbegin(), other.rend()));
  again.transposition = {"source", {600}, {0}, 1};
  bundle.variants[0].constants.push_back(again);
  auto read = readBundle(writeBundle(bundle));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->variants[0].constants.at(1).bytes, again.bytes);
}

TEST(Bundle, EveryDamagedByteWithTransposedConstantsIsFound) {
  const std::string bytes = writeBundle(makeBundleWithTransposed());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    ASSERT_FALSE(readBundle(damaged).ok()) << "byte " << at;
  }
}

TEST(Bundle, WrongTranspositionsAreRejected) {
  const std::string bytes = writeBundle(makeBundleWithTransposed());
  // The right checksum of the fields, but other numbers among them.
  constexpr size_t fields = 25;
  uint64_t size = 0;
  std::memcpy(&size, &bytes[17], sizeof(size));
  size_t begin = bytes.find("source", bytes.find("moved", fields + size - 250));
  for (size_t at = begin + 6; at + 8 <= begin + 6 + 10 * 8; at += 8)
    for (int64_t value : {int64_t(-1), INT64_MIN, INT64_MAX, int64_t(1) << 40,
                          int64_t(0), int64_t(4)}) {
      std::string changed = bytes;
      std::memcpy(&changed[at], &value, sizeof(value));
      if (changed == bytes)
        continue;
      uint64_t hash =
          getChecksum(std::string_view(changed).substr(17, 8 + size));
      std::memcpy(&changed[9], &hash, sizeof(hash));
      auto read = readBundle(changed);
      ASSERT_FALSE(read.ok()) << at - begin << ": " << value;
      EXPECT_EQ(read.status().message().find("checksum"), std::string::npos)
          << read.status().message();
    }
}

TEST(Bundle, EveryDamagedByteWithConstantsIsFound) {
  const std::string bytes = writeBundle(makeBundleWithConstants());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    ASSERT_FALSE(readBundle(damaged).ok()) << "byte " << at;
  }
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(readBundle(std::string_view(bytes).substr(0, size)).ok())
        << size;
  EXPECT_FALSE(readBundle(bytes + "x").ok());
}

TEST(Bundle, ConstantsBeyondItsEndAreRejected) {
  // Right checksums, but other numbers in the list of contents, which is the
  // end of the fields.
  const std::string bytes = writeBundle(makeBundleWithConstants());
  constexpr size_t fields = 25;
  uint64_t size = 0;
  std::memcpy(&size, &bytes[17], sizeof(size));
  // For each: size and text of the hash, then offset, size and checksum.
  size_t second = fields + size - (8 + 6 + 3 * 8);
  for (size_t at : {second + 8 + 6, second + 8 + 6 + 8})
    for (int64_t value :
         {int64_t(-1), INT64_MIN, INT64_MAX, int64_t(1) << 40, int64_t(0)}) {
      std::string changed = bytes;
      std::memcpy(&changed[at], &value, sizeof(value));
      uint64_t hash =
          getChecksum(std::string_view(changed).substr(17, 8 + size));
      std::memcpy(&changed[9], &hash, sizeof(hash));
      auto read = readBundle(changed);
      ASSERT_FALSE(read.ok()) << value;
      EXPECT_EQ(read.status().message().find("checksum"), std::string::npos)
          << read.status().message();
    }
}

TEST(Bundle, ConstantsWithoutContentsAreRejected) {
  Bundle bundle = makeBundleWithConstants();
  bundle.variants[1].constants[1].size = 299;
  auto read = readBundle(writeBundle(bundle));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().message(),
            "corrupt bundle: a constant has no contents");
}

TEST(Bundle, UnknownKindsAreRejected) {
  // Numbers of more bits than those of the kinds.
  constexpr int unknown = 217972739;
  Bundle image = makeBundle(), slot = makeBundle();
  image.variants[0].imageKind = static_cast<KernelImage::Kind>(unknown);
  slot.variants[1].entries[0].results[0].kind =
      static_cast<Slot::Kind>(unknown);
  for (const Bundle &bundle : {image, slot}) {
    auto read = readBundle(writeBundle(bundle));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.status().message(),
              "corrupt bundle: does not contain a program");
  }
}

TEST(Bundle, AnotherFormatIsNamed) {
  std::string bytes = writeBundle(makeBundle());
  ++bytes[8];
  auto read = readBundle(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("another version"), std::string::npos);
  EXPECT_FALSE(isBundle("module {}"));
}

/// The chip of the variant that a device gets.
static std::string select(const Bundle &bundle, const char *target,
                          const char *chip, const char *targetId = "") {
  DeviceInfo device;
  device.target = target;
  device.chip = chip;
  device.targetId = targetId;
  device.name = "the device";
  auto variant = selectVariant(bundle, device);
  return variant.ok() ? (*variant)->chip : variant.status().message();
}

TEST(Bundle, TheBestVariantIsSelected) {
  Bundle bundle = makeBundle();
  EXPECT_EQ(select(bundle, "cuda", "sm_90a"), "sm_90a");
  EXPECT_EQ(select(bundle, "cuda", "sm_80"), "sm_80");
  // PTX runs on later chips, and code for sm_90a on no other.
  EXPECT_EQ(select(bundle, "cuda", "sm_89"), "sm_80");
  EXPECT_EQ(select(bundle, "cuda", "sm_100a"), "sm_80");
  EXPECT_EQ(select(bundle, "cuda", "sm_75"),
            "the bundle does not contain code for cuda:sm_75 (the device); it "
            "contains cuda:sm_80 (the device is older), cuda:sm_90a (the "
            "device is older), hip:gfx90a, hip:gfx90a:xnack-");
  // The one that settles more.
  EXPECT_EQ(select(bundle, "hip", "gfx90a", "gfx90a:sramecc+:xnack-"),
            "gfx90a:xnack-");
  EXPECT_EQ(select(bundle, "hip", "gfx90a", "gfx90a:sramecc+:xnack+"),
            "gfx90a");
  EXPECT_NE(
      select(bundle, "vulkan", "s32").find("not contain code for vulkan:s32"),
      std::string::npos);
  // Machine code does not run on later generations.
  bundle.variants[0].imageKind = KernelImage::Cubin;
  EXPECT_EQ(select(bundle, "cuda", "sm_86"), "sm_80");
  EXPECT_NE(select(bundle, "cuda", "sm_100a").find("not contain code"),
            std::string::npos);
}

TEST(Bundle, ProductsOfADeviceHaveNoOrder) {
  Bundle bundle;
  bundle.variants = {makeVariant(
      "vulkan", "s8-w32-t64-m8n8k8.f32.f16-m8n8k8.s32.s8", KernelImage::SPIRV)};
  EXPECT_EQ(select(bundle, "vulkan", "s8-w32-t64-m8n8k8.s32.s8-m8n8k8.f32.f16"),
            bundle.variants[0].chip);
  EXPECT_NE(select(bundle, "vulkan", "s8-w32-t64-m8n8k8.s32.s8")
                .find("not contain code"),
            std::string::npos);
}

TEST(Bundle, ADeviceMayHaveMoreThanTheCodeUses) {
  Bundle bundle;
  auto add = [&](const char *chip) {
    bundle.variants.push_back(makeVariant("vulkan", chip, KernelImage::SPIRV));
  };
  add("s8-w32-t64");
  add("s8-w32-t64-n32-m8n8k8.f32.f16");
  add("s8-w32-t64-n32");
  EXPECT_EQ(select(bundle, "vulkan", "s8-w64-t128-n16-n32-m8n8k8.f32.f16"),
            "s8-w32-t64-n32-m8n8k8.f32.f16");
  EXPECT_EQ(select(bundle, "vulkan", "s8-w32-t64-n16-n32"), "s8-w32-t64-n32");
  EXPECT_EQ(select(bundle, "vulkan", "s8-w32-t64-m8n8k8.f32.f16"),
            "s8-w32-t64");
  // Less memory, fewer threads, other subgroups.
  for (const char *chip : {"s8-w16-t64", "s8-w32-t32", "s16-w32-t64"})
    EXPECT_NE(select(bundle, "vulkan", chip).find("not contain code"),
              std::string::npos);
}

TEST(Bundle, CodeForAnotherProcessorIsRejected) {
  Bundle bundle;
  bundle.variants = {makeVariant("cuda", "sm_80", KernelImage::PTX)};
  bundle.variants[0].host = "riscv64";
  EXPECT_EQ(select(bundle, "cuda", "sm_80"),
            "the bundle does not contain code for cuda:sm_80 (the device); it "
            "contains cuda:sm_80 (its host code is for riscv64: the CPU is of "
            "another architecture)");
}

TEST(Bundle, CodeForAProcessorWithMoreIsRejected) {
  Bundle bundle;
  bundle.variants = {
      makeVariant("cpu", "x86-64-avx512", KernelImage::HostFunctions)};
  EXPECT_EQ(select(bundle, "cpu", "x86-64-avx512"), "x86-64-avx512");
  EXPECT_EQ(select(bundle, "cpu", "x86-64-avx2"),
            "the bundle does not contain code for cpu:x86-64-avx2 (the "
            "device); it contains cpu:x86-64-avx512 (the CPU lacks AVX-512)");
  // Code for less is there too.
  bundle.variants.push_back(
      makeVariant("cpu", "x86-64", KernelImage::HostFunctions));
  EXPECT_EQ(select(bundle, "cpu", "x86-64-avx2"), "x86-64");
  EXPECT_EQ(select(bundle, "cpu", "x86-64-avx512"), "x86-64-avx512");
}

TEST(Bundle, CodeForADeviceOfSpirvWithMoreIsRejected) {
  Bundle bundle;
  bundle.variants = {
      makeVariant("opencl", "s16-w65536-t1024-f16-f64", KernelImage::SPIRV),
      makeVariant("opencl", "s8-w65536-t1024", KernelImage::SPIRV),
      makeVariant("opencl", "pvc", KernelImage::SPIRV)};
  EXPECT_EQ(select(bundle, "opencl", "s16-w65536-t1024-f16"),
            "the bundle does not contain code for "
            "opencl:s16-w65536-t1024-f16 (the device); it contains "
            "opencl:s16-w65536-t1024-f16-f64 (the device lacks f64 "
            "arithmetic), opencl:s8-w65536-t1024 (the device has subgroups of "
            "16 lanes, but the code is for 8), opencl:pvc (the device is not "
            "one of that family)");
}
