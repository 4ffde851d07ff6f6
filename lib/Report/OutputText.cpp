//===- OutputText.cpp - The outputs of a run, as text ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/OutputText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace tessera::execution;
using runtime::HostArray;

/// An element with as many digits as a person reads.
static std::string formatElement(const HostArray &array, int64_t index) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!runtime::isFloat(array.type))
    os << array.getInt(index);
  else if (double value = array.getDouble(index); std::isnan(value))
    os << "nan";
  else
    os << llvm::format("%.6g", value);
  return text;
}

/// The elements of a small array, a line for each row or for 16 of a vector.
static void printElements(const HostArray &array, llvm::raw_ostream &os) {
  constexpr int64_t most = 64;
  int64_t size = array.size();
  if (size > most || size == 0)
    return;
  int64_t row = array.shape.size() > 1 ? array.shape.back() : 16;
  size_t width = 0;
  for (int64_t i = 0; i < size; ++i)
    width = std::max(width, formatElement(array, i).size());
  for (int64_t i = 0; i < size; ++i)
    os << (i % row == 0 ? "  " : " ")
       << llvm::right_justify(formatElement(array, i), width)
       << (i % row == row - 1 || i == size - 1 ? "\n" : "");
}

static void printOutput(size_t index, const Output &output, Report &report,
                        llvm::json::Array &list) {
  const HostArray &array = output.array;
  double least = INFINITY, greatest = -INFINITY, sum = 0;
  int64_t nans = 0, size = array.size();
  for (int64_t i = 0; i < size; ++i) {
    double value = array.getDouble(i);
    if (std::isnan(value)) {
      ++nans;
      continue;
    }
    least = std::min(least, value);
    greatest = std::max(greatest, value);
    sum += value;
  }
  bool hasNumbers = size > nans;
  double mean = sum / static_cast<double>(size - nans);
  uint32_t checksum = llvm::crc32(ArrayRef(
      reinterpret_cast<const uint8_t *>(array.data.data()), array.data.size()));
  StringRef element = runtime::elementTypeName(array.type);

  llvm::raw_ostream &os = report.text();
  os << "out " << index << " = " << output.name << ": "
     << formatType(array.shape, element);
  if (hasNumbers)
    os << llvm::format(", min %.6g, max %.6g, mean %.6g", least, greatest,
                       mean);
  if (nans)
    os << ", " << nans << " NaN";
  os << llvm::format(", checksum %08x\n", checksum);
  printElements(array, os);
  list.push_back(llvm::json::Object{
      {"name", output.name},
      {"element_type", element},
      {"shape", llvm::json::Array(array.shape)},
      {"min", hasNumbers ? toJSON(least) : nullptr},
      {"max", hasNumbers ? toJSON(greatest) : nullptr},
      {"mean", hasNumbers ? toJSON(mean) : nullptr},
      {"nans", nans},
      {"checksum",
       llvm::utohexstr(checksum, /*LowerCase=*/true, /*Width=*/8)}});
}

void tessera::execution::printOutputs(const std::vector<Output> &outputs,
                                      Report &report) {
  llvm::json::Array list;
  for (auto [i, output] : llvm::enumerate(outputs))
    printOutput(i, output, report, list);
  report.root["outputs"] = std::move(list);
}
