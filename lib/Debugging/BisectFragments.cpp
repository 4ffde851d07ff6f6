//===- BisectFragments.cpp - The first fragment op that differs -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All fragment ops of a kernel are probed in one program, and the first element
// in time that differs shows the op. Where that program does not compile or
// run, or is too large, each loop's last iteration is checked, and then one
// op after the other.
//
//===----------------------------------------------------------------------===//

#include "Debugging/Bisect.h"
#include "Debugging/FragmentProbe.h"

#include "Conversion/Passes.h"
#include "Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace tessera::execution;
using mlir::Operation;

/// Elements of all probes together. The reference computes them too, in 16
/// bytes each.
static constexpr int64_t maxElements = int64_t(1) << 26;

/// The launch that the program of a cut ends with; null where its kernel is not
/// in the file.
static mlir::gpu::LaunchOp getLaunch(const ProgramOptions &options,
                                     const Cut &cut) {
  mlir::ModuleOp module = cut.module.get();
  auto function = module.lookupSymbol<mlir::func::FuncOp>(options.entry);
  return mlir::dyn_cast<mlir::gpu::LaunchOp>(
      function.getBody().front().getTerminator()->getPrevNode());
}

std::optional<Cut> Bisection::addProbes(const Cut &cut,
                                        llvm::ArrayRef<size_t> numbers,
                                        bool eachIteration,
                                        Reduction reduction) const {
  Cut made = copy(cut);
  mlir::gpu::LaunchOp launch = getLaunch(options, made);
  llvm::SmallVector<Operation *> all = findFragmentOps(launch), ops;
  for (size_t number : numbers)
    ops.push_back(all[number]);
  llvm::SmallVector<mlir::Value> probes =
      tessera::execution::addProbes(launch, eachIteration, ops);
  auto function = made.module->lookupSymbol<mlir::func::FuncOp>(options.entry);
  function.getBody().front().getTerminator()->erase();
  returnValues(function, probes);
  if (reduction != Reduction::None)
    eraseWhatFollows(ops.front(), launch);
  if (reduction == Reduction::Folded) {
    mlir::PassManager pm(made.module->getContext());
    pm.addPass(mlir::createCanonicalizerPass());
    pm.addPass(mlir::createCSEPass());
    if (failed(pm.run(*made.module)))
      return std::nullopt;
  }
  if (!finish(made))
    return std::nullopt;
  return made;
}

std::optional<FragmentDifference> Bisection::findFragment(size_t number,
                                                          std::string &why) {
  if (!mlir::isa<mlir::gpu::LaunchOp, mlir::gpu::LaunchFuncOp>(ops[number]))
    return std::nullopt;
  std::optional<Cut> whole = cut(number, /*isAlone=*/false);
  if (!whole) {
    why = "cannot truncate the program after the launch";
    return std::nullopt;
  }
  mlir::PassManager pm(whole->module->getContext());
  pm.addPass(mlir::tessera::createTesseraInlineKernels());
  pm.addPass(mlir::tessera::createConvertSubgroupMmaToTessera());
  pm.addPass(mlir::tessera::createConvertXeGPUToTessera());
  if (failed(pm.run(*whole->module))) {
    why = "cannot raise its matrices to fragments";
    return std::nullopt;
  }
  mlir::gpu::LaunchOp launch = getLaunch(options, *whole);
  if (!launch) {
    why = "its kernel is not in the file";
    return std::nullopt;
  }
  llvm::SmallVector<Operation *> fragments = findFragmentOps(launch);
  if (fragments.empty()) {
    why = "it does not contain fragments";
    return std::nullopt;
  }

  /// The first difference that a program with probes found.
  struct Found {
    size_t number;
    llvm::SmallVector<int64_t> time;
    compiler::reference::Comparison::Element element;
    bool eachIteration;
  };
  std::optional<Found> first;
  bool hasRun = false;
  auto look = [&](llvm::ArrayRef<size_t> numbers, bool eachIteration) {
    int64_t elements = 0;
    for (size_t fragment : numbers)
      elements += countElements(fragments[fragment], launch, eachIteration);
    if (elements > maxElements)
      return false;
    std::optional<Cut> made =
        addProbes(*whole, numbers, eachIteration, Reduction::None);
    std::optional<Difference> difference = made ? compare(*made) : std::nullopt;
    if (!difference)
      return false;
    hasRun = true;
    for (auto [fragment, output] : llvm::zip(numbers, difference->outputs)) {
      if (output.ok)
        continue;
      if (!output.first) {
        why = "the targets have different numbers of subgroups per workgroup";
        continue;
      }
      llvm::SmallVector<int64_t> time = getTime(
          fragments[fragment], launch, eachIteration, output.first->position);
      if (!first || time < first->time)
        first = Found{fragment, time, *output.first, eachIteration};
    }
    return true;
  };
  auto all = llvm::to_vector(llvm::seq<size_t>(fragments.size()));
  if (!look(all, /*eachIteration=*/true) && !look(all, /*eachIteration=*/false))
    for (size_t fragment : all)
      if (!look(fragment, /*eachIteration=*/true))
        look(fragment, /*eachIteration=*/false);
  if (!first) {
    if (why.empty())
      why = hasRun ? "the results of its fragment ops do not differ"
                   : "it does not run when its fragments are written to memory";
    return std::nullopt;
  }

  for (Reduction reduction :
       {Reduction::Folded, Reduction::Shortened, Reduction::None}) {
    std::optional<Cut> made =
        addProbes(*whole, first->number, first->eachIteration, reduction);
    if (!made || !differs(*made).value_or(false))
      continue;
    return FragmentDifference{
        std::move(*made), describe(fragments[first->number]),
        describeElement(fragments[first->number], launch, first->eachIteration,
                        first->element.position),
        first->element.got, first->element.expected};
  }
  why = describe(fragments[first->number]) +
        " differs, but not when it is the only fragment written to memory";
  return std::nullopt;
}
