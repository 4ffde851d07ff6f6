//===- Chart.h - Drawings of dots and lines ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_CHART_H
#define REPORT_CHART_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera::tuning {

using llvm::ArrayRef;
using llvm::StringRef;

/// One of a drawing's axes.
struct Axis {
  explicit Axis(std::string title, bool isLog = false)
      : title(std::move(title)), isLog(isLog) {}

  std::string title;
  bool isLog;
  /// Names of the values 0, 1, ...; other axes show the numbers.
  std::vector<std::string> names;
  /// The range that it shows, which `include` widens.
  double low = 0, high = 0;
  bool isEmpty = true;

  /// Not for a logarithmic axis: a number that is not positive.
  void include(double value);
};

/// A drawing as SVG inside of a page, whose style defines its classes.
class Chart {
public:
  /// `width` and `height` in pixels. The axes include all that is drawn;
  /// elements outside of them are left out.
  Chart(std::string title, Axis x, Axis y, int width, int height);

  /// A dot, with what a pointer over it shows.
  void addDot(double x, double y, StringRef style, StringRef hint);
  /// A mark on the axis of x.
  void addMark(double x, StringRef style, StringRef hint);
  void addLine(ArrayRef<std::pair<double, double>> points, StringRef style);
  /// A line across, with its name.
  void addLevel(double y, StringRef style, StringRef label);

  void write(llvm::raw_ostream &os) const;

private:
  double getX(double value) const;
  double getY(double value) const;
  void drawAxes(llvm::raw_ostream &os) const;

  std::string title;
  Axis x, y;
  int width, height;
  /// How many there are: their names are beside each other.
  int levels = 0;
  /// The elements to draw, in order.
  std::string body;
};

} // namespace tessera::tuning

#endif // REPORT_CHART_H
