//===- ObjectSymbols.cpp - The symbols of an object file ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/ObjectSymbols.h"

#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::tessera;
using llvm::object::SymbolRef;

llvm::Expected<SmallVector<ObjectSymbol>>
mlir::tessera::listSymbols(StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(object, "tessera"));
  if (!file)
    return file.takeError();
  SmallVector<ObjectSymbol> symbols;
  for (SymbolRef symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    llvm::Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (!name->empty() && *name != "_GLOBAL_OFFSET_TABLE_")
      symbols.push_back({*name, (*flags & SymbolRef::SF_Undefined) != 0,
                         (*flags & SymbolRef::SF_Global) != 0});
  }
  return symbols;
}
