//===- Verify.cpp - Checking what a program computed ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/Verify.h"

#include "Entry.h"
#include "Lazy/LazyResults.h"
#include "RandomChoice.h"
#include "Reference/Evaluation.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tessera::reference;

//===----------------------------------------------------------------------===//
// Everything
//===----------------------------------------------------------------------===//

static Verification fail(func::FuncOp entry, std::string message) {
  entry.emitError() << message;
  Verification verification;
  verification.status = Status::Failed;
  verification.message = std::move(message);
  verification.ok = false;
  return verification;
}

static void add(Verification &verification, Comparison comparison) {
  verification.ok &= comparison.ok;
  verification.unverifiedCount += comparison.unverifiedCount;
  verification.comparisons.push_back(std::move(comparison));
}

//===----------------------------------------------------------------------===//
// Unspecified values
//===----------------------------------------------------------------------===//

/// The ops that are named; each takes an evaluation.
static constexpr size_t maxOrigins = 32;

static bool isPoison(Operation *op) {
  return op->getName().getStringRef() == "ub.poison";
}

/// Whether some elements of a correct program's outputs may be anything.
static bool mayBeUnspecified(const Verification &verification,
                             const Outcome &outcome) {
  return !outcome.unspecified.empty() &&
         (!verification.ok || verification.unverifiedCount != 0 ||
          llvm::any_of(outcome.unspecified, isPoison) ||
          llvm::any_of(verification.comparisons, [](const Comparison &c) {
            return c.expectedNaNs != 0;
          }));
}

/// Evaluates the program with other numbers in place of those that nothing
/// specifies; false if that fails.
static bool evaluateOther(func::FuncOp entry, ArrayRef<Array> arguments,
                          Options options, Operation *at,
                          Evaluation::Arrays &arrays) {
  options.unspecified = at ? Options::Unspecified::OtherAtOneOp
                           : Options::Unspecified::OtherEverywhere;
  options.otherAt = at;
  arrays.arguments.assign(arguments.begin(), arguments.end());
  for (auto [array, type] :
       llvm::zip(arrays.arguments, entry.getArgumentTypes()))
    if (isa<BaseMemRefType>(type) && array.storage)
      array = array.clone();
  Outcome outcome = runLowered(entry, arrays.arguments, options);
  arrays.results = outcome.results;
  return outcome.succeeded();
}

/// Marks the elements that differ, and returns their number.
static int64_t markDifferences(const Array &a, const Array &b,
                               std::vector<uint8_t> &mask) {
  int64_t count = 0;
  if (a.shape != b.shape)
    return 0;
  for (int64_t i = 0, e = a.getNumElements(); i < e; ++i) {
    double x = a.getDouble(i), y = b.getDouble(i);
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    mask.resize(static_cast<size_t>(e));
    mask[static_cast<size_t>(i)] = 1;
    ++count;
  }
  return count;
}

/// Finds the elements that depend on memory that nothing has written, or on
/// `ub.poison`, and the ops that these come from.
static void findUnspecified(func::FuncOp entry, ArrayRef<Array> arguments,
                            ArrayRef<ComputedOutput> outputs,
                            const Evaluation &evaluation,
                            const Options &options, Verification &result) {
  Evaluation::Arrays others;
  {
    // Other contents may be indices out of bounds.
    ScopedDiagnosticHandler silent(entry.getContext(),
                                   [](Diagnostic &) { return success(); });
    if (!evaluateOther(entry, arguments, options, /*at=*/nullptr, others))
      return;
  }
  result.unspecifiedMasks.resize(outputs.size());
  bool isFound = false;
  for (auto [output, mask] : llvm::zip_equal(outputs, result.unspecifiedMasks))
    isFound |=
        markDifferences(evaluation.arrays.get(output.isResult, output.index),
                        others.get(output.isResult, output.index), mask) != 0;
  if (!isFound)
    return;
  ArrayRef<Operation *> origins = evaluation.outcome.unspecified;
  for (Operation *origin : origins.take_front(maxOrigins)) {
    Evaluation::Arrays one;
    ScopedDiagnosticHandler silent(entry.getContext(),
                                   [](Diagnostic &) { return success(); });
    if (origins.size() > 1 &&
        !evaluateOther(entry, arguments, options, origin, one))
      continue;
    Evaluation::Arrays &changed = origins.size() > 1 ? one : others;
    for (auto [i, output] : llvm::enumerate(outputs)) {
      std::vector<uint8_t> mask;
      int64_t count =
          markDifferences(evaluation.arrays.get(output.isResult, output.index),
                          changed.get(output.isResult, output.index), mask);
      if (count)
        result.unspecified.push_back(
            {static_cast<unsigned>(i), origin->getLoc(),
             origin->getName().getStringRef().str(), isPoison(origin), count});
    }
  }
  // Elements without an explanation are compared.
  if (result.unspecified.empty())
    result.unspecifiedMasks.clear();
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

/// Adds what was found at some of the indices of an output.
static void merge(Comparison &total, const Comparison &part,
                  const Indices &indices, ArrayRef<int64_t> shape) {
  bool isWorse =
      part.worstIndex >= 0 &&
      (total.worstIndex < 0 || (total.ok && !part.ok) ||
       (total.ok == part.ok && std::fabs(part.got - part.expected) >
                                   std::fabs(total.got - total.expected)));
  total.ok &= part.ok;
  total.count += part.count;
  total.mismatchCount += part.mismatchCount;
  total.nanCount += part.nanCount;
  total.exactCount += part.exactCount;
  total.unboundedCount += part.unboundedCount;
  total.permissiveCount += part.permissiveCount;
  total.unverifiedCount += part.unverifiedCount;
  total.maxAbs = std::max(total.maxAbs, part.maxAbs);
  total.maxRel = std::max(total.maxRel, part.maxRel);
  total.sumAbs += part.sumAbs;
  total.sumSquaredError += part.sumSquaredError;
  total.sumSquaredExpected += part.sumSquaredExpected;
  total.sumSquaredAllowed += part.sumSquaredAllowed;
  total.maxUlp = std::max(total.maxUlp, part.maxUlp);
  total.gotNaNs += part.gotNaNs;
  total.expectedNaNs += part.expectedNaNs;
  total.gotInfinities += part.gotInfinities;
  total.expectedInfinities += part.expectedInfinities;
  // "exact" as long as all parts are.
  if (total.tolerance.empty() || total.tolerance == "exact")
    total.tolerance = part.tolerance;
  auto toWhole = [&](SmallVector<int64_t> position) {
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (indices[dim])
        position[dim] = (*indices[dim])[position[dim]];
    return position;
  };
  if (part.first) {
    Comparison::Element element = *part.first;
    element.position = toWhole(element.position);
    if (!total.first || element.position < total.first->position)
      total.first = element;
  }
  if (!isWorse)
    return;
  total.got = part.got;
  total.expected = part.expected;
  total.allowed = part.allowed;
  total.worstPosition = toWhole(part.worstPosition);
  total.worstIndex = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    total.worstIndex = total.worstIndex * shape[dim] + total.worstPosition[dim];
}

static std::string plural(int64_t count, StringRef noun) {
  return std::to_string(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

namespace {
/// Checks parts of the outputs of a straight-line program.
struct PartialCheck {
  LazyProgram &program;
  const VerifyOptions &options;
  /// Set when the reference fails.
  std::optional<Outcome> failure = std::nullopt;
  /// The parts that could not be evaluated, and the reasons.
  std::string tooLarge = {};
  SmallVector<std::string> checked = {};
  /// As in `Outcome`, for the parts evaluated so far.
  int coarseBits = 0;

  /// The comparison at some indices; false if it is too much work.
  bool compareAt(LazyProgram::Node &node, const Array &got,
                 const Indices &indices, Comparison &total);
  bool checkOutput(LazyProgram::Node &node, const Array &got,
                   Comparison &total);
};
} // namespace

bool PartialCheck::compareAt(LazyProgram::Node &node, const Array &got,
                             const Indices &indices, Comparison &total) {
  Run run(options.evaluation);
  ViewRef part = program.evaluate(run, node, indices);
  if (!part) {
    if (run.tooLarge)
      tooLarge = run.message;
    else
      failure = finishRun(run);
    return false;
  }
  Array expected = makeArray(*part, got.elementType);
  Array computed =
      makeArray(*gatherElements(*makeView(got), indices), got.elementType);
  CompareOptions comparison = options.comparison;
  // Parts that were evaluated before do not count again.
  coarseBits = coarseBits ? coarseBits : run.coarseBits.load();
  CoarseLosses losses;
  losses.bits = coarseBits;
  losses.missing = "only some rows and columns are evaluated";
  comparison.losses = coarseBits ? &losses : nullptr;
  merge(total, compare(computed, expected, comparison), indices, got.shape);
  return true;
}

bool PartialCheck::checkOutput(LazyProgram::Node &node, const Array &got,
                               Comparison &total) {
  size_t rank = got.shape.size();
  uint64_t seed = options.evaluation.seed;
  Indices all(rank);
  std::string text;
  auto note = [&](const std::string &what, StringRef separator) {
    if (!text.empty())
      text += separator;
    text += what;
  };
  if (rank == 0) {
    if (!compareAt(node, got, all, total))
      return false;
    checked.push_back("its only element");
    return true;
  }
  if (rank == 1) {
    Indices some(all);
    some[0] = pickSample(0, got.shape[0], options.rows * options.columns, seed);
    if (!compareAt(node, got, some, total))
      return false;
    checked.push_back(plural(some[0]->size(), "element"));
    return true;
  }
  // Evaluate two matrices of a stack.
  Indices some(all);
  int64_t matrices = 1, allMatrices = 1;
  for (size_t dim = 0; dim + 2 < rank; ++dim) {
    some[dim] = pickSample(0, got.shape[dim], 2, seed);
    matrices *= static_cast<int64_t>(some[dim]->size());
    allMatrices *= got.shape[dim];
  }
  int64_t rowCount = got.shape[rank - 2], columnCount = got.shape[rank - 1];
  Indices rows(some), columns(some);
  rows[rank - 2] = pickSample(0, rowCount, options.rows, seed);
  columns[rank - 1] = pickSample(0, columnCount, options.columns, seed);
  bool hasRows = compareAt(node, got, rows, total);
  if (failure)
    return false;
  bool hasColumns = compareAt(node, got, columns, total);
  if (failure)
    return false;
  if (hasRows)
    note(plural(rows[rank - 2]->size(), "row"), "");
  if (hasColumns)
    note(plural(columns[rank - 1]->size(), "column"), " and ");
  if (!text.empty()) {
    text += " in full";
  } else {
    Indices few(some);
    few[rank - 2] = pickSample(0, rowCount, 4, seed);
    few[rank - 1] = pickSample(0, columnCount, 8, seed);
    if (!compareAt(node, got, few, total))
      return false;
    note(plural(few[rank - 2]->size() * few[rank - 1]->size(), "element"), "");
  }
  if (matrices < allMatrices)
    text += " of " + std::to_string(matrices) + " of " +
            std::to_string(allMatrices) + " matrices";
  // Compare the whole output if it is the result of a matmul.
  if (options.projections > 0) {
    Run run(options.evaluation);
    std::optional<Comparison> projected =
        program.project(run, node, *makeView(got), options.projections, seed,
                        options.comparison.slack);
    if (projected) {
      note(plural(options.projections, "random projection"), ", ");
      if (!projected->ok && total.ok) {
        // Which elements it is due to is not known.
        total.ok = false;
        total.mismatchCount += projected->mismatchCount;
        total.nanCount += projected->nanCount;
        total.tolerance = "a random projection of row " +
                          std::to_string(projected->worstIndex) + " differs";
      }
    } else if (run.failed() && !run.tooLarge) {
      failure = finishRun(run);
      return false;
    }
  }
  checked.push_back(text);
  return true;
}

/// None when the program is not of this kind.
static std::optional<Verification> verifyParts(func::FuncOp entry,
                                               ArrayRef<Array> arguments,
                                               ArrayRef<ComputedOutput> outputs,
                                               const VerifyOptions &options,
                                               std::string &reason) {
  LazyProgram program(entry, arguments);
  Run run(options.evaluation);
  prepareRun(run, entry);
  Verification result;
  result.isComplete = false;
  auto stop = [&](const Outcome &outcome) {
    result.status = outcome.status;
    result.message = outcome.message;
    result.ok = false;
    return result;
  };
  if (!program.build(run)) {
    if (run.failed() && !run.tooLarge)
      return stop(finishRun(run));
    reason = program.getReason();
    return std::nullopt;
  }
  PartialCheck check{program, options};
  for (const ComputedOutput &output : outputs) {
    LazyProgram::Node *node = output.isResult
                                  ? program.getResult(output.index)
                                  : program.getArgument(output.index);
    if (!node || node->value->sizes != ArrayRef(output.array.shape)) {
      reason = "an output is not an array";
      return std::nullopt;
    }
    Comparison total;
    if (!check.checkOutput(*node, output.array, total)) {
      if (check.failure)
        return stop(*check.failure);
      Outcome outcome;
      outcome.status = Status::TooLarge;
      outcome.message = "too large to verify, even in parts: " + check.tooLarge;
      return stop(outcome);
    }
    add(result, std::move(total));
  }
  bool areSame = llvm::all_equal(check.checked);
  for (auto [i, text] : llvm::enumerate(check.checked)) {
    if (areSame && i > 0)
      break;
    result.checked += (i ? "; " : "");
    if (!areSame)
      result.checked += "output " + std::to_string(i) + ": ";
    result.checked += text;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Workgroups
//===----------------------------------------------------------------------===//

/// Whether the entry function is one launch, whose workgroups can be evaluated
/// by themselves.
static bool isOneLaunch(func::FuncOp entry, std::string &reason) {
  unsigned launches = 0;
  for (Operation &op : entry.getBody().front()) {
    if (isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op)) {
      ++launches;
      continue;
    }
    bool isHarmless =
        isMemoryEffectFree(&op) ||
        isa<func::ReturnOp, memref::AllocOp, memref::DeallocOp, gpu::WaitOp>(
            op);
    if (!isHarmless) {
      reason =
          "'" + op.getName().getStringRef().str() + "' is outside the kernel";
      return false;
    }
  }
  if (launches != 1) {
    reason = "it is not a single kernel";
    return false;
  }
  Operation *root = entry->getParentOp() ? entry->getParentOp() : entry;
  bool hasAtomics =
      root->walk([](Operation *op) {
            return isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  if (hasAtomics)
    reason = "its workgroups communicate through atomic operations";
  return !hasAtomics;
}

static std::optional<Verification>
verifyWorkgroups(func::FuncOp entry, ArrayRef<Array> arguments,
                 ArrayRef<ComputedOutput> outputs, const VerifyOptions &options,
                 std::string &reason) {
  if (!isOneLaunch(entry, reason))
    return std::nullopt;
  for (const ComputedOutput &output : outputs)
    if (output.isResult) {
      reason = "an output is not memory that the kernel writes";
      return std::nullopt;
    }
  SmallVector<Array> recorded(arguments);
  for (const ComputedOutput &output : outputs) {
    recorded[output.index] = recorded[output.index].clone();
    recorded[output.index].storage->recordWrites();
  }
  Options sampled = options.evaluation;
  sampled.sampledWorkgroups = options.workgroups;
  Evaluation evaluation = evaluate(entry, recorded, sampled);
  const Outcome &outcome = evaluation.outcome;
  Verification result;
  result.isComplete = false;
  result.status = outcome.status;
  result.message = outcome.message;
  if (!outcome.succeeded()) {
    result.ok = false;
    if (outcome.status == Status::TooLarge)
      result.message =
          "too large to verify, even one workgroup: " + outcome.message;
    return result;
  }
  CompareOptions comparison = options.comparison;
  comparison.onlyWritten = true;
  int64_t count = 0;
  for (const ComputedOutput &output : outputs) {
    std::optional<CoarseLosses> losses =
        evaluation.getLosses(/*isResult=*/false, output.index);
    comparison.losses = losses ? &*losses : nullptr;
    add(result, compare(output.array,
                        evaluation.arrays.get(/*isResult=*/false, output.index),
                        comparison));
    count += result.comparisons.back().count;
  }
  result.checked = plural(count, "element") + ", which " +
                   std::to_string(outcome.workgroups) + " of " +
                   plural(outcome.allWorkgroups, "workgroup") + " computed";
  return result;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

Verification tessera::reference::verify(func::FuncOp original,
                                        ArrayRef<Array> arguments,
                                        ArrayRef<ComputedOutput> outputs,
                                        const VerifyOptions &options) {
  Source source(original);
  func::FuncOp entry = source.entry;
  if (!entry)
    return fail(original, "the program cannot be lowered from TOSA");
  Verification result;
  if (std::optional<Outcome> bad = checkEntry(entry, arguments)) {
    result.status = bad->status;
    result.message = bad->message;
    result.ok = false;
    return result;
  }
  for (const ComputedOutput &output : outputs) {
    TypeRange types = output.isResult ? TypeRange(entry.getResultTypes())
                                      : TypeRange(entry.getArgumentTypes());
    bool fits =
        output.index < types.size() && output.array.storage &&
        getElementTypeOrSelf(types[output.index]) == output.array.elementType;
    if (!output.isResult)
      fits = fits && isa<MemRefType>(types[output.index]) &&
             output.array.shape == arguments[output.index].shape;
    if (!fits)
      return fail(entry, "output " + std::to_string(&output - outputs.begin()) +
                             " is not defined by the function");
  }

  std::string effort = "sampling was requested";
  if (!options.forceSampling) {
    Evaluation evaluation =
        evaluateLowered(entry, arguments, options.evaluation);
    const Outcome &outcome = evaluation.outcome;
    result.status = outcome.status;
    result.message = outcome.message;
    if (outcome.status == Status::Failed) {
      result.ok = false;
      return result;
    }
    if (outcome.succeeded()) {
      auto compareAll = [&] {
        for (auto [i, output] : llvm::enumerate(outputs)) {
          CompareOptions comparison = options.comparison;
          if (!output.isResult)
            comparison.before = &arguments[output.index];
          std::optional<CoarseLosses> losses =
              evaluation.getLosses(output.isResult, output.index);
          comparison.losses = losses ? &*losses : nullptr;
          if (i < result.unspecifiedMasks.size() &&
              !result.unspecifiedMasks[i].empty()) {
            comparison.ignored = &result.unspecifiedMasks[i];
            // Blocks would contain them.
            comparison.losses = nullptr;
          }
          add(result,
              compare(output.array,
                      evaluation.arrays.get(output.isResult, output.index),
                      comparison));
        }
      };
      compareAll();
      if (mayBeUnspecified(result, outcome)) {
        findUnspecified(entry, arguments, outputs, evaluation,
                        options.evaluation, result);
        if (!result.unspecified.empty()) {
          result.ok = true;
          result.unverifiedCount = 0;
          result.comparisons.clear();
          compareAll();
        }
      }
      result.checked = "every element";
      return result;
    }
    effort = outcome.message;
    if (options.forbidSampling) {
      result.ok = false;
      result.isComplete = false;
      return result;
    }
  }
  std::string partsReason, launchReason;
  if (std::optional<Verification> parts =
          verifyParts(entry, arguments, outputs, options, partsReason))
    return *std::move(parts);
  if (std::optional<Verification> some =
          verifyWorkgroups(entry, arguments, outputs, options, launchReason))
    return *std::move(some);
  result.status = Status::TooLarge;
  result.ok = false;
  result.isComplete = false;
  result.message =
      "too large to verify in full (" + effort +
      "), and no part of it can be verified by itself: " + partsReason +
      ", and " + launchReason;
  return result;
}
