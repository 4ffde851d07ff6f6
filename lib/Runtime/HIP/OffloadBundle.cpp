//===- OffloadBundle.cpp - Code objects of several chips in one -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/OffloadBundle.h"

#include "../Format.h"
#include "Runtime/TargetId.h"

#include <algorithm>
#include <cstdint>

using namespace tessera::runtime;

static constexpr std::string_view offloadMagic = "__CLANG_OFFLOAD_BUNDLE__";
static constexpr std::string_view compressedMagic = "CCOB";
/// The triple with its empty environment; the kind for code objects from ABI
/// version 4 on.
static constexpr std::string_view entryPrefix = "hipv4-amdgcn-amd-amdhsa--";
static constexpr std::string_view hostEntry = "host-x86_64-unknown-linux-gnu-";
static constexpr size_t codeAlignment = 4096;

static Status invalidBundle(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

static bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool tessera::runtime::isOffloadBundle(std::string_view bytes) {
  return startsWith(bytes, offloadMagic) || startsWith(bytes, compressedMagic);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void appendNumber(std::string &bytes, uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8)
    bytes += static_cast<char>(number >> shift & 0xFF);
}

/// `InvalidArgument` where a device could run both and neither is the better.
static Status checkPair(const TargetId &left, const TargetId &right) {
  if (left.processor != right.processor)
    return Status::success();
  auto names = [](const TargetId &id) {
    std::vector<std::string> result;
    for (const TargetId::Feature &feature : id.features)
      result.push_back(feature.name);
    return result;
  };
  if (left.str() == right.str())
    return invalidBundle("a bundle contains one code object per target, but " +
                         left.str() + " appears twice");
  if (names(left) != names(right))
    return invalidBundle(
        "a bundle's targets " + left.str() + " and " + right.str() +
        " set different features; set the same features in both");
  return Status::success();
}

Expected<std::string>
tessera::runtime::writeOffloadBundle(const std::vector<BundleEntry> &entries) {
  std::vector<TargetId> targets;
  std::vector<std::string> ids = {std::string(hostEntry)};
  for (const BundleEntry &entry : entries) {
    std::optional<TargetId> target = parseTargetId(entry.target);
    if (!target)
      return invalidBundle(
          "'" + entry.target +
          "' is not a valid AMD target ID (expected e.g. gfx90a or "
          "gfx90a:xnack-)");
    for (const TargetId &other : targets)
      if (Status status = checkPair(other, *target); !status.ok())
        return status;
    ids.push_back(std::string(entryPrefix) + target->str());
    targets.push_back(std::move(*target));
  }

  auto align = [](size_t offset) {
    return (offset + codeAlignment - 1) / codeAlignment * codeAlignment;
  };
  size_t headerBytes = offloadMagic.size() + 8;
  for (const std::string &id : ids)
    headerBytes += 24 + id.size();
  std::string bytes(offloadMagic);
  appendNumber(bytes, ids.size());
  size_t offset = align(headerBytes);
  std::vector<size_t> offsets;
  for (size_t index = 0; index < ids.size(); ++index) {
    size_t size = index == 0 ? 0 : entries[index - 1].code.size();
    appendNumber(bytes, offset);
    appendNumber(bytes, size);
    appendNumber(bytes, ids[index].size());
    bytes += ids[index];
    offsets.push_back(offset);
    offset = align(offset + size);
  }
  for (size_t index = 0; index < entries.size(); ++index) {
    bytes.resize(offsets[index + 1]);
    bytes += entries[index].code;
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Takes numbers and text from the beginning of bytes.
class Cursor {
public:
  explicit Cursor(std::string_view bytes) : rest(bytes) {}

  bool take(uint64_t &number) {
    std::string_view bytes;
    if (!take(8, bytes))
      return false;
    number = 0;
    for (int index = 7; index >= 0; --index)
      number = number << 8 | static_cast<uint8_t>(bytes[index]);
    return true;
  }
  bool take(uint64_t count, std::string_view &bytes) {
    if (count > rest.size())
      return false;
    bytes = rest.substr(0, count);
    rest.remove_prefix(count);
    return true;
  }

private:
  std::string_view rest;
};
} // namespace

/// The target of an entry of HIP's kinds, with the triple's environment or
/// without; else the whole ID.
static std::string getTarget(std::string_view id) {
  for (std::string_view kind : {"hipv4-", "hip-"}) {
    if (!startsWith(id, kind))
      continue;
    std::string_view rest = id.substr(kind.size());
    size_t offset = rest.find("-gfx");
    if (startsWith(rest, "amdgcn-amd-amdhsa-") &&
        offset != std::string_view::npos)
      return std::string(rest.substr(offset + 1));
  }
  return std::string(id);
}

Expected<std::vector<BundleEntry>>
tessera::runtime::readOffloadBundle(std::string_view bytes) {
  if (startsWith(bytes, compressedMagic))
    return invalidBundle("the offload bundle is compressed; rebuild it without "
                         "-compress (--no-offload-compress)");
  if (!startsWith(bytes, offloadMagic))
    return invalidBundle("not an offload bundle: it does not start with " +
                         std::string(offloadMagic));
  Cursor cursor(bytes.substr(offloadMagic.size()));
  auto cut = [&] {
    return invalidBundle(
        format("truncated offload bundle: its %zu bytes are fewer "
               "than its header declares",
               bytes.size()));
  };
  uint64_t count = 0;
  if (!cursor.take(count))
    return cut();
  std::vector<BundleEntry> entries;
  for (uint64_t index = 0; index < count; ++index) {
    uint64_t offset = 0, size = 0, length = 0;
    std::string_view id;
    if (!cursor.take(offset) || !cursor.take(size) || !cursor.take(length) ||
        !cursor.take(length, id) || offset > bytes.size() ||
        size > bytes.size() - offset)
      return cut();
    if (!startsWith(id, "host-"))
      entries.push_back({getTarget(id), bytes.substr(offset, size)});
  }
  return entries;
}

Expected<BundleEntry>
tessera::runtime::selectBundleEntry(const std::vector<BundleEntry> &entries,
                                    const std::string &device) {
  std::optional<TargetId> wanted = parseTargetId(device);
  const BundleEntry *best = nullptr;
  size_t bestFeatures = 0;
  std::string held;
  for (const BundleEntry &entry : entries) {
    held += (held.empty() ? "" : ", ") + entry.target;
    std::optional<TargetId> target = parseTargetId(entry.target);
    if (!wanted || !target || !runsOnTarget(*target, *wanted))
      continue;
    if (!best || target->features.size() > bestFeatures) {
      best = &entry;
      bestFeatures = target->features.size();
    }
  }
  if (best)
    return *best;
  return invalidBundle("no code object of the bundle runs on " + device +
                       "; it contains " + (held.empty() ? "none" : held));
}
