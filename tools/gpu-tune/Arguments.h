//===- Arguments.h - The command line of a subcommand -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_TUNE_ARGUMENTS_H
#define GPU_TUNE_ARGUMENTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace tune {

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

/// The exit statuses.
enum class Exit { Done = 0, Failed = 1, Usage = 2 };

/// Prints `error: message` on standard error, a `note:` for each further line;
/// gives `status`.
int fail(Exit status, const Twine &message);
/// The same of an error; the status is `Failed`.
int fail(llvm::Error error);

/// The parser of a subcommand's options and arguments. Options are
/// `--name=value`, `--name value` or, without a value, `--name`; all else is a
/// file.
class Arguments {
public:
  /// `help` is printed for --help. It begins with the command line:
  /// "gpu-tune best --db=FILE ...".
  explicit Arguments(const char *help) : help(help) {}

  /// Where an option's value goes. One that is not given leaves it as it is.
  void addText(StringRef name, std::string &text);
  /// A whole number from 1.
  void addNumber(StringRef name, std::optional<int64_t> &number);
  void addFlag(StringRef name, bool &flag);
  /// Rejects the command line if the option, which has a value, is not given.
  void addRequiredText(StringRef name, std::string &text);

  /// Parses the command line. Returns an exit status if the subcommand ends
  /// here: after an error, which is printed, or after help.
  std::optional<int> parse(ArrayRef<StringRef> args);

  /// The positional arguments, in order.
  const std::vector<std::string> &getFiles() const { return files; }

private:
  struct Option {
    StringRef name;
    std::string *text = nullptr;
    std::optional<int64_t> *number = nullptr;
    bool *flag = nullptr;
    bool isRequired = false, isGiven = false;
  };
  /// The first line of the help.
  StringRef getForm() const { return StringRef(help).split('\n').first; }
  std::optional<int> set(Option &option, StringRef value);

  const char *help;
  std::vector<Option> options;
  std::vector<std::string> files;
};

} // namespace tune

#endif // GPU_TUNE_ARGUMENTS_H
