//===- Transfer.cpp - Databases to and from elsewhere ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "Runtime/OutputFile.h"
#include "Tuning/Interchange.h"

#include "llvm/Support/raw_ostream.h"

using namespace tessera::tuning;
using namespace mlir::tessera::tuning;

/// The line that import and merge print for each file.
static void printAdded(StringRef file, const Added &added) {
  llvm::outs() << file << ": " << formatAdded(added) << "\n";
}

static constexpr const char exportHelp[] =
    R"(gpu-tune export --db=FILE [-o OUT.jsonl]

Writes a database as JSON lines (docs/Tuning.md), to standard
output without -o.
)";

int tessera::tuning::runExport(ArrayRef<StringRef> args) {
  std::string path, output = "-";
  Arguments arguments(exportHelp);
  arguments.addRequiredText("--db", path);
  arguments.addText("-o", output);
  if (std::optional<int> status = parse(arguments, args, "--db and -o"))
    return *status;
  auto database = Database::open(path, Database::Mode::Read);
  if (!database)
    return fail(database.takeError());
  std::string text;
  llvm::raw_string_ostream os(text);
  if (llvm::Error error = exportLines(**database, os))
    return fail(std::move(error));
  if (output == "-") {
    llvm::outs() << text;
    return int(Exit::Done);
  }
  auto status = tessera::runtime::writeFile(output, {text});
  return status.ok() ? int(Exit::Done) : fail(Exit::Failed, status.message());
}

static constexpr const char importHelp[] =
    R"(gpu-tune import --db=FILE IN.jsonl...

Adds the output of gpu-tune export to a database, which is created if missing;
'-' is standard input. Entries that the database already has are skipped. If a
file has a malformed line, nothing from it is added.
)";

int tessera::tuning::runImport(ArrayRef<StringRef> args) {
  std::string path;
  Arguments arguments(importHelp);
  arguments.addRequiredText("--db", path);
  if (std::optional<int> status = parse(arguments, args))
    return *status;
  if (arguments.getFiles().empty())
    return fail(Exit::Usage,
                "no file was given: gpu-tune import --db=FILE IN.jsonl");
  if (llvm::Error error = importFiles(path, arguments.getFiles(), printAdded))
    return fail(std::move(error));
  return int(Exit::Done);
}

static constexpr const char mergeHelp[] =
    R"(gpu-tune merge OUT IN...

Adds the contents of the databases IN to the database OUT, which is created if
missing. Entries that OUT already has are skipped.
)";

int tessera::tuning::runMerge(ArrayRef<StringRef> args) {
  Arguments arguments(mergeHelp);
  if (std::optional<int> status = parse(arguments, args))
    return *status;
  const std::vector<std::string> &files = arguments.getFiles();
  if (files.size() < 2)
    return fail(Exit::Usage, "merge requires the output database and one or "
                             "more input databases: gpu-tune merge OUT IN...");
  if (llvm::Error error = mergeFiles(
          files.front(), llvm::ArrayRef(files).drop_front(), printAdded))
    return fail(std::move(error));
  return int(Exit::Done);
}
