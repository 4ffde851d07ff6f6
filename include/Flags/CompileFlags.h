//===- CompileFlags.h - Flags of the compiler -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The flags that tools, the C API and Python hand to the pipelines and their
// passes. CompileFlags.def defines them.
//
//===----------------------------------------------------------------------===//

#ifndef FLAGS_COMPILEFLAGS_H
#define FLAGS_COMPILEFLAGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include <string>
#include <vector>

namespace mlir::tessera {

//===----------------------------------------------------------------------===//
// Types of flags
//===----------------------------------------------------------------------===//

/// Selects the asynchronous copies that are loads directly to workgroup memory
/// (async copies to LDS), on chips with such loads (`Chip::ldsCopyBytes`).
/// Values other than `Auto` are an error for chips without them.
enum class LdsCopies {
  /// If such a load is as wide as one to registers would be.
  Auto,
  /// If there is such a load for the copy, of any width.
  Always,
  Never,
};

/// The name of `use` in options.
llvm::StringRef getName(LdsCopies use);

/// How the vectors of LLVM's operations on matrices hold a matrix.
enum class MatrixLayout { ColumnMajor, RowMajor };

/// The name of `layout` in options.
llvm::StringRef getName(MatrixLayout layout);

/// The interleaving order of all vthread ops: "breadth_first", "depth_first" or
/// "groups(N)"; empty keeps the order of each op.
struct VThreadOrder {
  std::string text;
  bool empty() const { return text.empty(); }
};

/// How a flag of type `T` is written. `placeholder` stands for its value in
/// help texts, `expected` lists the values for diagnostics; `parse` returns
/// false if `value` is not one of these.
template <typename T> struct FlagTraits;

template <> struct FlagTraits<bool> {
  static constexpr llvm::StringLiteral placeholder = "", expected = "";
  static std::string print(bool value) { return value ? "on" : "off"; }
};

template <> struct FlagTraits<LdsCopies> {
  static constexpr llvm::StringLiteral placeholder = "WHICH",
                                       expected = "auto, always or never";
  static std::string print(LdsCopies value) { return getName(value).str(); }
  static bool parse(llvm::StringRef value, LdsCopies &result);
};

template <> struct FlagTraits<MatrixLayout> {
  static constexpr llvm::StringLiteral placeholder = "LAYOUT",
                                       expected = "column-major or row-major";
  static std::string print(MatrixLayout value) { return getName(value).str(); }
  static bool parse(llvm::StringRef value, MatrixLayout &result);
};

template <> struct FlagTraits<VThreadOrder> {
  static constexpr llvm::StringLiteral placeholder = "ORDER",
                                       expected = "breadth_first, depth_first "
                                                  "or groups(N)";
  static std::string print(const VThreadOrder &value) { return value.text; }
  static bool parse(llvm::StringRef value, VThreadOrder &result);
};

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// The values of all flags.
struct CompileFlags {
#define TESSERA_FLAG(TYPE, FIELD, DEFAULT, NAME, EFFECT, DESCRIPTION)          \
  TYPE FIELD = DEFAULT;
#include "Flags/CompileFlags.def"
};

/// How a flag changes the code of a matmul or an attention.
enum class FlagEffect {
  /// It changes the ops that kernels are compiled from. The text of a tuning
  /// task shows them.
  Ops,
  /// It changes the code of the same ops. Tuning records of different values
  /// are kept apart. The right effect of a new flag, if in doubt.
  Code,
  /// It rejects programs, or changes what is printed or how the same code is
  /// assembled. A tuned schedule is valid with and without the flag.
  Checks,
};

/// One flag, for code that handles all of them.
struct FlagInfo {
  /// The name of the flag: "fuse-attention".
  llvm::StringLiteral name;
  /// The option that changes the flag from its default, without dashes:
  /// "no-fuse-attention", "ptxas".
  std::string option;
  /// Whether the option has no value.
  bool isSwitch;
  bool isHidden;
  FlagEffect effect;
  /// See `FlagTraits`.
  llvm::StringLiteral placeholder, expected;
  llvm::StringLiteral description;
  /// Sets the flag as its option with this value does (a switch: without one).
  /// Returns false if the value is not valid.
  bool (*set)(CompileFlags &flags, llvm::StringRef value);
  /// The value as text; "on" or "off" for a switch.
  std::string (*get)(const CompileFlags &flags);

  /// Whether the flag differs from its default.
  bool isGiven(const CompileFlags &flags) const {
    return get(flags) != get(CompileFlags());
  }
  /// "unknown value 'x' for 'prefix'NAME; expected ...".
  std::string explainInvalid(llvm::StringRef value,
                             llvm::StringRef prefix) const;
};

/// All flags, in the order of CompileFlags.def.
llvm::ArrayRef<FlagInfo> getFlagInfos();

/// The flag with this option ("no-fuse-attention"), or null.
const FlagInfo *findFlag(llvm::StringRef option);

/// The options that change the defaults to `flags`: "no-fuse-attention",
/// "NAME=VALUE".
std::vector<std::string> listOptions(const CompileFlags &flags);

/// The flags of `FlagEffect::Code` that differ from their defaults, in the form
/// that `parseFlags` reads; empty if there are none. Tuning records of equal
/// texts can be compared.
std::string listCodeFlags(const CompileFlags &flags);

/// Prints the options and descriptions of the flags for which `filter` returns
/// true, except hidden ones, for help texts. Descriptions start at `column` and
/// lines have at most 80 columns.
void printFlagHelp(llvm::raw_ostream &os, size_t column,
                   llvm::function_ref<bool(const FlagInfo &)> filter);

/// Sets the flags that `text` lists, separated by commas ("none": no flag).
/// Returns an empty string, or the problem.
std::string parseFlags(llvm::StringRef text, CompileFlags &flags);

/// Prints the list that `parseFlags` reads.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const CompileFlags &flags);

} // namespace mlir::tessera

/// The option `flags` of passes and pipelines.
template <>
class llvm::cl::parser<mlir::tessera::CompileFlags>
    : public llvm::cl::basic_parser<mlir::tessera::CompileFlags> {
public:
  using basic_parser::basic_parser;
  bool parse(Option &option, StringRef name, StringRef text,
             mlir::tessera::CompileFlags &value);
  StringRef getValueName() const override { return "flags"; }
  void printOptionDiff(const Option &option,
                       const mlir::tessera::CompileFlags &value, const OptVal &,
                       size_t width) const;
};

#endif // FLAGS_COMPILEFLAGS_H
