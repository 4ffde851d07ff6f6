//===- ModelFuzzer.cpp - Bytes that may be an ONNX model ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For libFuzzer: reads bytes as a model and imports it. Errors must be messages
// or diagnostics, and a module must pass its verifier. The mutator changes one
// field of a message at any depth, and the lengths around it follow.
//
//===----------------------------------------------------------------------===//

#include "Import/ONNX/Import.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace mlir;
using namespace mlir::tessera::onnx;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

/// A field of a message, with its tag.
struct Field {
  uint64_t tag = 0;
  uint64_t number = 0;
  std::string bytes;
};

bool takeVarint(llvm::StringRef &bytes, uint64_t &value) {
  unsigned length = 0;
  const char *error = nullptr;
  // LLVM's function shifts by too much in a longer one.
  constexpr size_t longest = 10;
  const uint8_t *begin = bytes.bytes_begin();
  value = llvm::decodeULEB128(begin, &length,
                              begin + std::min(bytes.size(), longest), &error);
  bytes = bytes.drop_front(error ? 0 : length);
  return !error;
}

void appendVarint(std::string &bytes, uint64_t value) {
  llvm::raw_string_ostream os(bytes);
  llvm::encodeULEB128(value, os);
}

/// False if the bytes are not fields.
bool parse(llvm::StringRef bytes, std::vector<Field> &fields) {
  while (!bytes.empty()) {
    Field &field = fields.emplace_back();
    if (!takeVarint(bytes, field.tag) || field.tag >> 3 == 0)
      return false;
    uint64_t size = 0;
    switch (field.tag & 7) {
    case 0:
      if (!takeVarint(bytes, field.number))
        return false;
      continue;
    case 1:
      size = 8;
      break;
    case 2:
      if (!takeVarint(bytes, size))
        return false;
      break;
    case 5:
      size = 4;
      break;
    default:
      return false;
    }
    if (size > bytes.size())
      return false;
    field.bytes = bytes.take_front(size).str();
    bytes = bytes.drop_front(size);
  }
  return true;
}

std::string print(const std::vector<Field> &fields) {
  std::string bytes;
  for (const Field &field : fields) {
    appendVarint(bytes, field.tag);
    if ((field.tag & 7) == 0)
      appendVarint(bytes, field.number);
    if ((field.tag & 7) == 2)
      appendVarint(bytes, field.bytes.size());
    bytes += field.bytes;
  }
  return bytes;
}

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  std::string mutate(llvm::StringRef bytes) {
    std::vector<Field> fields;
    if (!parse(bytes, fields) || fields.empty())
      return mutatePlain(bytes);
    size_t at = pick(fields.size());
    Field &field = fields[at];
    switch (pick(12)) {
    case 0:
      fields.erase(fields.begin() + static_cast<ptrdiff_t>(at));
      break;
    case 1:
      fields.insert(fields.begin() + static_cast<ptrdiff_t>(at), field);
      break;
    case 2:
      std::swap(field, fields[pick(fields.size())]);
      break;
    case 3:
      field.bytes = fields[pick(fields.size())].bytes;
      break;
    case 4:
      field.tag = (1 + pick(26)) << 3 | (field.tag & 7);
      break;
    default:
      if ((field.tag & 7) == 0)
        field.number = mutateNumber(field.number);
      else
        field.bytes = mutate(field.bytes);
    }
    return print(fields);
  }

private:
  size_t pick(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  }
  std::string mutatePlain(llvm::StringRef bytes) {
    std::string text = bytes.str();
    size_t size = text.size();
    text.resize(size + 16);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(text.data()), size,
                                 text.size()));
    return text;
  }
  uint64_t mutateNumber(uint64_t number) {
    switch (pick(4)) {
    case 0:
      return number + pick(3) - 1;
    case 1:
      return pick(30);
    case 2:
      return uint64_t(1) << pick(64);
    default:
      return -static_cast<uint64_t>(pick(5));
    }
  }

  std::mt19937 random;
};

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::string changed = Mutator(seed).mutate(
      llvm::StringRef(reinterpret_cast<const char *>(data), size));
  size = std::min(changed.size(), maxSize);
  std::memcpy(data, changed.data(), size);
  return size;
}

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto owner =
      std::make_shared<std::string>(reinterpret_cast<const char *>(data), size);
  std::string error;
  std::unique_ptr<Model> model = readModel("model.onnx", *owner, owner, error);
  if (!model) {
    if (error.empty())
      std::abort();
    return 0;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  bool hasError = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &) {
    hasError = true;
    return success();
  });
  OwningOpRef<ModuleOp> module = importModel(*model, {}, context);
  // Nothing may fail without a message.
  if (!module && !hasError)
    std::abort();
  return 0;
}
