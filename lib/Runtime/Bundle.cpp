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
#include <map>
#include <set>
#include <utility>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// The last character is the version of the format.
static constexpr std::string_view bundleMagic = "\x7fTessera4";
static constexpr size_t checksumBytes = 8;

/// Where the contents of a constant are in the file.
struct Contents {
  std::string hash;
  int64_t offset = 0, size = 0, checksum = 0;
};

/// The contents of a constant that are those of another one, with permuted
/// dimensions.
struct TransposedContents {
  std::string hash;
  Transposition transposition;
  int64_t checksum = 0;
};

namespace tessera::runtime {

template <typename Archive>
void visit(Archive &archive, TransposedContents &contents) {
  auto &[hash, transposition, checksum] = contents;
  auto &[source, shape, permutation, elementBytes] = transposition;
  visitAll(archive, hash, source, shape, permutation, elementBytes, checksum);
}

template <typename Archive> void visit(Archive &archive, Contents &contents) {
  auto &[hash, offset, size, checksum] = contents;
  visitAll(archive, hash, offset, size, checksum);
}

template <typename Archive> void visit(Archive &archive, Slot &slot) {
  auto &[kind, element, shape, mayWrite, text, name, symbols, isUnsigned] =
      slot;
  int kindNumber = kind, elementNumber = static_cast<int>(element);
  visitAll(archive, kindNumber, elementNumber, shape, mayWrite, text, name,
           symbols, isUnsigned);
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
         entries, kernels, constants, loader] = variant;
  int kindNumber = imageKind;
  visitAll(archive, target, chip, host, kindNumber, image, functions, library,
           imports, entries, kernels, constants, loader);
  imageKind = static_cast<KernelImage::Kind>(kindNumber);
}

template <typename Archive> void visit(Archive &archive, Bundle &bundle) {
  auto &[producer, source, file, variants, constants] = bundle;
  visitAll(archive, producer, source, file, variants, constants);
}

} // namespace tessera::runtime

bool tessera::runtime::isBundle(std::string_view bytes) {
  return bytes.substr(0, bundleMagic.size() - 1) ==
         bundleMagic.substr(0, bundleMagic.size() - 1);
}

/// Calls `use` for each constant that has contents.
template <typename AnyBundle, typename Use>
static void forEachConstant(AnyBundle &bundle, Use use) {
  auto useAll = [&](auto &constants) {
    for (auto &constant : constants)
      if (!constant.hash.empty())
        use(constant);
  };
  useAll(bundle.constants);
  for (auto &variant : bundle.variants)
    useAll(variant.constants);
}

/// The constants that need no contents: those that are transpositions of
/// another one, at most one for each.
static std::vector<TransposedContents> listTransposed(const Bundle &bundle) {
  std::map<std::string_view, size_t> stored;
  forEachConstant(bundle, [&](const Constant &constant) {
    if (constant.transposition.source.empty())
      stored.emplace(constant.hash, constant.bytes.size());
  });
  std::vector<TransposedContents> transposed;
  std::set<std::string_view> known;
  forEachConstant(bundle, [&](const Constant &constant) {
    const Transposition &transposition = constant.transposition;
    auto source = stored.find(transposition.source);
    if (source == stored.end() || stored.count(constant.hash) ||
        source->second != constant.bytes.size() ||
        !canTranspose(transposition, constant.bytes.size()) ||
        !known.insert(constant.hash).second)
      return;
    transposed.push_back(
        {constant.hash, transposition,
         static_cast<int64_t>(getFastChecksum(constant.bytes))});
    stored.erase(source);
  });
  return transposed;
}

std::string tessera::runtime::writeBundle(const Bundle &bundle) {
  std::vector<Contents> list;
  std::vector<TransposedContents> transposed = listTransposed(bundle);
  std::vector<std::string_view> all;
  std::set<std::string_view> known;
  for (const TransposedContents &contents : transposed)
    known.insert(contents.hash);
  size_t end = 0;
  forEachConstant(bundle, [&](const Constant &constant) {
    if (!known.insert(constant.hash).second)
      return;
    end = alignContents(end);
    Contents &contents = list.emplace_back();
    contents.hash = constant.hash;
    contents.offset = static_cast<int64_t>(end);
    contents.size = static_cast<int64_t>(constant.bytes.size());
    contents.checksum = static_cast<int64_t>(getFastChecksum(constant.bytes));
    all.push_back(constant.bytes);
    end += constant.bytes.size();
  });
  Writer writer;
  // Visits take what they could fill in.
  Bundle copy = bundle;
  visit(writer, copy);
  visit(writer, transposed);
  visit(writer, list);
  auto size = static_cast<int64_t>(writer.bytes.size());
  std::string fields(reinterpret_cast<const char *>(&size), sizeof(size));
  fields += writer.bytes;
  uint64_t checksum = getChecksum(fields);
  size_t begin = bundleMagic.size() + checksumBytes + fields.size();
  if (end != 0)
    begin = alignContents(begin);
  std::string bytes;
  bytes.reserve(begin + end);
  bytes += bundleMagic;
  bytes.append(reinterpret_cast<const char *>(&checksum), sizeof(checksum));
  bytes += fields;
  for (size_t index = 0; index < all.size(); ++index) {
    bytes.resize(begin + static_cast<size_t>(list[index].offset));
    bytes += all[index];
  }
  return bytes;
}

static bool isSound(const std::vector<Slot> &slots) {
  return std::all_of(slots.begin(), slots.end(), [](const Slot &slot) {
    return slot.kind >= Slot::Scalar && slot.kind <= Slot::MemRef &&
           slot.element >= ElementType::F16 &&
           slot.element <= ElementType::Index &&
           (slot.isBuffer() || slot.shape.empty()) &&
           (slot.symbols.empty() || slot.symbols.size() == slot.shape.size()) &&
           std::all_of(slot.shape.begin(), slot.shape.end(),
                       [](int64_t size) { return size >= -1; });
  });
}

static bool isSound(const ProgramVariant &variant) {
  return std::all_of(
             variant.constants.begin(), variant.constants.end(),
             [](const Constant &constant) { return constant.size >= 0; }) &&
         variant.imageKind >= KernelImage::PTX &&
         variant.imageKind <= KernelImage::SPIRV &&
         std::all_of(variant.entries.begin(), variant.entries.end(),
                     [](const Signature &entry) {
                       return isSound(entry.arguments) &&
                              isSound(entry.results);
                     });
}

/// Whether padding is as it was written.
static bool isZero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

/// Finds the contents of all constants in `bytes`, which follow the fields.
/// Returns what is wrong with them; empty for nothing.
static std::string
findContents(Bundle &bundle, const std::vector<Contents> &list,
             const std::vector<TransposedContents> &transposed,
             std::string_view bytes, const std::shared_ptr<const void> &owner) {
  std::map<std::string, std::string_view> known;
  size_t end = 0;
  for (const Contents &contents : list) {
    size_t last = std::exchange(end, alignContents(end));
    // In order and without gaps, so that each byte belongs to one.
    if (contents.hash.empty() || contents.offset != static_cast<int64_t>(end) ||
        contents.size < 0 || end > bytes.size() ||
        static_cast<uint64_t>(contents.size) > bytes.size() - end)
      return "corrupt bundle: constants beyond its end";
    if (!isZero(bytes.substr(last, end - last)))
      return "corrupt bundle: bytes between its constants";
    std::string_view own =
        bytes.substr(end, static_cast<size_t>(contents.size));
    if (getFastChecksum(own) != static_cast<uint64_t>(contents.checksum))
      return "corrupt bundle: the contents of a constant are damaged";
    if (!known.emplace(contents.hash, own).second)
      return "corrupt bundle: a constant occurs twice";
    end += own.size();
  }
  if (end != bytes.size())
    return "corrupt bundle: bytes after its constants";
  // A source is used once, so that a bundle needs at most twice its size.
  std::map<std::string, std::string_view> sources = known;
  std::map<std::string, const TransposedContents *> made;
  std::map<std::string, std::shared_ptr<const std::string>> owners;
  for (const TransposedContents &contents : transposed) {
    auto source = sources.find(contents.transposition.source);
    if (contents.hash.empty() || source == sources.end() ||
        !canTranspose(contents.transposition, source->second.size()))
      return "corrupt bundle: a constant is transposed wrongly";
    auto own = std::make_shared<const std::string>(
        transpose(source->second, contents.transposition));
    sources.erase(source);
    if (getFastChecksum(*own) != static_cast<uint64_t>(contents.checksum))
      return "corrupt bundle: the contents of a constant are damaged";
    if (!known.emplace(contents.hash, *own).second)
      return "corrupt bundle: a constant occurs twice";
    made.emplace(contents.hash, &contents);
    owners.emplace(contents.hash, std::move(own));
  }
  bool isComplete = true;
  forEachConstant(bundle, [&](Constant &constant) {
    auto found = known.find(constant.hash);
    isComplete &= found != known.end() &&
                  static_cast<int64_t>(found->second.size()) == constant.size;
    if (!isComplete)
      return;
    constant.bytes = found->second;
    constant.owner = owner;
    if (auto own = made.find(constant.hash); own != made.end()) {
      constant.owner = owners[constant.hash];
      constant.transposition = own->second->transposition;
    }
  });
  return isComplete ? "" : "corrupt bundle: a constant has no contents";
}

Expected<Bundle>
tessera::runtime::readBundle(std::string_view bytes,
                             std::shared_ptr<const void> owner) {
  auto fail = [](const std::string &what) {
    return Status(StatusCode::InvalidArgument, what);
  };
  if (!isBundle(bytes))
    return fail("not a Tessera bundle");
  if (bytes.substr(0, bundleMagic.size()) != bundleMagic)
    return fail("the bundle was written by another version of Tessera in a "
                "different format; rebuild it");
  std::string_view whole = bytes;
  bytes.remove_prefix(bundleMagic.size());
  uint64_t checksum = 0, size = 0;
  bool hasHead = bytes.size() >= checksumBytes + sizeof(size);
  if (hasHead) {
    std::memcpy(&checksum, bytes.data(), checksumBytes);
    bytes.remove_prefix(checksumBytes);
    std::memcpy(&size, bytes.data(), sizeof(size));
    hasHead = size <= bytes.size() - sizeof(size);
  }
  if (!hasHead || checksum != getChecksum(bytes.substr(0, sizeof(size) + size)))
    return fail("corrupt or truncated bundle: checksum mismatch");
  bytes.remove_prefix(sizeof(size));
  Bundle bundle;
  std::vector<Contents> list;
  std::vector<TransposedContents> transposed;
  Reader reader(bytes.substr(0, size));
  visit(reader, bundle);
  visit(reader, transposed);
  visit(reader, list);
  if (!reader.isDone() ||
      !std::all_of(
          bundle.variants.begin(), bundle.variants.end(),
          [](const ProgramVariant &variant) { return isSound(variant); }))
    return fail("corrupt bundle: does not contain a program");
  size_t begin = bundleMagic.size() + checksumBytes + sizeof(size) + size;
  size_t last = begin;
  if (!list.empty())
    begin = alignContents(begin);
  if (begin > whole.size() || !isZero(whole.substr(last, begin - last)))
    return fail("corrupt or truncated bundle: constants beyond its end");
  if (!owner && !list.empty()) {
    auto copy = std::make_shared<std::string>(whole.substr(begin));
    whole = *copy;
    begin = 0;
    owner = std::move(copy);
  }
  std::string wrong =
      findContents(bundle, list, transposed, whole.substr(begin), owner);
  if (!wrong.empty())
    return fail(wrong);
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
