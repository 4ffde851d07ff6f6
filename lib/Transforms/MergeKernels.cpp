//===- MergeKernels.cpp - Compile equal kernels once ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are compared op by op, as long as their code is short. Only kernels
// of the same hash are compared.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/MergedLocations.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAMERGEKERNELS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-merge-kernels"

STATISTIC(numMergedKernels, "Number of kernels merged with an equal one");

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// The only kernel of a `gpu.module`, and what distinguishes it.
struct Candidate {
  gpu::GPUModuleOp module;
  gpu::GPUFuncOp kernel;
  SmallVector<gpu::LaunchFuncOp> launches;
  /// The function that launches it, and what the module's attributes state
  /// about the kernel.
  SmallVector<Attribute> context;
  llvm::hash_code hash = 0;
};

} // namespace

/// The dictionaries of the module whose keys are names of kernels, and whose
/// values distinguish kernels.
static ArrayRef<StringRef> getDictionaries() {
  static const StringRef names[] = {
      TesseraDialect::SchedulesAttrHelper::getNameStr(),
      TesseraDialect::PlainMatmulsAttrHelper::getNameStr(),
      TesseraDialect::PackingsAttrHelper::getNameStr()};
  return names;
}

/// Those whose values are texts that name the matmul of a kernel, or the record
/// of its schedule. A merged kernel has the texts of all.
static ArrayRef<StringRef> getDictionariesOfTexts() {
  static const StringRef names[] = {
      TesseraDialect::ScheduleOriginsAttrHelper::getNameStr(),
      TesseraDialect::SchedulePredictionsAttrHelper::getNameStr()};
  return names;
}

/// The attributes of a kernel or of its module, except for the name.
static DictionaryAttr getAttributesWithoutName(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase(SymbolTable::getSymbolAttrName());
  return attributes.getDictionary(op->getContext());
}

static llvm::hash_code hashCode(const Candidate &candidate) {
  llvm::hash_code hash = llvm::hash_combine_range(candidate.context);
  candidate.module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isNamed = op == candidate.module || op == candidate.kernel;
    hash = llvm::hash_combine(hash, op->getName(),
                              isNamed ? getAttributesWithoutName(op)
                                      : op->getAttrDictionary(),
                              op->getNumOperands());
    for (Type type : op->getResultTypes())
      hash = llvm::hash_combine(hash, type);
  });
  return hash;
}

/// Whether two ops and their regions are equal, apart from their locations and
/// attributes.
static bool haveEqualRegions(Operation *left, Operation *right) {
  if (left->getNumRegions() != right->getNumRegions())
    return false;
  for (auto [leftRegion, rightRegion] :
       llvm::zip_equal(left->getRegions(), right->getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(
            &leftRegion, &rightRegion, OperationEquivalence::IgnoreLocations))
      return false;
  return true;
}

static bool areEqual(const Candidate &left, const Candidate &right) {
  if (left.hash != right.hash || left.context != right.context ||
      getAttributesWithoutName(left.module) !=
          getAttributesWithoutName(right.module))
    return false;
  Block &leftBody = left.module->getRegion(0).front(),
        &rightBody = right.module->getRegion(0).front();
  if (leftBody.getOperations().size() != rightBody.getOperations().size())
    return false;
  for (auto [leftOp, rightOp] : llvm::zip_equal(leftBody, rightBody)) {
    bool isKernel = &leftOp == left.kernel;
    if (isKernel != (&rightOp == right.kernel))
      return false;
    if (!isKernel) {
      if (!OperationEquivalence::isEquivalentTo(
              &leftOp, &rightOp, OperationEquivalence::IgnoreLocations))
        return false;
      continue;
    }
    if (getAttributesWithoutName(&leftOp) !=
            getAttributesWithoutName(&rightOp) ||
        !haveEqualRegions(&leftOp, &rightOp))
      return false;
  }
  return true;
}

/// Gives the ops of `kept` the locations of those of `merged`, too.
static void mergeAllLocations(Operation *kept, Operation *merged) {
  SmallVector<Operation *> others;
  merged->walk([&](Operation *op) { others.push_back(op); });
  size_t index = 0;
  kept->walk([&](Operation *op) {
    op->setLoc(mergeLocations(op->getLoc(), others[index++]->getLoc()));
  });
}

namespace {

struct MergeKernelsPass
    : public tessera::impl::TesseraMergeKernelsBase<MergeKernelsPass> {
  void runOnOperation() override {
    llvm::MapVector<gpu::GPUModuleOp, Candidate> candidates;
    collect(candidates);
    llvm::DenseMap<size_t, SmallVector<Candidate *>> byHash;
    llvm::StringMap<StringAttr> erased;
    for (auto &[module, candidate] : candidates) {
      candidate.hash = hashCode(candidate);
      SmallVector<Candidate *> &known = byHash[candidate.hash];
      auto isEqual = [&current = candidate](const Candidate *other) {
        return areEqual(*other, current);
      };
      auto *found = llvm::find_if(known, isEqual);
      if (found == known.end()) {
        known.push_back(&candidate);
        continue;
      }
      merge(**found, candidate, erased);
    }
    if (!erased.empty())
      dropNames(erased);
  }

private:
  /// Collects modules of one kernel that nothing but launches refers to.
  void collect(llvm::MapVector<gpu::GPUModuleOp, Candidate> &candidates) {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
      SmallVector<gpu::GPUFuncOp> functions;
      for (auto function : kernels.getOps<gpu::GPUFuncOp>())
        if (function.isKernel())
          functions.push_back(function);
      if (functions.size() == 1)
        candidates[kernels] = {kernels, functions.front(), {}, {}};
    }
    std::optional<SymbolTable::UseRange> uses =
        SymbolTable::getSymbolUses(&module.getBodyRegion());
    if (!uses)
      return candidates.clear();
    for (SymbolTable::SymbolUse use : *uses) {
      auto kernels = symbols.lookup<gpu::GPUModuleOp>(
          use.getSymbolRef().getRootReference());
      auto found = candidates.find(kernels);
      if (found == candidates.end())
        continue;
      auto launch = dyn_cast<gpu::LaunchFuncOp>(use.getUser());
      if (launch && launch.getKernelName() == found->second.kernel.getName())
        found->second.launches.push_back(launch);
      else
        candidates.erase(found);
    }
    candidates.remove_if(
        [](const auto &entry) { return entry.second.launches.empty(); });
    for (auto &[kernels, candidate] : candidates) {
      // A name is that of the function, and so is what is reported of it.
      for (gpu::LaunchFuncOp launch : candidate.launches) {
        auto function = launch->getParentOfType<FunctionOpInterface>();
        candidate.context.push_back(function ? function.getNameAttr()
                                             : StringAttr());
      }
      candidate.context.erase(llvm::unique(candidate.context),
                              candidate.context.end());
      for (StringRef name : getDictionaries()) {
        auto dictionary = module->getAttrOfType<DictionaryAttr>(name);
        candidate.context.push_back(
            dictionary ? dictionary.get(candidate.kernel.getName())
                       : Attribute());
      }
    }
  }

  void merge(Candidate &kept, Candidate &merged,
             llvm::StringMap<StringAttr> &erased) {
    LDBG() << merged.kernel.getLoc() << ": " << merged.kernel.getName()
           << " is equal to " << kept.kernel.getName();
    auto name =
        SymbolRefAttr::get(kept.module.getNameAttr(),
                           {FlatSymbolRefAttr::get(kept.kernel.getNameAttr())});
    for (gpu::LaunchFuncOp launch : merged.launches)
      launch.setKernelAttr(name);
    mergeAllLocations(kept.module, merged.module);
    erased[merged.kernel.getName()] = kept.kernel.getNameAttr();
    Operation *module = merged.module;
    module->erase();
    ++numMergedKernels;
  }

  /// Removes the erased kernels, of which each has the name of the kernel that
  /// it is equal to, from the attributes of the module.
  void dropNames(const llvm::StringMap<StringAttr> &erased) {
    ModuleOp module = getOperation();
    // A kernel of this name may be in another module as well.
    llvm::StringSet<> left;
    module.walk([&](gpu::GPUFuncOp kernel) { left.insert(kernel.getName()); });
    auto isErased = [&](StringRef name) {
      return erased.contains(name) && !left.contains(name);
    };
    auto update = [&](StringRef name, bool isText) {
      auto dictionary = module->getAttrOfType<DictionaryAttr>(name);
      if (!dictionary)
        return;
      NamedAttrList kept;
      for (NamedAttribute entry : dictionary)
        if (!isErased(entry.getName().getValue()))
          kept.append(entry);
      for (NamedAttribute entry : dictionary)
        if (isText && isErased(entry.getName().getValue()))
          addText(kept, erased.lookup(entry.getName().getValue()),
                  entry.getValue());
      module->setAttr(name, kept.getDictionary(&getContext()));
    };
    for (StringRef name : getDictionaries())
      update(name, /*isText=*/false);
    for (StringRef name : getDictionariesOfTexts())
      update(name, /*isText=*/true);
  }

  /// Adds a text to that of a kernel, unless it is a part of that.
  static void addText(NamedAttrList &texts, StringAttr kernel,
                      Attribute added) {
    auto text = dyn_cast_or_null<StringAttr>(texts.get(kernel));
    auto other = dyn_cast<StringAttr>(added);
    if (text && other && !text.getValue().contains(other.getValue()))
      texts.set(kernel, StringAttr::get(kernel.getContext(),
                                        text.getValue() + "; equal kernel: " +
                                            other.getValue()));
    else if (!text)
      texts.set(kernel, added);
  }
};

} // namespace
