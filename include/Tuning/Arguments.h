//===- Arguments.h - The command line of a subcommand -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_ARGUMENTS_H
#define TUNING_ARGUMENTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera::tuning {

/// The parser of a subcommand's options and files. Options are `--name=value`,
/// `--name value` or, without a value, `--name`; all else is a file. An option
/// that is not given leaves its variable unchanged.
class Arguments {
public:
  /// Parses a value; the error is printed as it is.
  using Parser = std::function<llvm::Error(llvm::StringRef value)>;

  /// `help` starts with the form of the command line, which errors repeat:
  /// "gpu-tune best --db=FILE ...".
  explicit Arguments(const char *help) : help(help) {}

  void addText(llvm::StringRef name, std::string &text);
  /// The same; the command line is invalid without the option.
  void addRequiredText(llvm::StringRef name, std::string &text);
  void addFlag(llvm::StringRef name, bool &flag);
  /// An option without a value, for which `set` is called with "".
  void addSwitch(llvm::StringRef name, Parser set);
  /// A whole number of at least `least`, into an integer or an optional one.
  template <typename Number>
  void addNumber(llvm::StringRef name, Number &number, int64_t least = 1) {
    addValue(name,
             [name, &number, least](llvm::StringRef value) -> llvm::Error {
               using Integer = typename IntegerOf<Number>::Type;
               Integer parsed{};
               if (value.getAsInteger(10, parsed) ||
                   parsed < static_cast<Integer>(least))
                 return explainNumber(name, value, least);
               number = parsed;
               return llvm::Error::success();
             });
  }
  /// A time in seconds: "90s", "10m", "2h", "45".
  template <typename Seconds>
  void addTime(llvm::StringRef name, Seconds &seconds) {
    addValue(name, [name, &seconds](llvm::StringRef value) -> llvm::Error {
      std::optional<double> time = parseTime(value);
      if (!time)
        return explainTime(name, value);
      seconds = *time;
      return llvm::Error::success();
    });
  }
  /// One of several words.
  void addChoice(llvm::StringRef name, std::vector<llvm::StringRef> words,
                 std::string &text);
  /// An option whose value a function parses.
  void addValue(llvm::StringRef name, Parser parse);
  /// An option with or without a value, which is then "". The value follows
  /// '='.
  void addOptionalValue(llvm::StringRef name, Parser parse);
  /// The same, for an option that may be repeated and is not suggested: one
  /// for tests, or one that is not supported any more.
  void addHidden(llvm::StringRef name, Parser parse);

  /// Accepts an option that is given several times: the last one counts, so
  /// that a script can override its own options. Otherwise it is an error.
  void allowRepeats() { areRepeatsAllowed = true; }

  /// Parses the command line up to --help, if it is there. The error has the
  /// problem in its first line, and may have further lines with notes.
  llvm::Error parse(llvm::ArrayRef<llvm::StringRef> args);
  /// Parses the command line of a subcommand that takes no files. `others`
  /// names the options that do: "--db and -o".
  llvm::Error parseWithoutFiles(llvm::ArrayRef<llvm::StringRef> args,
                                llvm::StringRef others);

  /// Whether --help or -h was given.
  bool wantsHelp() const { return isHelp; }
  const char *getHelp() const { return help; }
  /// The arguments that are not options, in their order.
  const std::vector<std::string> &getFiles() const { return files; }

private:
  template <typename T> struct IntegerOf {
    using Type = T;
  };
  template <typename T> struct IntegerOf<std::optional<T>> {
    using Type = T;
  };
  enum class Kind { Flag, Value, OptionalValue };
  struct Option {
    std::string name;
    Kind kind;
    Parser parse;
    bool isRequired = false, isHidden = false, isGiven = false;
  };

  /// Absent unless it is positive.
  static std::optional<double> parseTime(llvm::StringRef text);
  static llvm::Error explainTime(llvm::StringRef name, llvm::StringRef value);
  static llvm::Error explainNumber(llvm::StringRef name, llvm::StringRef value,
                                   int64_t least);
  Option &add(llvm::StringRef name, Kind kind, Parser parse);
  /// The first line of the help.
  llvm::StringRef getForm() const {
    return llvm::StringRef(help).split('\n').first;
  }

  const char *help;
  std::vector<Option> options;
  std::vector<std::string> files;
  bool isHelp = false, areRepeatsAllowed = false;
};

} // namespace mlir::tessera::tuning

#endif // TUNING_ARGUMENTS_H
