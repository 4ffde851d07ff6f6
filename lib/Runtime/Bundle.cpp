//===- Bundle.cpp - Compiled programs in one file -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Bundle.h"

#include "Backend.h"
#include "Checksum.h"
#include "Runtime/CodeCompatibility.h"
#include "Runtime/Serialize.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// The last character is the version of the format.
static constexpr std::string_view bundleMagic = "\x7fTessera2";
static constexpr size_t checksumBytes = 8;

namespace tessera::runtime {

template <typename Archive> void visit(Archive &archive, Slot &slot) {
  auto &[kind, element, shape, mayWrite, text] = slot;
  int kindNumber = kind, elementNumber = static_cast<int>(element);
  visitAll(archive, kindNumber, elementNumber, shape, mayWrite, text);
  // Numbers that stand for nothing are found by `isSound`.
  kind = static_cast<Slot::Kind>(kindNumber);
  element = static_cast<ElementType>(elementNumber);
}

template <typename Archive> void visit(Archive &archive, Signature &signature) {
  auto &[name, arguments, results] = signature;
  visitAll(archive, name, arguments, results);
}

template <typename Archive> void visit(Archive &archive, MatmulRecord &record) {
  auto &[types, instruction, matrixUnit, location, unitBits, unitLength] =
      record;
  visitAll(archive, types, instruction, matrixUnit, location, unitBits,
           unitLength);
}

template <typename Archive> void visit(Archive &archive, KernelRecord &record) {
  auto &[name, schedule, scheduleOrigin, matmuls] = record;
  visitAll(archive, name, schedule, scheduleOrigin, matmuls);
}

template <typename Archive>
void visit(Archive &archive, ProgramVariant &variant) {
  auto &[target, chip, host, imageKind, image, functions, library, imports,
         entries, kernels] = variant;
  int kindNumber = imageKind;
  visitAll(archive, target, chip, host, kindNumber, image, functions, library,
           imports, entries, kernels);
  imageKind = static_cast<KernelImage::Kind>(kindNumber);
}

template <typename Archive> void visit(Archive &archive, Bundle &bundle) {
  auto &[producer, source, file, variants] = bundle;
  visitAll(archive, producer, source, file, variants);
}

} // namespace tessera::runtime

bool tessera::runtime::isBundle(std::string_view bytes) {
  return bytes.substr(0, bundleMagic.size() - 1) ==
         bundleMagic.substr(0, bundleMagic.size() - 1);
}

std::string tessera::runtime::writeBundle(const Bundle &bundle) {
  Writer writer;
  // Visits take what they could fill in.
  Bundle copy = bundle;
  visit(writer, copy);
  uint64_t checksum = getChecksum(writer.bytes);
  std::string bytes(bundleMagic);
  bytes.append(reinterpret_cast<const char *>(&checksum), sizeof(checksum));
  return bytes + writer.bytes;
}

static bool isSound(const std::vector<Slot> &slots) {
  return std::all_of(slots.begin(), slots.end(), [](const Slot &slot) {
    return slot.kind >= Slot::Scalar && slot.kind <= Slot::MemRef &&
           slot.element >= ElementType::F16 &&
           slot.element <= ElementType::Index &&
           (slot.isBuffer() || slot.shape.empty()) &&
           std::all_of(slot.shape.begin(), slot.shape.end(),
                       [](int64_t size) { return size >= -1; });
  });
}

static bool isSound(const ProgramVariant &variant) {
  return variant.imageKind >= KernelImage::PTX &&
         variant.imageKind <= KernelImage::SPIRV &&
         std::all_of(variant.entries.begin(), variant.entries.end(),
                     [](const Signature &entry) {
                       return isSound(entry.arguments) &&
                              isSound(entry.results);
                     });
}

Expected<Bundle> tessera::runtime::readBundle(std::string_view bytes) {
  auto fail = [](const std::string &what) {
    return Status(StatusCode::InvalidArgument, what);
  };
  if (!isBundle(bytes))
    return fail("not a Tessera bundle");
  if (bytes.substr(0, bundleMagic.size()) != bundleMagic)
    return fail("the bundle was written by another version of Tessera in a "
                "different format; rebuild it");
  bytes.remove_prefix(bundleMagic.size());
  uint64_t checksum = 0;
  if (bytes.size() >= checksumBytes)
    std::memcpy(&checksum, bytes.data(), checksumBytes);
  bytes.remove_prefix(std::min(checksumBytes, bytes.size()));
  if (checksum != getChecksum(bytes))
    return fail("corrupt or truncated bundle: checksum mismatch");
  Bundle bundle;
  Reader reader(bytes);
  visit(reader, bundle);
  if (!reader.isDone() ||
      !std::all_of(
          bundle.variants.begin(), bundle.variants.end(),
          [](const ProgramVariant &variant) { return isSound(variant); }))
    return fail("corrupt bundle: does not contain a program");
  return bundle;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

int tessera::runtime::rateReportedFit(const ProgramVariant &variant,
                                      const DeviceInfo &device) {
  // Code for a family uses features that no field reports.
  if (!device.family.empty() && variant.chip == device.family)
    return std::numeric_limits<int>::max();
  auto fields = std::count(variant.chip.begin(), variant.chip.end(), '-') + 1;
  return static_cast<int>(fields) + (variant.chip == device.chip);
}

/// Why a device of the variant's target does not run it; empty if it does.
static std::string explainUnfit(const ProgramVariant &variant,
                                const DeviceInfo &device) {
  if (!device.family.empty() && variant.chip == device.family)
    return "";
  return explainIncompatible(
      device.target, variant.chip,
      device.targetId.empty() ? device.chip : device.targetId,
      /*isMachineCode=*/variant.imageKind == KernelImage::Cubin);
}

/// The processor of this host, in the form of `ProgramVariant::host`.
static const std::string &getProcessor() {
  static const std::string processor = listDevices(nullptr, "cpu").back().chip;
  return processor;
}

Expected<const ProgramVariant *>
tessera::runtime::selectVariant(const Bundle &bundle,
                                const DeviceInfo &device) {
  const ProgramVariant *best = nullptr;
  int bestFit = 0;
  std::string held;
  const RuntimeBackend *backend = findRuntimeBackend(device.target);
  for (const ProgramVariant &variant : bundle.variants) {
    held += (held.empty() ? "" : ", ") + variant.target + ":" + variant.chip;
    if (!backend || variant.target != device.target)
      continue;
    std::string why = explainUnfit(variant, device);
    if (why.empty()) {
      why = explainIncompatible("cpu", variant.host, getProcessor(),
                                /*isMachineCode=*/true);
      if (!why.empty())
        why = "its host code is for " + variant.host + ": " + why;
    }
    if (!why.empty()) {
      held += " (" + why + ")";
      continue;
    }
    int fit = backend->rateFit(variant, device);
    if (best && fit <= bestFit)
      continue;
    best = &variant;
    bestFit = fit;
  }
  if (best)
    return best;
  return Status(StatusCode::InvalidArgument,
                "the bundle does not contain code for " + device.target + ":" +
                    (device.targetId.empty() ? device.chip : device.targetId) +
                    " (" + device.name + "); it contains " +
                    (held.empty() ? "nothing" : held));
}
