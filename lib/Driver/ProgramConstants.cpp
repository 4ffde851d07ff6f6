//===- ProgramConstants.cpp - The data of a compiled program --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramConstants.h"

#include "Driver/Constants.h"
#include "Graph/Constants.h"
#include "Graph/Passes.h"
#include "SavedProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tessera;

/// A constant whose contents are those of a resource.
static runtime::Constant describeConstant(MLIRContext &context,
                                          StringRef hash) {
  runtime::Constant constant;
  constant.hash = hash.str();
  if (const AsmResourceBlob *blob =
          findConstant(context, getConstantName(hash))) {
    ArrayRef<char> data = blob->getData();
    constant.bytes = {data.data(), data.size()};
    constant.size = static_cast<int64_t>(data.size());
  }
  return constant;
}

/// The bytes of an array without padding.
static int64_t countBytes(MemRefType type) {
  int64_t bits = type.getElementType().isIndex()
                     ? 64
                     : type.getElementType().getIntOrFloatBitWidth();
  return type.getNumElements() * llvm::divideCeil(bits, 8);
}

//===----------------------------------------------------------------------===//
// Compiled programs
//===----------------------------------------------------------------------===//

std::vector<runtime::Constant> mlir::tessera::numberConstants(ModuleOp module) {
  std::vector<runtime::Constant> constants;
  llvm::StringMap<int64_t> numbers;
  llvm::DenseMap<StringAttr, StringAttr> renamed;
  llvm::SmallVector<memref::GlobalOp> duplicates;
  MLIRContext *context = module.getContext();
  for (auto global : module.getOps<memref::GlobalOp>()) {
    int64_t number = static_cast<int64_t>(constants.size());
    auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(
        global.getInitialValueAttr());
    StringRef hash = resource ? getConstantHash(resource) : "";
    if (!hash.empty()) {
      auto [known, isNew] = numbers.try_emplace(hash, number);
      number = known->second;
      if (isNew)
        constants.push_back(describeConstant(*context, hash));
      else
        duplicates.push_back(global);
    } else if (global.getSymName().starts_with(computedPrefix)) {
      runtime::Constant constant;
      constant.size = countBytes(global.getType());
      constants.push_back(std::move(constant));
    } else {
      continue;
    }
    renamed[global.getSymNameAttr()] =
        StringAttr::get(context, getDataSymbol(number));
    global.removeInitialValueAttr();
  }
  module.walk([&](memref::GetGlobalOp get) {
    auto found = renamed.find(get.getNameAttr().getAttr());
    // A kernel's globals are others.
    if (found != renamed.end() && !get->getParentOfType<gpu::GPUModuleOp>())
      get.setName(found->second);
  });
  for (memref::GlobalOp global : duplicates)
    global.erase();
  for (auto global : module.getOps<memref::GlobalOp>())
    if (auto found = renamed.find(global.getSymNameAttr());
        found != renamed.end())
      global.setSymNameAttr(found->second);
  return constants;
}

/// The hashes of the large constants of a module, whose contents its context
/// has then.
static llvm::StringSet<> hashConstants(ModuleOp module) {
  std::vector<Attribute> elements;
  module.walk([&](Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      elements.push_back(constant.getValue());
    else if (auto global = dyn_cast<memref::GlobalOp>(op))
      if (Attribute initial = global.getInitialValueAttr())
        elements.push_back(initial);
  });
  std::vector<std::string> hashes(elements.size());
  // Weights are most of the time that a program from the cache takes.
  parallelFor(module.getContext(), 0, elements.size(), [&](size_t i) {
    if (ArrayRef<char> bytes = getLiftedBytes(elements[i]); !bytes.empty())
      hashes[i] = hashConstant(bytes);
  });
  llvm::StringSet<> result;
  for (auto [attribute, hash] : llvm::zip_equal(elements, hashes))
    if (DenseResourceElementsAttr lifted = hash.empty()
                                               ? DenseResourceElementsAttr()
                                               : liftConstant(attribute, hash))
      result.insert(getConstantHash(lifted));
  return result;
}

void mlir::tessera::markDerivedConstants(CompiledProgram &program,
                                         ModuleOp module) {
  program.derivedConstants.clear();
  auto isNamed = [](const auto &constant) { return !constant.hash.empty(); };
  if (llvm::none_of(program.constants, isNamed))
    return;
  llvm::StringSet<> hashes = hashConstants(module);
  for (auto [number, constant] : llvm::enumerate(program.constants))
    if (isNamed(constant) && !hashes.contains(constant.hash))
      program.derivedConstants.push_back(static_cast<int64_t>(number));
}

bool mlir::tessera::takeDerivedConstants(
    SavedProgram &saved, CompiledProgram &program,
    const std::shared_ptr<const void> &owner) {
  if (saved.derived.size() != saved.derivedContents.size())
    return false;
  for (auto [number, contents] :
       llvm::zip_equal(saved.derived, saved.derivedContents)) {
    if (number < 0 || static_cast<size_t>(number) >= program.constants.size())
      return false;
    runtime::Constant &constant =
        program.constants[static_cast<size_t>(number)];
    if (constant.size != static_cast<int64_t>(contents.size()))
      return false;
    constant.bytes = contents;
    constant.owner = owner;
  }
  program.derivedConstants = std::move(saved.derived);
  return true;
}

bool mlir::tessera::findConstants(CompiledProgram &program, ModuleOp module,
                                  std::string &why) {
  // Derived ones are at hand, computed ones have no hash.
  auto isMissing = [](const auto &constant) {
    return !constant.hash.empty() && constant.bytes.empty();
  };
  if (llvm::none_of(program.constants, isMissing))
    return true;
  (void)hashConstants(module);
  for (runtime::Constant &constant : program.constants) {
    if (!isMissing(constant))
      continue;
    runtime::Constant found =
        describeConstant(*module.getContext(), constant.hash);
    if (found.size != constant.size) {
      why = "the program does not contain its constant " + constant.hash;
      return false;
    }
    constant = std::move(found);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

void mlir::tessera::attachConstants(
    MLIRContext &context, const std::vector<runtime::Constant> &constants) {
  for (const runtime::Constant &constant : constants)
    setConstant(context, getConstantName(constant.hash),
                ArrayRef(constant.bytes.data(), constant.bytes.size()),
                constant.owner);
}

/// A copy of the module with lifted constants.
static OwningOpRef<ModuleOp> liftCopy(ModuleOp module) {
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager pm(module.getContext());
  pm.addPass(createTesseraLiftConstants());
  // It fails where the compilation does.
  (void)pm.run(*copy);
  return copy;
}

/// Makes resources that are not lifted, since they are small, part of the text:
/// it has no section of resources.
static void inlineResources(ModuleOp module) {
  module.walk([](arith::ConstantOp constant) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (!resource || !getConstantHash(resource).empty())
      return;
    const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    bool isSplat = false;
    if (blob && DenseElementsAttr::isValidRawBuffer(resource.getType(),
                                                    blob->getData(), isSplat))
      constant.setValueAttr(DenseElementsAttr::getFromRawBuffer(
          resource.getType(), blob->getData()));
  });
}

std::string mlir::tessera::printWithoutConstants(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = liftCopy(module);
  inlineResources(*copy);
  std::string text;
  llvm::raw_string_ostream(text) << *copy;
  return text;
}

/// Adds the constants that a text refers to.
static void collectConstants(StringRef text, MLIRContext &context,
                             std::vector<runtime::Constant> &constants) {
  constexpr llvm::StringLiteral begin = "dense_resource<";
  llvm::StringSet<> known;
  for (size_t at = text.find(begin); at != StringRef::npos;
       at = text.find(begin, at + 1)) {
    StringRef name = text.substr(at + begin.size()).split('>').first;
    const AsmResourceBlob *blob = findConstant(context, name);
    if (!blob || !known.insert(name).second)
      continue;
    StringRef hash = name;
    if (!hash.consume_front(getConstantName("")))
      continue;
    constants.push_back(describeConstant(context, hash));
  }
}

namespace {
/// Rewrites the text of a program.
class ConstantSeparator {
public:
  ConstantSeparator(StringRef source, MLIRContext &context)
      : source(source), context(context) {}

  std::string run() {
    // Resources are at the end of a text, after what refers to them.
    findResources();
    std::string text;
    text.reserve(std::min<size_t>(source.size(), size_t(1) << 20));
    StringRef rest = source;
    while (!rest.empty()) {
      size_t elements = rest.find("dense<\"0x"),
             resource = rest.find("dense_resource<");
      size_t entry = rest.find(entryText);
      size_t at = std::min({elements, resource, entry});
      if (at == StringRef::npos)
        break;
      text += rest.substr(0, at);
      rest = rest.substr(at);
      if (at == elements)
        takeElements(rest, text);
      else if (at == resource)
        takeReference(rest, text);
      else
        takeEntry(rest, text);
    }
    text += rest;
    return text;
  }

private:
  static constexpr llvm::StringLiteral entryText = ": \"0x";

  /// Consumes hexadecimal digits.
  static StringRef takeDigits(StringRef &rest) {
    StringRef digits = rest.take_while(llvm::isHexDigit);
    rest = rest.drop_front(digits.size());
    return digits;
  }

  /// The name of the constant with these contents; empty if it is none.
  std::string findName(StringRef digits, size_t skipped) {
    std::string bytes;
    if (digits.size() < 2 * (leastLiftedBytes + skipped) ||
        !llvm::tryGetFromHex(digits, bytes))
      return "";
    std::string name = getConstantName(
        hashConstant(ArrayRef(bytes.data(), bytes.size()).drop_front(skipped)));
    return findConstant(context, name) ? name : "";
  }

  void findResources() {
    size_t begin = source.rfind("{-#");
    if (begin == StringRef::npos)
      return;
    StringRef rest = source.substr(begin);
    for (size_t next = rest.find(entryText); next != StringRef::npos;
         next = rest.find(entryText)) {
      StringRef key = rest.substr(0, next).rtrim();
      key = key.substr(key.find_last_of(" \n\t{,") + 1).trim('"');
      rest = rest.substr(next + entryText.size());
      // The alignment comes first.
      std::string name = findName(takeDigits(rest), /*skipped=*/4);
      if (!name.empty())
        names[key] = name;
    }
  }

  /// dense<"0x..."> : tensor<...>
  void takeElements(StringRef &rest, std::string &text) {
    StringRef before = rest;
    rest = rest.drop_front(StringRef("dense<\"0x").size());
    StringRef digits = takeDigits(rest);
    StringRef after = rest;
    bool isTensor = after.consume_front("\">") &&
                    (after = after.ltrim()).consume_front(":") &&
                    after.ltrim().starts_with("tensor<");
    std::string name = isTensor ? findName(digits, /*skipped=*/0) : "";
    if (name.empty()) {
      text += before.take_front(before.size() - rest.size());
      return;
    }
    text += "dense_resource<" + name + ">";
    rest = rest.drop_front(2);
  }

  /// dense_resource<KEY>
  void takeReference(StringRef &rest, std::string &text) {
    constexpr llvm::StringLiteral begin = "dense_resource<";
    rest = rest.drop_front(begin.size());
    text += begin;
    StringRef key = rest.take_until([](char c) { return c == '>'; });
    rest = rest.drop_front(key.size());
    auto found = names.find(key.trim('"'));
    text += found == names.end() ? key.str() : found->second;
  }

  /// KEY: "0x...", without the contents of a constant.
  void takeEntry(StringRef &rest, std::string &text) {
    rest = rest.drop_front(entryText.size());
    StringRef digits = takeDigits(rest);
    bool isConstant = !findName(digits, /*skipped=*/4).empty();
    text += entryText;
    text += isConstant ? digits.take_front(8) : digits;
  }

  StringRef source;
  MLIRContext &context;
  llvm::StringMap<std::string> names;
};
} // namespace

std::string
mlir::tessera::separateConstants(StringRef source, ModuleOp module,
                                 std::vector<runtime::Constant> &constants) {
  if (source.empty())
    return "";
  MLIRContext &context = *module.getContext();
  // The context has the resources that the text refers to from then on.
  OwningOpRef<ModuleOp> lifted = liftCopy(module);
  std::string text = ConstantSeparator(source, context).run();
  collectConstants(text, context, constants);
  return text;
}
