//===- TransposedConstants.cpp - Weights of a bundle in one form ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler transposes filters itself. Which constant became which is found
// here by comparing contents, so that no pass needs to record it: an element or
// two tell a wrong permutation.
//
//===----------------------------------------------------------------------===//

#include "TransposedConstants.h"

#include "Graph/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;
namespace runtime = ::tessera::runtime;

/// Constants of more dimensions are not tried.
static constexpr int64_t mostDimensions = 5;

namespace {
struct Source {
  StringRef hash;
  RankedTensorType type;
  ArrayRef<char> bytes;
};
} // namespace

/// The constants of a module that have several dimensions, by their sizes in
/// bytes.
static DenseMap<size_t, SmallVector<Source>> findSources(ModuleOp module) {
  DenseMap<size_t, SmallVector<Source>> sources;
  module.walk([&](arith::ConstantOp constant) {
    DenseResourceElementsAttr elements = liftConstant(constant.getValue());
    if (!elements)
      return;
    auto type = dyn_cast<RankedTensorType>(elements.getType());
    if (!type || type.getRank() < 2 || type.getRank() > mostDimensions)
      return;
    ArrayRef<char> bytes = elements.getRawHandle().getBlob()->getData();
    sources[bytes.size()].push_back({getConstantHash(elements), type, bytes});
  });
  return sources;
}

/// Whether some elements are those that the transposition moves there.
static bool isPlausible(const Source &source, std::string_view bytes,
                        ArrayRef<int64_t> permutation, size_t elementBytes) {
  SmallVector<int64_t> strides = computeSuffixProduct(source.type.getShape());
  SmallVector<int64_t> sizes =
      applyPermutation(source.type.getShape(), permutation);
  SmallVector<int64_t> steps =
      applyPermutation(ArrayRef<int64_t>(strides), permutation);
  SmallVector<int64_t> weights = computeSuffixProduct(sizes);
  int64_t count = source.type.getNumElements();
  constexpr int64_t samples = 32;
  for (int64_t sample = 0; sample < samples; ++sample) {
    int64_t to = count / samples * sample + sample % 7;
    if (to >= count)
      break;
    int64_t from = linearize(delinearize(to, weights), steps);
    if (std::memcmp(source.bytes.data() + from * elementBytes,
                    bytes.data() + to * elementBytes, elementBytes) != 0)
      return false;
  }
  return true;
}

/// The transposition of a source that has these contents; one without a source
/// if there is none.
static runtime::Transposition findTransposition(ArrayRef<Source> sources,
                                                std::string_view bytes) {
  for (const Source &source : sources) {
    auto elementBytes =
        static_cast<size_t>(source.type.getElementTypeBitWidth()) / 8;
    SmallVector<int64_t> permutation(
        static_cast<size_t>(source.type.getRank()));
    std::iota(permutation.begin(), permutation.end(), 0);
    while (std::next_permutation(permutation.begin(), permutation.end())) {
      if (!isPlausible(source, bytes, permutation, elementBytes))
        continue;
      runtime::Transposition result;
      result.source = source.hash.str();
      result.shape = source.type.getShape().vec();
      result.permutation.assign(permutation.begin(), permutation.end());
      result.elementBytes = static_cast<int64_t>(elementBytes);
      std::string_view whole(source.bytes.data(), source.bytes.size());
      if (runtime::canTranspose(result, bytes.size()) &&
          runtime::transpose(whole, result) == bytes)
        return result;
    }
  }
  return {};
}

void mlir::tessera::findTranspositions(ModuleOp module,
                                       runtime::Bundle &bundle) {
  llvm::StringMap<runtime::Transposition> known;
  for (const runtime::Constant &constant : bundle.constants)
    known[constant.hash] = {};
  // A bundle without its text has one form of each weight.
  if (known.empty())
    return;
  DenseMap<size_t, SmallVector<Source>> sources = findSources(module);
  for (runtime::ProgramVariant &variant : bundle.variants)
    for (runtime::Constant &constant : variant.constants) {
      if (constant.hash.empty())
        continue;
      auto [found, isNew] = known.try_emplace(constant.hash);
      if (isNew)
        found->second = findTransposition(sources.lookup(constant.bytes.size()),
                                          constant.bytes);
      constant.transposition = found->second;
    }
}
