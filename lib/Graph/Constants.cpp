//===- Constants.cpp - Large constants of a program -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graph/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

using namespace mlir;
using namespace mlir::tessera;

/// The names of resources begin so, and those of the globals.
static constexpr llvm::StringLiteral resourcePrefix = "tessera_";
static constexpr llvm::StringLiteral dataPrefix = "__tessera_data_";
/// A hash in hexadecimal digits.
static constexpr size_t hashBytes = 16;

static DialectResourceBlobManager &getManager(MLIRContext &context) {
  return DenseResourceElementsHandle::getManagerInterface(&context)
      .getBlobManager();
}

static DenseResourceElementsHandle
getHandle(MLIRContext &context, DialectResourceBlobManager::BlobEntry &entry) {
  return DenseResourceElementsHandle(
      &entry, context.getLoadedDialect<BuiltinDialect>());
}

std::string mlir::tessera::getConstantName(StringRef hash) {
  return (resourcePrefix + hash).str();
}

StringRef mlir::tessera::getConstantHash(DenseResourceElementsAttr elements) {
  StringRef name = elements.getRawHandle().getKey();
  if (!name.consume_front(resourcePrefix) || name.size() != 2 * hashBytes ||
      !llvm::all_of(name, llvm::isHexDigit))
    return "";
  return name;
}

std::string mlir::tessera::hashConstant(ArrayRef<char> bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(
      ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  return llvm::toHex(hasher.final<hashBytes>(), /*LowerCase=*/true);
}

const AsmResourceBlob *mlir::tessera::findConstant(MLIRContext &context,
                                                   StringRef name) {
  DialectResourceBlobManager::BlobEntry *entry =
      getManager(context).lookup(name);
  return entry ? entry->getBlob() : nullptr;
}

void mlir::tessera::setConstant(MLIRContext &context, StringRef name,
                                ArrayRef<char> bytes,
                                std::shared_ptr<const void> owner) {
  // The deleter is what owns.
  AsmResourceBlob blob = UnmanagedAsmResourceBlob::allocateWithAlign(
      bytes, alignof(uint64_t),
      [owner = std::move(owner)](void *, size_t, size_t) {});
  DialectResourceBlobManager &manager = getManager(context);
  if (manager.lookup(name))
    manager.update(name, std::move(blob));
  else
    manager.insert(name, std::move(blob));
}

ArrayRef<char> mlir::tessera::getLiftedBytes(Attribute elements) {
  ArrayRef<char> bytes;
  auto type =
      dyn_cast_or_null<ElementsAttr>(elements)
          ? dyn_cast<RankedTensorType>(cast<ElementsAttr>(elements).getType())
          : RankedTensorType();
  if (!type || type.getEncoding() || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() % 8 != 0)
    return {};
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(elements)) {
    if (!dense.isSplat())
      bytes = dense.getRawData();
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    // A name that is a hash may come from a file: the contents decide.
    if (const AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      bytes = blob->getData();
  }
  if (bytes.size() < leastLiftedBytes ||
      bytes.size() != static_cast<size_t>(type.getNumElements()) *
                          (type.getElementTypeBitWidth() / 8))
    return {};
  return bytes;
}

DenseResourceElementsAttr mlir::tessera::liftConstant(Attribute elements) {
  ArrayRef<char> bytes = getLiftedBytes(elements);
  return bytes.empty() ? DenseResourceElementsAttr()
                       : liftConstant(elements, hashConstant(bytes));
}

DenseResourceElementsAttr mlir::tessera::liftConstant(Attribute elements,
                                                      StringRef hash) {
  std::string name = getConstantName(hash);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
      resource && !getConstantHash(resource).empty())
    return resource.getRawHandle().getKey() == name
               ? resource
               : DenseResourceElementsAttr();
  MLIRContext &context = *elements.getContext();
  // Attributes and their resources live as long as the context.
  if (!findConstant(context, name))
    setConstant(context, name, getLiftedBytes(elements));
  return DenseResourceElementsAttr::get(
      cast<ShapedType>(cast<ElementsAttr>(elements).getType()),
      getHandle(context, *getManager(context).lookup(name)));
}

void mlir::tessera::restoreConstants(ModuleOp module) {
  auto restore = [](Attribute elements) -> DenseElementsAttr {
    auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(elements);
    if (!resource || getConstantHash(resource).empty())
      return nullptr;
    const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? DenseElementsAttr::getFromRawBuffer(resource.getType(),
                                                      blob->getData())
                : DenseElementsAttr();
  };
  module.walk([&](Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (DenseElementsAttr elements = restore(constant.getValue()))
        constant.setValueAttr(elements);
    } else if (auto global = dyn_cast<memref::GlobalOp>(op)) {
      if (DenseElementsAttr elements = restore(global.getInitialValueAttr()))
        global.setInitialValueAttr(elements);
    }
  });
}

std::string mlir::tessera::getDataSymbol(int64_t number) {
  return (dataPrefix + Twine(number)).str();
}

std::optional<int64_t> mlir::tessera::getDataNumber(StringRef symbol) {
  int64_t number = 0;
  if (!symbol.consume_front(dataPrefix) || symbol.getAsInteger(10, number))
    return std::nullopt;
  return number;
}
