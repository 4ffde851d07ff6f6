//===- PlantedFault.cpp - A fault that --verify must find -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/PlantedFault.h"

#include <algorithm>
#include <cmath>

using namespace tessera::execution;
using tessera::runtime::HostArray;

std::optional<PlantedFault>
tessera::execution::findPlantedFault(llvm::StringRef name) {
  if (name == "element")
    return PlantedFault::Element;
  if (name == "zero-row")
    return PlantedFault::ZeroRow;
  if (name == "swapped-rows")
    return PlantedFault::SwappedRows;
  return std::nullopt;
}

/// The largest finite magnitude of an array's elements; 0 if there is none.
static double getLargest(const HostArray &array) {
  double largest = 0;
  for (int64_t i = 0; i < array.size(); ++i)
    if (double value = std::fabs(array.getDouble(i)); std::isfinite(value))
      largest = std::max(largest, value);
  return largest;
}

static std::string plantElement(HostArray &array) {
  int64_t position = array.size() / 2;
  double old = array.getDouble(position);
  // Where terms cancel, as in gelu of a large negative number, the bound of the
  // error is that of the terms. If all elements are zero, it may permit every
  // number.
  double scale = old == 0 ? getLargest(array) : std::fabs(old),
         other = scale == 0 ? std::nan("") : old + scale + 1;
  if (tessera::runtime::isFloat(array.type))
    array.setDouble(position, std::isfinite(old) ? other : 0);
  else
    array.setInt(position, array.getInt(position) ^ 1);
  // Beyond the type's largest number, or where that is 1: i1, f8.
  double now = array.getDouble(position);
  if (now == old)
    array.setDouble(position, old == 0 ? 1 : -old);
  return "element " + std::to_string(position);
}

/// Copies one element of `from` to one of `to`.
static void copy(HostArray &to, int64_t target, const HostArray &from,
                 int64_t source) {
  if (tessera::runtime::isFloat(to.type))
    to.setDouble(target, from.getDouble(source));
  else
    to.setInt(target, from.getInt(source));
}

std::string tessera::execution::plant(PlantedFault fault, HostArray &array) {
  int64_t size = array.size();
  if (size == 0)
    return "";
  int64_t length = array.shape.empty() ? 1 : array.shape.back();
  int64_t rows = size / length;
  HostArray before = array;
  if (fault == PlantedFault::ZeroRow && rows > 1) {
    int64_t row = rows / 2;
    for (int64_t i = 0; i < length; ++i)
      if (tessera::runtime::isFloat(array.type))
        array.setDouble(row * length + i, 0);
      else
        array.setInt(row * length + i, 0);
    // A NaN that becomes a number is a change, and -0 that becomes 0 is none.
    for (int64_t i = row * length; i < (row + 1) * length; ++i)
      if (before.getDouble(i) != 0)
        return "row " + std::to_string(row) + " is zero";
    array = before;
  }
  if (fault == PlantedFault::SwappedRows && rows > 1) {
    int64_t first = 0, second = rows / 2;
    bool differs = false;
    for (int64_t i = 0; i < length; ++i) {
      int64_t a = first * length + i, b = second * length + i;
      copy(array, a, before, b);
      copy(array, b, before, a);
      double x = before.getDouble(a), y = before.getDouble(b);
      differs |= x != y && !(std::isnan(x) && std::isnan(y));
    }
    if (differs)
      return "rows " + std::to_string(first) + " and " +
             std::to_string(second) + " are swapped";
    array = before;
  }
  return plantElement(array);
}
