//===- Chart.cpp - Drawings of dots and lines -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Chart.h"

#include "Tuning/Suggestion.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>

using namespace tessera::tuning;
using mlir::tessera::tuning::escapeHtml;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

void Axis::include(double value) {
  if (!std::isfinite(value) || (isLog && value <= 0))
    return;
  low = isEmpty ? value : std::min(low, value);
  high = isEmpty ? value : std::max(high, value);
  isEmpty = false;
}

/// Makes room around what it shows.
static Axis pad(Axis axis) {
  if (!axis.names.empty()) {
    axis.low = -0.5;
    axis.high = double(axis.names.size()) - 0.5;
  } else if (axis.isEmpty) {
    axis.low = axis.isLog ? 0.1 : 0;
    axis.high = 1;
  } else if (axis.isLog) {
    double factor = std::max(std::pow(axis.high / axis.low, 0.05), 1.02);
    axis.low /= factor;
    axis.high *= factor;
  } else {
    double more = std::max((axis.high - axis.low) * 0.04,
                           std::max(std::abs(axis.high) * 0.01, 1e-9));
    axis.low -= more;
    axis.high += more;
  }
  return axis;
}

/// Round numbers, at most about seven of them.
static std::vector<double> getTicks(const Axis &axis) {
  std::vector<double> ticks;
  if (axis.isLog) {
    bool isWide = axis.high / axis.low > 1e3;
    for (int decade = int(std::floor(std::log10(axis.low))),
             last = int(std::floor(std::log10(axis.high)));
         decade <= last; ++decade)
      for (double digit : {1.0, 2.0, 5.0}) {
        double value = digit * std::pow(10, decade);
        if (value >= axis.low && value <= axis.high && (digit == 1 || !isWide))
          ticks.push_back(value);
      }
    if (ticks.size() >= 2)
      return ticks;
    ticks.clear();
  }
  double rough = (axis.high - axis.low) / 6,
         power = std::pow(10, std::floor(std::log10(rough))), step = 10 * power;
  for (double digit : {5.0, 2.0, 1.0})
    if (digit * power >= rough)
      step = digit * power;
  int64_t first = int64_t(std::ceil(axis.low / step)),
          last = int64_t(std::floor(axis.high / step));
  for (int64_t i = first; i <= last; ++i)
    ticks.push_back(double(i) * step);
  return ticks;
}

/// Where a value is, from 0 to 1.
static double getPosition(const Axis &axis, double value) {
  if (axis.isLog)
    return std::log(value / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

static constexpr int left = 62, right = 12, top = 10, bottom = 40;

Chart::Chart(std::string title, Axis x, Axis y, int width, int height)
    : title(std::move(title)), x(pad(std::move(x))), y(pad(std::move(y))),
      width(width), height(height) {}

double Chart::getX(double value) const {
  return left + getPosition(x, value) * (width - left - right);
}
double Chart::getY(double value) const {
  return height - bottom - getPosition(y, value) * (height - top - bottom);
}

static bool isShown(const Axis &axis, double value) {
  return std::isfinite(value) && value >= axis.low && value <= axis.high;
}

void Chart::addDot(double valueX, double valueY, StringRef style,
                   StringRef hint) {
  if (!isShown(x, valueX) || !isShown(y, valueY))
    return;
  llvm::raw_string_ostream os(body);
  os << "<circle class=\"" << style << "\" r=\"2.5\""
     << llvm::format(" cx=\"%.1f\" cy=\"%.1f\">", getX(valueX), getY(valueY))
     << "<title>" << escapeHtml(hint) << "</title></circle>\n";
}

void Chart::addMark(double value, StringRef style, StringRef hint) {
  if (!isShown(x, value))
    return;
  llvm::raw_string_ostream os(body);
  double position = getX(value);
  os << "<line class=\"" << style << "\""
     << llvm::format(" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\">", position,
                     position, height - bottom - 7, height - bottom)
     << "<title>" << escapeHtml(hint) << "</title></line>\n";
}

void Chart::addLine(ArrayRef<std::pair<double, double>> points,
                    StringRef style) {
  llvm::raw_string_ostream os(body);
  os << "<polyline class=\"" << style << "\" points=\"";
  for (auto [valueX, valueY] : points)
    if (isShown(x, valueX) && isShown(y, valueY))
      os << llvm::format("%.1f,%.1f ", getX(valueX), getY(valueY));
  os << "\"/>\n";
}

void Chart::addLevel(double value, StringRef style, StringRef label) {
  if (!isShown(y, value))
    return;
  llvm::raw_string_ostream os(body);
  double position = getY(value);
  os << "<line class=\"" << style << "\""
     << llvm::format(" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", left,
                     width - right, position, position)
     << llvm::format("<text x=\"%d\" y=\"%.1f\" class=\"level\">",
                     width - right - 4 - 190 * levels++,
                     std::max(position - 3, double(top)))
     << escapeHtml(label) << "</text>\n";
}

void Chart::drawAxes(llvm::raw_ostream &os) const {
  for (double tick : getTicks(y)) {
    double position = getY(tick);
    os << llvm::format("<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                       "y2=\"%.1f\"/>",
                       left, width - right, position, position)
       << llvm::format("<text class=\"y\" x=\"%d\" y=\"%.1f\">%.6g</text>\n",
                       left - 5, position + 4, tick);
  }
  auto write = [&](double value, const std::string &text) {
    os << llvm::format("<text class=\"x\" x=\"%.1f\" y=\"%d\">", getX(value),
                       height - bottom + 14)
       << escapeHtml(text) << "</text>\n";
  };
  if (x.names.empty())
    for (double tick : getTicks(x)) {
      std::string text;
      llvm::raw_string_ostream(text) << llvm::format("%.6g", tick);
      write(tick, text);
    }
  for (size_t i = 0; i < x.names.size(); ++i)
    write(double(i), x.names[i]);
  os << llvm::format("<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", left, top,
                     height - bottom, width - right)
     << llvm::format("<text class=\"x\" x=\"%d\" y=\"%d\">",
                     (left + width - right) / 2, height - 8)
     << escapeHtml(x.title) << "</text>\n"
     << llvm::format("<text class=\"x\" transform=\"translate(12 %d) "
                     "rotate(-90)\">",
                     (top + height - bottom) / 2)
     << escapeHtml(y.title) << "</text>\n";
}

void Chart::write(llvm::raw_ostream &os) const {
  os << llvm::format("<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                     "role=\"img\">",
                     width, height, width, height)
     << "<title>" << escapeHtml(title) << "</title>\n";
  drawAxes(os);
  os << body << "</svg>\n";
}
