//===- OutputStatistics.cpp - Statistics of errors ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/OutputStatistics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace tessera::execution;
using compiler::reference::Comparison;

namespace reference = compiler::reference;

FailureOr<reference::Array>
tessera::execution::toReference(const runtime::HostArray &array,
                                mlir::Type type, StringRef purpose,
                                Report &report) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  ArrayRef<char> bytes(reinterpret_cast<const char *>(array.data.data()),
                       array.data.size());
  FailureOr<reference::Array> converted =
      reference::Array::decode(element, array.shape, bytes);
  if (failed(converted))
    (void)report.fail(Exit::Failed,
                      "the reference does not support element type " +
                          StringRef(runtime::elementTypeName(array.type)) +
                          "; run without " + purpose);
  return converted;
}

FailureOr<llvm::SmallVector<reference::Array>> tessera::execution::toReference(
    const Entry &entry, const std::vector<runtime::HostArray> &arguments,
    StringRef purpose, Report &report) {
  llvm::SmallVector<reference::Array> arrays;
  for (const auto &[slot, array] :
       llvm::zip_equal(entry.arguments, arguments)) {
    FailureOr<reference::Array> converted =
        toReference(array, slot.type, purpose, report);
    if (failed(converted))
      return failure();
    arrays.push_back(std::move(*converted));
  }
  return arrays;
}

std::string tessera::execution::formatPosition(ArrayRef<int64_t> position) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(position, os);
  os << "]";
  return text;
}

void tessera::execution::printBlocks(const Comparison &comparison,
                                     llvm::raw_ostream &os) {
  if (!comparison.worstBlock)
    return;
  os << "  " << comparison.wrongBlockCount << " of " << comparison.blockCount
     << " tiles, rows and columns are wrong as a whole; the worst: "
     << comparison.worstBlock->describe() << "\n";
}

void tessera::execution::printSensitivity(const Comparison &comparison,
                                          llvm::raw_ostream &os) {
  if (!comparison.insensitiveTileCount.value_or(0))
    return;
  os << "  warning: " << *comparison.insensitiveTileCount << " of "
     << comparison.tileCount
     << " tiles of 16x16 would be accepted without 32 terms of their sums: "
        "these change a tile by "
     << llvm::format("%.2g", comparison.stepChange)
     << " (root mean square), and rounding may change it by "
     << llvm::format("%.2g", comparison.stepAllowed) << "\n";
}

static llvm::json::Object describeBlocks(const Comparison &comparison) {
  llvm::json::Object object{{"compared", comparison.blockCount},
                            {"wrong", comparison.wrongBlockCount}};
  if (comparison.insensitiveTileCount) {
    object["tiles"] = comparison.tileCount;
    object["insensitive_tiles"] = *comparison.insensitiveTileCount;
  }
  if (const auto &block = comparison.worstBlock)
    object["worst"] =
        llvm::json::Object{{"kind", block->kind},
                           {"at", llvm::json::Array(block->position)},
                           {"size", {block->rows, block->columns}},
                           {"rms_error", toJSON(block->rms)},
                           {"allowed", toJSON(block->allowed)}};
  return object;
}

void tessera::execution::printStatistics(const Comparison &comparison,
                                         const Output &output,
                                         const Sides &sides,
                                         llvm::raw_ostream &os) {
  bool isFloat = runtime::isFloat(output.array.type);
  os << "  absolute error: max " << llvm::format("%.6g", comparison.maxAbs)
     << ", mean " << llvm::format("%.6g", comparison.meanAbs()) << "\n"
     << "  relative error: max " << llvm::format("%.6g", comparison.maxRel)
     << "\n";
  if (isFloat)
    os << "  ulp of " << runtime::elementTypeName(output.array.type) << ": max "
       << llvm::format("%.6g", comparison.maxUlp) << "\n"
       << "  NaN: " << comparison.gotNaNs << " " << sides.got << ", "
       << comparison.expectedNaNs << " " << sides.expected << "\n"
       << "  infinite: " << comparison.gotInfinities << " " << sides.got << ", "
       << comparison.expectedInfinities << " " << sides.expected << "\n";
  if (sides.neverWritten)
    os << "  never written: " << *sides.neverWritten << "\n";
  if (comparison.unchangedCount)
    os << "  wrong, and unchanged by the run: " << comparison.unchangedCount
       << "\n";
}

llvm::json::Object tessera::execution::describeStatistics(
    const Comparison &comparison, const Output &output, const Sides &sides) {
  llvm::json::Object object{
      {"name", output.name},
      {"passed", comparison.ok},
      {"max_abs_error", toJSON(comparison.maxAbs)},
      {"mean_abs_error", toJSON(comparison.meanAbs())},
      {"max_rel_error", toJSON(comparison.maxRel)},
      {"max_ulp", toJSON(comparison.maxUlp)},
      {"checked", comparison.count},
      {"mismatches", comparison.mismatchCount},
      {"nans", comparison.nanCount},
      {"nans_computed", comparison.gotNaNs},
      {"nans_expected", comparison.expectedNaNs},
      {"infinities_computed", comparison.gotInfinities},
      {"infinities_expected", comparison.expectedInfinities},
      {"as_before_the_run", comparison.unchangedCount},
      {"exact", comparison.exactCount},
      {"unbounded", comparison.unboundedCount},
      {"permissive", comparison.permissiveCount},
      {"tolerance", comparison.tolerance}};
  if (comparison.blockCount)
    object["blocks"] = describeBlocks(comparison);
  if (sides.neverWritten)
    object["never_written"] = *sides.neverWritten;
  if (comparison.first)
    object["first"] = llvm::json::Object{
        {"at", llvm::json::Array(comparison.first->position)},
        {"got", toJSON(comparison.first->got)},
        {"expected", toJSON(comparison.first->expected)}};
  if (comparison.worstIndex >= 0)
    object["worst"] =
        llvm::json::Object{{"at", llvm::json::Array(comparison.worstPosition)},
                           {"got", toJSON(comparison.got)},
                           {"expected", toJSON(comparison.expected)},
                           {"allowed", toJSON(comparison.allowed)}};
  return object;
}
