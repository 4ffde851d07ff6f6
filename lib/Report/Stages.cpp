//===- Stages.cpp - A program at each of its stages -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Stages.h"

#include "Target/Backend.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/STLExtras.h"

using namespace tessera::execution;

static std::vector<StageText::Line> splitLines(StringRef text) {
  std::vector<StageText::Line> lines;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    lines.push_back({line.rtrim('\r').str(), {}});
    text = rest;
  }
  return lines;
}

/// The module as text, and where each line comes from.
static std::vector<StageText::Line> print(mlir::ModuleOp module,
                                          StringRef file) {
  mlir::OpPrintingFlags flags;
  flags.elideLargeElementsAttrs().elideLargeResourceString();
  mlir::AsmState::LocationMap positions;
  mlir::AsmState state(module, flags, &positions);
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, state);
  std::vector<StageText::Line> lines = splitLines(text);
  module.walk([&](mlir::Operation *op) {
    auto position = positions.find(op);
    // Those of attributes' operations are not printed on lines of their own.
    if (position == positions.end() || position->second.first == 0 ||
        position->second.first > lines.size())
      return;
    std::set<unsigned> &sources = lines[position->second.first - 1].sources;
    op->getLoc()->walk([&](mlir::Location location) {
      auto at = mlir::dyn_cast<mlir::FileLineColLoc>(location);
      if (at && at.getFilename().getValue() == file && at.getLine() != 0)
        sources.insert(at.getLine());
      return mlir::WalkResult::advance();
    });
  });
  return lines;
}

/// The input of the target's tools, as text.
static FailureOr<std::string> translate(const compiler::TargetBackend &backend,
                                        mlir::ModuleOp module,
                                        const compiler::Chip &chip,
                                        bool lineTable) {
  const auto *stage = llvm::find_if(
      backend.getStages(), [](const auto &stage) { return !stage.isBinary; });
  return backend.emit(stage->name, module, chip, lineTable);
}

//===----------------------------------------------------------------------===//
// Lines of assembly
//===----------------------------------------------------------------------===//

/// Reads a number that begins `text`.
static bool readNumber(StringRef &text, unsigned &number) {
  text = text.ltrim();
  return !text.consumeInteger(10, number);
}

/// Whether a line of assembly is neither a label, a directive nor a comment.
static bool isInstruction(StringRef line) {
  for (StringRef comment : {"//", ";", "#"})
    if (size_t position = line.find((" " + comment).str());
        position != StringRef::npos)
      line = line.take_front(position);
  line = line.trim();
  if (line.empty() || line.ends_with(":"))
    return false;
  for (StringRef start : {".", "//", ";", "#", "{", "}", "(", ")", "-", "_"})
    if (line.starts_with(start))
      return false;
  return true;
}

/// Finds where lines of assembly come from: the same code is made once more,
/// with a table of lines, and `lines` are looked for in it. The table changes
/// no instruction; should it do so, the lines stay without a source, and it is
/// false.
static bool findSources(StringRef withTable, StringRef file,
                        std::vector<StageText::Line> &lines) {
  // .file NUMBER ["FOLDER"] "NAME"; .loc NUMBER LINE COLUMN.
  std::set<unsigned> ownFiles;
  StringRef name = file.rsplit('/').second;
  if (name.empty())
    name = file;
  std::vector<std::pair<std::string, unsigned>> tabled;
  std::vector<StageText::Line> all = splitLines(withTable);
  for (const StageText::Line &line : all) {
    StringRef text = StringRef(line.text).trim();
    unsigned number = 0;
    if (text.consume_front(".file") && readNumber(text, number) &&
        text.rtrim().ends_with((name + "\"").str()))
      ownFiles.insert(number);
  }
  unsigned current = 0;
  for (const StageText::Line &line : all) {
    StringRef text = StringRef(line.text).trim();
    unsigned number = 0, position = 0;
    if (text.consume_front(".loc")) {
      if (readNumber(text, number) && readNumber(text, position))
        current = ownFiles.count(number) ? position : 0;
      continue;
    }
    // Behind a function there is nothing of its lines.
    if (text.starts_with(".section") || text.contains("func_end") ||
        text.starts_with(".amdgpu_metadata"))
      current = 0;
    tabled.emplace_back(line.text, current);
  }
  // Every instruction is there as well, in the same order, with labels and
  // directives between.
  std::vector<unsigned> found(lines.size(), 0);
  size_t at = 0;
  for (auto [i, line] : llvm::enumerate(lines)) {
    size_t position = at;
    while (position < tabled.size() && tabled[position].first != line.text)
      ++position;
    bool isCode = isInstruction(line.text);
    if (position == tabled.size()) {
      if (isCode)
        return false;
      continue;
    }
    if (isCode)
      found[i] = tabled[position].second;
    at = position + 1;
  }
  for (auto [line, source] : llvm::zip_equal(lines, found))
    if (source != 0)
      line.sources.insert(source);
  return true;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

FailureOr<std::vector<StageText>>
tessera::execution::collectStages(mlir::ModuleOp module, StringRef file,
                                  StringRef source,
                                  const compiler::CompileOptions &given) {
  compiler::CompileOptions options = given;
  options.trace = nullptr;
  options.flags.printIRAfterAll = false;
  // Warnings were printed when the program was compiled.
  mlir::ScopedDiagnosticHandler silence(
      module.getContext(), [](mlir::Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() !=
                       mlir::DiagnosticSeverity::Error);
      });
  const compiler::Chip *chip = compiler::findChip(options.target, options.chip);
  if (!chip)
    return failure();
  std::vector<StageText> stages(1);
  stages.front() = {"source", "Source", splitLines(source)};
  for (auto [i, line] : llvm::enumerate(stages.front().lines))
    line.sources.insert(static_cast<unsigned>(i) + 1);
  const compiler::TargetBackend &backend = *compiler::findBackend(chip->target);
  const std::tuple<compiler::Stage, const char *, const char *> all[] = {
      {compiler::Stage::Schedule, "schedule", "linalg with its schedule"},
      {compiler::Stage::Tessera, "tessera", "tessera: portable fragments"},
      {compiler::Stage::Legalized, "legalized",
       "tessera: fragments of instructions"},
      {compiler::Stage::Vendor, "vendor", "Vendor's dialect"},
      {compiler::Stage::LLVM, "llvm", backend.getLastDialectTitle().data()}};
  mlir::OwningOpRef<mlir::ModuleOp> copy;
  for (auto [stage, id, title] : all) {
    copy = module.clone();
    if (failed(compiler::lowerToStage(*copy, stage, options)))
      return failure();
    stages.push_back({id, title, print(*copy, file)});
  }
  mlir::OwningOpRef<mlir::ModuleOp> again(copy->clone());
  FailureOr<std::string> code =
      translate(backend, *copy, *chip, /*lineTable=*/false);
  if (failed(code))
    return failure();
  StageText assembly{"assembly", backend.getCodeTitle().str(),
                     splitLines(*code)};
  if (!backend.hasLineTables()) {
    assembly.title += " (no links)";
  } else {
    FailureOr<std::string> withTable =
        translate(backend, *again, *chip, /*lineTable=*/true);
    if (failed(withTable))
      return failure();
    if (!findSources(*withTable, file, assembly.lines))
      assembly.title += " (no links: a line table would change the code)";
  }
  stages.push_back(std::move(assembly));
  return stages;
}
