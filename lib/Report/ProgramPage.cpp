//===- ProgramPage.cpp - All there is to see, on one page -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/ProgramPage.h"

#include "Runtime/OutputFile.h"
#include "Tuning/Suggestion.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tessera::execution;

using mlir::tessera::tuning::escapeHtml;

static constexpr const char style[] = R"(
body { font: 14px/1.4 sans-serif; margin: 1em; color: #222; background: #fff; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin: 0 0 .3em; }
pre, .code { font: 12px/1.35 monospace; margin: 0; }
.stages { display: flex; gap: .6em; overflow-x: auto; align-items: flex-start; }
.stage { flex: 0 0 38em; border: 1px solid #ccc; padding: .5em; }
.code { height: 75vh; overflow: auto; }
.l { white-space: pre; cursor: default; min-width: max-content; }
.n { display: inline-block; width: 4em; color: #999; text-align: right;
  margin-right: .8em; text-decoration: none; }
a.n { color: #1f6fb2; }
.on { background: #fff3b0; } .pinned { background: #ffd95c; } .l:target { outline: 1px solid #1f6fb2; }
section { margin-bottom: 1.5em; } table { border-collapse: collapse; }
td, th { border: 1px solid #ccc; padding: .2em .6em; text-align: left; }
)";

/// Lines that share a line of the source are lit together: on hover, and for
/// good on a click, which scrolls the other stages to their first such line.
static constexpr const char script[] = R"(
(function () {
  var bySource = {}, lines = document.querySelectorAll('.l[data-s]');
  function sources(line) { return line.dataset.s.split(' '); }
  lines.forEach(function (line) {
    sources(line).forEach(function (s) { (bySource[s] = bySource[s] || []).push(line); });
  });
  function related(line) {
    return sources(line).reduce(function (all, s) { return all.concat(bySource[s]); }, []);
  }
  function clear(name) {
    document.querySelectorAll('.' + name).forEach(function (line) { line.classList.remove(name); });
  }
  lines.forEach(function (line) {
    line.addEventListener('mouseenter', function () {
      related(line).forEach(function (other) { other.classList.add('on'); });
    });
    line.addEventListener('mouseleave', function () { clear('on'); });
    line.addEventListener('click', function () {
      var seen = [line.parentNode];
      clear('pinned');
      related(line).forEach(function (other) {
        other.classList.add('pinned');
        if (seen.indexOf(other.parentNode) < 0) {
          seen.push(other.parentNode);
          other.parentNode.scrollTop = other.offsetTop - other.parentNode.offsetTop - 60;
        }
      });
    });
  });
})();
)";

/// A stage, and for each line a link: from the source to the first line that
/// comes from it, from elsewhere to the source.
static void writeStage(const StageText &stage,
                       const std::vector<StageText> &stages,
                       llvm::raw_ostream &os) {
  size_t sourceLines = stages.front().lines.size();
  os << "<div class=\"stage\" id=\"stage-" << stage.id << "\"><h2>"
     << escapeHtml(stage.title) << "</h2>\n<div class=\"code\">\n";
  for (auto [i, line] : llvm::enumerate(stage.lines)) {
    std::string target;
    if (stage.id != "source") {
      if (!line.sources.empty() && *line.sources.begin() <= sourceLines)
        target = "source-" + std::to_string(*line.sources.begin());
    } else {
      for (const StageText &other : llvm::drop_begin(stages)) {
        for (auto [j, from] : llvm::enumerate(other.lines))
          if (target.empty() && from.sources.count(i + 1))
            target = other.id + "-" + std::to_string(j + 1);
        if (!target.empty())
          break;
      }
    }
    os << "<div class=\"l\" id=\"" << stage.id << "-" << i + 1 << "\"";
    if (!target.empty()) {
      os << " data-s=\"";
      llvm::interleave(line.sources, os, " ");
      os << "\"><a class=\"n\" href=\"#" << target << "\">" << i + 1 << "</a>";
    } else {
      os << "><span class=\"n\">" << i + 1 << "</span>";
    }
    os << escapeHtml(line.text) << "</div>\n";
  }
  os << "</div></div>\n";
}

/// "bench" and the compile times as tables.
static void writeTimes(const llvm::json::Object &root, llvm::raw_ostream &os) {
  os << "<section id=\"times\"><h2>Times</h2>\n<table><tr><th>step of "
        "compiling</th><th>ms</th></tr>\n";
  if (const llvm::json::Array *stages = root.getArray("compile"))
    for (const llvm::json::Value &value : *stages)
      if (const llvm::json::Object *stage = value.getAsObject())
        os << "<tr><td>" << escapeHtml(stage->getString("stage").value_or(""))
           << "</td><td>"
           << llvm::formatv("{0:f3}", stage->getNumber("ms").value_or(0))
           << "</td></tr>\n";
  os << "</table>\n";
  if (const llvm::json::Object *bench = root.getObject("bench")) {
    os << "<h2>Runs with cold caches</h2>\n<table id=\"bench\">\n";
    std::vector<StringRef> names;
    for (const auto &field : *bench)
      names.push_back(field.first);
    llvm::sort(names);
    for (StringRef name : names)
      if (std::optional<double> number = bench->getNumber(name))
        os << "<tr><td>" << escapeHtml(name) << "</td><td>"
           << llvm::formatv("{0}", llvm::json::Value(*number))
           << "</td></tr>\n";
    os << "</table>\n";
  }
  os << "</section>\n";
}

LogicalResult
tessera::execution::writeHtmlReport(const ProgramOptions &options,
                                    const std::vector<StageText> &stages,
                                    StringRef explained, Report &report) {
  const llvm::json::Object &root = report.root;
  auto get = [&](StringRef name) {
    return escapeHtml(root.getString(name).value_or(""));
  };
  std::string page;
  llvm::raw_string_ostream os(page);
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
        "charset=\"utf-8\">\n"
     << "<title>" << escapeHtml(options.file) << "</title>\n<style>" << style
     << "</style>\n</head>\n<body>\n<h1>" << escapeHtml(options.file) << " for "
     << get("target") << ":" << get("chip") << "</h1>\n";
  os << "<nav>";
  for (auto [id, title] : {std::pair("stages", "Stages"),
                           {"explain", "Compilation"},
                           {"times", "Times"},
                           {"data", "Data"}})
    os << "<a href=\"#" << id << "\">" << title << "</a> ";
  os << "</nav>\n<section id=\"stages\"><p>Lines that come from the same "
        "source line are highlighted together; a click pins them, and a line "
        "number links to and from the source.</p>\n<div class=\"stages\">\n";
  for (const StageText &stage : stages)
    writeStage(stage, stages, os);
  os << "</div></section>\n<section id=\"explain\"><h2>Compiled "
        "code</h2>\n<pre>"
     << escapeHtml(explained) << "</pre></section>\n";
  writeTimes(root, os);
  os << "<section id=\"data\"><h2>Data</h2>\n<pre>"
     << escapeHtml(
            llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object(root)))
                .str())
     << "</pre></section>\n<script>" << script
     << "</script>\n</body>\n</html>\n";
  runtime::Status status = runtime::writeFile(options.reportFile, {page});
  return status.ok() ? success() : report.fail(status);
}
