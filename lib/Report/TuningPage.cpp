//===- TuningPage.cpp - All there is to see, on one page ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The page loads nothing and runs nothing. It has a section for each task, chip
// and device, with a part for each question: writeBest, writeCurve,
// writeParameters, writeRoofline, writeFailures, writeClocks,
// writeEnvironments.
//
//===----------------------------------------------------------------------===//

#include "Report/TuningPage.h"

#include "Report/Chart.h"
#include "Report/ScheduleText.h"
#include "Tuning/Suggestion.h"

#include "TargetInfo/Peaks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <set>
#include <tuple>

using namespace tessera::tuning;
using namespace mlir::tessera::tuning;
using llvm::raw_ostream;

static constexpr const char tuningStyle[] = R"(
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --faint: #ddd;
  --soft: #666; --dot: #1f6fb2; --slow: #8a6d00; --best: #b3261e; --own: #7b3fa0; --library: #1b7f4b; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #16181b; --faint: #3a3d42;
  --soft: #9aa0a6; --dot: #6cb2ee; --slow: #d9b84a; --best: #ff7b72; --own: #d2a8ff; --library: #56d364; } }
body { font: 14px/1.45 sans-serif; margin: 1.2em; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.4em; } h2 { font-size: 1.2em; border-top: 1px solid var(--faint); padding-top: .8em; }
h3 { font-size: 1em; margin: 1.2em 0 .3em; } p { max-width: 60em; margin: .3em 0; }
pre, code { font: 12px/1.4 monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
table { border-collapse: collapse; margin: .3em 0; }
td, th { border: 1px solid var(--faint); padding: .2em .6em; text-align: left; vertical-align: top; }
td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
a { color: var(--dot); } .charts { display: flex; flex-wrap: wrap; gap: .6em; }
svg { max-width: 100%; height: auto; font: 11px sans-serif; }
svg text { fill: var(--soft); } svg .x { text-anchor: middle; } svg .y, svg .level { text-anchor: end; }
svg .grid { stroke: var(--faint); } svg .axis { stroke: var(--soft); fill: none; }
svg .measured { fill: var(--dot); fill-opacity: .6; } svg .slow { fill: none; stroke: var(--slow); }
svg .best { fill: var(--best); } svg .own { fill: var(--own); } svg .library { fill: var(--library); }
svg .failed { stroke: var(--best); stroke-width: 1.5; }
svg .curve { fill: none; stroke: var(--best); stroke-width: 1.5; }
svg .roof { fill: none; stroke: var(--ink); stroke-width: 1.5; }
svg line.own { stroke: var(--own); stroke-dasharray: 6 3; } svg line.library { stroke: var(--library); stroke-dasharray: 2 3; }
svg .before { fill: var(--dot); } svg .after { fill: none; stroke: var(--own); }
)";

/// Records of the search, numbered from 1 in their order. These are drawn.
/// Those of the final comparison are measured again.
static std::vector<const Record *> getCandidates(const Summary &summary) {
  std::vector<const Record *> candidates;
  for (const Record &record : summary.records)
    if (!record.isFinal)
      candidates.push_back(&record);
  return candidates;
}

/// Whether there is a time to draw.
static bool hasTime(const Record &record) {
  return (record.outcome == Outcome::Measured ||
          record.outcome == Outcome::Slow) &&
         record.median > 0;
}

static StringRef getStyle(const Record &record) {
  return record.outcome == Outcome::Measured ? "measured" : "slow";
}

static std::string formatHint(size_t number, const Record &record) {
  return "#" + std::to_string(number) + " " + formatTime(record.median);
}

using mlir::tessera::tuning::escapeHtml;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

template <typename T>
static void writeTimeCells(const Summary &summary, const T &entry,
                           raw_ostream &os) {
  os << "<td class=\"n\">" << formatTime(entry.median)
     << "</td><td class=\"n\">"
     << llvm::format("%.4g to %.4g", entry.low, entry.high)
     << "</td><td class=\"n\">";
  if (double rate = getRate(summary.text, entry.median))
    os << formatRate(rate);
  else
    os << "unknown";
  os << "</td>";
}

static void writeSpeedupCell(const Speedup &speedup, Nearness nearness,
                             raw_ostream &os) {
  os << "<td>" << llvm::format("%.3f", speedup.ratio) << " ("
     << llvm::format("%.3f to %.3f", speedup.low, speedup.high) << "), "
     << describe(nearness) << "</td>";
}

/// The best one, beside the compiler's own choice and the library.
static void writeBest(const Summary &summary, raw_ostream &os) {
  os << "<h3>Best</h3>\n";
  if (!summary.best) {
    os << "<p>No candidate was measured.</p>\n";
    return;
  }
  const Record &best = *summary.best;
  os << "<table class=\"best\"><tr><th></th><th>time</th><th>95 % "
        "interval</th><th>rate</th><th>speedup of the "
        "best</th><th>schedule</th></tr>\n<tr><td>best"
     << (best.schedule.empty() ? ", the compiler's own choice" : "")
     << (best.isFinal ? ", of the final comparison" : ", of the search")
     << "</td>";
  writeTimeCells(summary, best, os);
  os << "<td></td><td><code>" << escapeHtml(getSchedule(best))
     << "</code></td></tr>\n";
  if (summary.own) {
    os << "<tr><td>the compiler's own choice</td>";
    writeTimeCells(summary, *summary.own, os);
    writeSpeedupCell(summary.overOwn, summary.ownNearness, os);
    os << "<td><code>" << escapeHtml(getSchedule(*summary.own))
       << "</code></td></tr>\n";
  }
  if (summary.library) {
    os << "<tr><td>" << escapeHtml(summary.library->library) << "</td>";
    writeTimeCells(summary, *summary.library, os);
    writeSpeedupCell(summary.overLibrary, summary.libraryNearness, os);
    os << "<td></td></tr>\n";
  }
  os << "</table>\n";
  if (!summary.own && !best.schedule.empty())
    os << "<p>The compiler's own choice was not measured there.</p>\n";
  if (!summary.library)
    os << "<p>No library was measured there.</p>\n";
}

/// The fastest candidates, by which the dots' numbers can be looked up.
static void writeLeaders(const Summary &summary, raw_ostream &os) {
  constexpr size_t most = 20;
  std::vector<std::pair<size_t, const Record *>> leaders;
  for (auto [i, record] : llvm::enumerate(getCandidates(summary)))
    if (record->outcome == Outcome::Measured)
      leaders.emplace_back(i + 1, record);
  llvm::stable_sort(leaders, [](const auto &a, const auto &b) {
    return a.second->median < b.second->median;
  });
  if (leaders.empty())
    return;
  size_t shown = std::min(most, leaders.size());
  os << "<details><summary>The fastest " << shown << " of " << leaders.size()
     << " measured in the search</summary>\n<table class=\"leaders\"><tr>"
        "<th>#</th><th>time</th><th>95 % interval</th><th>rate</th>"
        "<th>schedule</th></tr>\n";
  for (auto [number, record] : llvm::ArrayRef(leaders).take_front(shown)) {
    os << "<tr><td class=\"n\">" << number << "</td>";
    writeTimeCells(summary, *record, os);
    os << "<td><code>" << escapeHtml(getSchedule(*record)) << "</code>"
       << (record->schedule.empty() ? ", the compiler's own choice" : "")
       << "</td></tr>\n";
  }
  os << "</table></details>\n";
}

/// Prints the failures by kind, with the first messages of each.
static void writeFailures(const Summary &summary, raw_ostream &os) {
  constexpr size_t most = 3;
  os << "<h3>Outcomes of the candidates</h3>\n<table class=\"outcomes\">"
        "<tr><th>outcome</th><th>how many</th><th>first messages</th></tr>\n";
  for (auto [outcome, count] : summary.outcomes) {
    os << "<tr><td>" << getOutcomeName(outcome) << "</td><td class=\"n\">"
       << count << "</td><td>";
    // Each message once, in the order in which they came.
    std::vector<const Record *> first;
    std::map<StringRef, size_t> times;
    for (const Record &record : summary.records)
      if (record.outcome == outcome && !record.error.empty())
        if (++times[record.error] == 1)
          first.push_back(&record);
    for (const Record *record : llvm::ArrayRef(first).take_front(most))
      os << "<details><summary>" << times[record->error] << " times: "
         << escapeHtml(StringRef(record->error)
                           .trim()
                           .split('\n')
                           .first.take_front(160))
         << "</summary><pre>" << escapeHtml(record->error)
         << "</pre><p>first with "
         << "<code>" << escapeHtml(getSchedule(*record))
         << "</code></p></details>\n";
    if (first.size() > most)
      os << "<p>and " << first.size() - most << " other messages</p>";
    os << "</td></tr>\n";
  }
  os << "</table>\n";
}

static void writeEnvironments(const Summary &summary, raw_ostream &os) {
  using Key = std::tuple<std::string, std::string, std::string, std::string,
                         std::string, std::string>;
  struct Use {
    size_t count = 0;
    std::string first, last;
  };
  std::map<Key, Use> environments;
  auto add = [&](const Environment &e, const std::string &when) {
    Use &use = environments[{e.device, e.driver, e.compiler, e.build, e.host,
                             e.features}];
    use.first = use.count == 0 ? when : std::min(use.first, when);
    use.last = std::max(use.last, when);
    ++use.count;
  };
  for (const Record &record : summary.records)
    add(record.environment, record.when);
  for (const Baseline &baseline : summary.baselines)
    add(baseline.environment, baseline.when);
  os << "<h3>Environment</h3>\n";
  if (environments.size() > 1)
    os << "<p>There is more than one, and the charts show the times of all of "
          "them: --run=N shows one run.</p>\n";
  os << "<table class=\"environments\"><tr><th>device</th><th>driver</th><th>"
        "compiler</th><th>build</th><th>host</th><th>features</th><th>"
        "times</th><th>from</th><th>to</th></tr>\n";
  for (const auto &[key, use] : environments) {
    os << "<tr>";
    std::apply(
        [&](const auto &...texts) {
          ((os << "<td>" << escapeHtml(texts) << "</td>"), ...);
        },
        key);
    os << "<td class=\"n\">" << use.count << "</td><td>"
       << escapeHtml(use.first) << "</td><td>" << escapeHtml(use.last)
       << "</td></tr>\n";
  }
  os << "</table>\n";
}

//===----------------------------------------------------------------------===//
// Drawings
//===----------------------------------------------------------------------===//

/// The best time so far, over the candidates in their order.
static void writeCurve(const Summary &summary, raw_ostream &os) {
  std::vector<const Record *> candidates = getCandidates(summary);
  os << "<h3>Best so far</h3>\n";
  Axis x("candidate"), y("ms", /*isLog=*/true);
  x.include(0);
  x.include(double(candidates.size()));
  for (const Record *record : candidates)
    if (hasTime(*record))
      y.include(record->median);
  if (y.isEmpty) {
    os << "<p>No candidate has a time.</p>\n";
    return;
  }
  if (summary.own)
    y.include(summary.own->median);
  if (summary.library)
    y.include(summary.library->median);
  Chart chart("Best so far", x, y, 760, 320);
  std::vector<std::pair<double, double>> curve;
  for (auto [i, record] : llvm::enumerate(candidates)) {
    double position = double(i + 1);
    if (!hasTime(*record)) {
      chart.addMark(position, "failed",
                    "#" + std::to_string(i + 1) + " " +
                        getOutcomeName(record->outcome).str());
      continue;
    }
    chart.addDot(position, record->median, getStyle(*record),
                 formatHint(i + 1, *record));
    if (record->outcome != Outcome::Measured)
      continue;
    if (!curve.empty() && record->median >= curve.back().second)
      continue;
    if (!curve.empty())
      curve.emplace_back(position, curve.back().second);
    curve.emplace_back(position, record->median);
  }
  if (!curve.empty())
    curve.emplace_back(double(candidates.size()), curve.back().second);
  chart.addLine(curve, "curve");
  if (summary.own)
    chart.addLevel(summary.own->median, "own", "the compiler's own choice");
  if (summary.library)
    chart.addLevel(summary.library->median, "library",
                   summary.library->library);
  os << "<div class=\"charts\" data-chart=\"curve\">\n";
  chart.write(os);
  os << "</div>\n<p>Dots are measured candidates, rings are candidates too "
        "slow for precise timing, marks below are candidates without a "
        "time.</p>\n";
}

/// Times over the values of each entry of the schedules.
static void writeParameters(const Summary &summary, raw_ostream &os) {
  os << "<h3>Along each parameter</h3>\n";
  struct Point {
    size_t number;
    const Record *record;
    std::map<std::string, std::string> entries;
  };
  std::vector<Point> points;
  std::map<std::string, std::set<std::string>> values;
  for (auto [i, record] : llvm::enumerate(getCandidates(summary))) {
    if (!hasTime(*record))
      continue;
    Point point{i + 1, record, parseSchedule(getSchedule(*record))};
    for (const auto &[name, value] : point.entries)
      values[name].insert(value);
    points.push_back(std::move(point));
  }
  if (values.empty()) {
    os << "<p>No candidate has a time and a schedule.</p>\n";
    return;
  }
  os << "<div class=\"charts\">\n";
  std::vector<std::string> fixed;
  for (const auto &[name, seen] : values) {
    if (seen.size() == 1) {
      fixed.push_back(name + " = " + *seen.begin());
      continue;
    }
    Axis x(name), y("ms", /*isLog=*/true);
    x.names.assign(seen.begin(), seen.end());
    llvm::sort(x.names, [](const std::string &a, const std::string &b) {
      return isBefore(a, b);
    });
    for (const Point &point : points)
      if (point.entries.count(name))
        y.include(point.record->median);
    int width = 90 + std::clamp(int(x.names.size()) * 58, 200, 660);
    std::vector<std::string> names = x.names;
    Chart chart("Times over " + name, x, y, width, 230);
    for (const Point &point : points) {
      auto entry = point.entries.find(name);
      if (entry == point.entries.end())
        continue;
      // Dots of one value are beside each other, the same way each time.
      double aside = std::fmod(double(point.number) * 0.618034, 1.0) - 0.5;
      double position =
          double(llvm::find(names, entry->second) - names.begin());
      bool isBest = summary.best &&
                    getSchedule(*summary.best) == getSchedule(*point.record) &&
                    point.record->outcome == Outcome::Measured;
      chart.addDot(position + aside * 0.6, point.record->median,
                   isBest ? "best" : getStyle(*point.record),
                   formatHint(point.number, *point.record));
    }
    os << "<div data-chart=\"parameter\" data-parameter=\"" << escapeHtml(name)
       << "\">\n";
    chart.write(os);
    os << "</div>\n";
  }
  os << "</div>\n";
  if (!fixed.empty())
    os << "<p>The same in all of them: <code>"
       << escapeHtml(llvm::join(fixed, ", ")) << "</code></p>\n";
}

static void writeRoofline(const Summary &summary, raw_ostream &os) {
  os << "<h3>Roofline</h3>\n";
  auto none = [&](StringRef why) {
    os << "<p>No roofline: " << escapeHtml(why) << ".</p>\n";
  };
  const TaskText &text = summary.text;
  if (!summary.best)
    return none("no candidate was measured");
  if (text.operations <= 0 || text.bytes <= 0)
    return none("the task's operations and bytes were not recorded");
  if (text.rateType.empty())
    return none("the type whose rate the task has was not recorded");
  std::string why;
  std::optional<mlir::tessera::Roof> roof =
      mlir::tessera::findRoof(summary.task.chip, summary.device, /*units=*/0,
                              /*clockMHz=*/0, text.rateType, why);
  if (!roof)
    return none(why);
  double intensity = text.operations / text.bytes;
  double ridge = roof->bytes > 0 ? roof->operations / roof->bytes : intensity;
  bool byMemory = intensity < ridge;
  double most = byMemory ? intensity * roof->bytes : roof->operations;
  double rate = getRate(text, summary.best->median);
  constexpr double tera = 1e12;
  Axis x("FLOP/B", /*isLog=*/true), y("TFLOP/s", /*isLog=*/true);
  x.include(std::min(intensity, ridge) / 8);
  x.include(std::max(intensity, ridge) * 8);
  y.include(roof->operations / tera);
  y.include(std::min(rate, most) / 8 / tera);
  y.include(rate / tera);
  Chart chart("Roofline", x, y, 480, 300);
  std::vector<std::pair<double, double>> line;
  if (roof->bytes > 0) {
    // The slope begins where it comes into sight.
    double start = std::max(x.low, y.low * tera / roof->bytes);
    line.emplace_back(start, start * roof->bytes / tera);
    line.emplace_back(ridge, roof->operations / tera);
  } else {
    line.emplace_back(x.low, roof->operations / tera);
  }
  line.emplace_back(x.high, roof->operations / tera);
  chart.addLine(line, "roof");
  auto add = [&](double time, StringRef kind, StringRef name) {
    double reached = getRate(text, time);
    chart.addDot(intensity, reached / tera, kind,
                 name.str() + ": " + formatRate(reached));
  };
  if (summary.library)
    add(summary.library->median, "library", summary.library->library);
  if (summary.own)
    add(summary.own->median, "own", "the compiler's own choice");
  add(summary.best->median, "best", "best");
  os << "<div class=\"charts\" data-chart=\"roofline\">\n";
  chart.write(os);
  os << "</div>\n<p>" << llvm::format("%.1f", intensity) << " FLOP/B, at most "
     << formatRate(most) << " by its " << (byMemory ? "memory" : "arithmetic")
     << "; the best reaches " << llvm::format("%.1f", 100 * rate / most)
     << " % of that (roof: " << escapeHtml(roof->source);
  if (roof->bytes <= 0)
    os << ", memory bandwidth unknown";
  os << ").</p>\n";
}

/// The device's clock before and after each candidate.
static void writeClocks(const Summary &summary, raw_ostream &os) {
  os << "<h3>Clocks</h3>\n";
  std::vector<const Record *> candidates = getCandidates(summary);
  Axis x("candidate"), y("MHz");
  x.include(0);
  x.include(double(candidates.size()));
  for (const Record *record : candidates)
    for (int64_t clock : {record->clockBefore, record->clockAfter})
      if (clock > 0)
        y.include(double(clock));
  if (y.isEmpty) {
    os << "<p>The device did not report clocks.</p>\n";
    return;
  }
  Chart chart("Clocks", x, y, 760, 200);
  for (auto [i, record] : llvm::enumerate(candidates)) {
    std::string number = "#" + std::to_string(i + 1);
    if (record->clockBefore > 0)
      chart.addDot(double(i + 1), double(record->clockBefore), "before",
                   number + " before: " + std::to_string(record->clockBefore) +
                       " MHz");
    if (record->clockAfter > 0)
      chart.addDot(double(i + 1), double(record->clockAfter), "after",
                   number + " after: " + std::to_string(record->clockAfter) +
                       " MHz");
  }
  os << "<div class=\"charts\" data-chart=\"clocks\">\n";
  chart.write(os);
  os << "</div>\n<p>Dots are clocks before the runs of a candidate, rings "
        "after them.</p>\n";
}

/// Prints times expected by the machine model next to measured times.
static void writeModel(const Summary &summary, raw_ostream &os) {
  Axis x("expected, ms", /*isLog=*/true), y("measured, ms", /*isLog=*/true);
  std::vector<std::pair<size_t, const Record *>> points;
  for (auto [i, record] : llvm::enumerate(getCandidates(summary)))
    if (hasTime(*record) && record->expected > 0) {
      points.emplace_back(i + 1, record);
      x.include(record->expected);
      y.include(record->median);
    }
  if (points.empty())
    return;
  Chart chart("Expected and measured times", x, y, 420, 320);
  for (auto [number, record] : points)
    chart.addDot(record->expected, record->median, getStyle(*record),
                 formatHint(number, *record) + ", expected " +
                     formatTime(record->expected));
  os << "<h3>Expected and measured</h3>\n<div class=\"charts\" "
        "data-chart=\"model\">\n";
  chart.write(os);
  os << "</div>\n";
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

static void writeTask(const Summary &summary, size_t number, raw_ostream &os) {
  const TaskText &text = summary.text;
  os << "<section class=\"task\" id=\"task-" << number << "\"><h2>"
     << escapeHtml(text.description.empty() ? text.key : text.description)
     << " on " << escapeHtml(summary.task.target) << ":"
     << escapeHtml(summary.task.chip) << "</h2>\n<p>Task "
     << escapeHtml(text.key);
  if (text.operations > 0)
    os << llvm::format(", %.4g FLOP", text.operations);
  if (text.bytes > 0)
    os << llvm::format(", %.4g bytes of operands and result", text.bytes);
  os << ".</p>\n";
  writeBest(summary, os);
  writeCurve(summary, os);
  writeLeaders(summary, os);
  writeParameters(summary, os);
  writeRoofline(summary, os);
  writeModel(summary, os);
  writeFailures(summary, os);
  writeClocks(summary, os);
  writeEnvironments(summary, os);
  os << "<details><summary>Program</summary><pre>" << escapeHtml(text.text)
     << "</pre></details>\n</section>\n";
}

static void writeRuns(ArrayRef<Run> runs, raw_ostream &os) {
  if (runs.empty())
    return;
  os << "<section id=\"runs\"><h2>Runs</h2>\n<table><tr><th>run</th><th>"
        "began</th><th>command</th><th>settings</th></tr>\n";
  for (const Run &run : runs)
    os << "<tr><td class=\"n\">" << run.number << "</td><td>"
       << escapeHtml(run.when) << "</td><td><code>" << escapeHtml(run.command)
       << "</code></td><td><code>" << escapeHtml(run.settings)
       << "</code></td></tr>\n";
  os << "</table></section>\n";
}

std::string tessera::tuning::writeTuningPage(StringRef title,
                                             ArrayRef<Summary> summaries,
                                             ArrayRef<Run> runs) {
  std::string page;
  llvm::raw_string_ostream os(page);
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
        "charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width\">\n<title>"
     << escapeHtml(title) << "</title>\n<style>" << tuningStyle
     << "</style>\n</head>\n<body>\n<h1>" << escapeHtml(title)
     << "</h1>\n<nav>";
  for (auto [i, summary] : llvm::enumerate(summaries))
    os << "<a href=\"#task-" << i + 1 << "\">"
       << escapeHtml(summary.text.description.empty()
                         ? summary.task.key
                         : summary.text.description)
       << " on " << escapeHtml(formatLocation(summary)) << "</a><br>\n";
  os << "</nav>\n";
  for (auto [i, summary] : llvm::enumerate(summaries))
    writeTask(summary, i + 1, os);
  writeRuns(runs, os);
  os << "</body>\n</html>\n";
  return page;
}
