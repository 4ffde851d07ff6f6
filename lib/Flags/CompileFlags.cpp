//===- CompileFlags.cpp - Flags of the compiler ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <type_traits>

using namespace mlir::tessera;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Types of flags
//===----------------------------------------------------------------------===//

StringRef mlir::tessera::getName(LdsCopies use) {
  switch (use) {
  case LdsCopies::Auto:
    return "auto";
  case LdsCopies::Always:
    return "always";
  case LdsCopies::Never:
    return "never";
  }
  return "";
}

bool FlagTraits<LdsCopies>::parse(StringRef value, LdsCopies &result) {
  for (LdsCopies use : {LdsCopies::Auto, LdsCopies::Always, LdsCopies::Never})
    if (value == getName(use)) {
      result = use;
      return true;
    }
  return false;
}

StringRef mlir::tessera::getName(MatrixLayout layout) {
  switch (layout) {
  case MatrixLayout::ColumnMajor:
    return "column-major";
  case MatrixLayout::RowMajor:
    return "row-major";
  }
  return "";
}

bool FlagTraits<MatrixLayout>::parse(StringRef value, MatrixLayout &result) {
  for (MatrixLayout layout :
       {MatrixLayout::ColumnMajor, MatrixLayout::RowMajor})
    if (value == getName(layout)) {
      result = layout;
      return true;
    }
  return false;
}

bool FlagTraits<VThreadOrder>::parse(StringRef value, VThreadOrder &result) {
  StringRef size = value;
  unsigned number;
  if (value != "breadth_first" && value != "depth_first" &&
      !(size.consume_front("groups(") && size.consume_back(")") &&
        !size.getAsInteger(10, number) && number > 0))
    return false;
  result.text = value.str();
  return true;
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// The row of the flag that `Field` is.
template <auto Field>
static FlagInfo makeInfo(llvm::StringLiteral name, FlagEffect effect,
                         llvm::StringLiteral description, bool isHidden) {
  using T = std::decay_t<decltype(CompileFlags().*Field)>;
  constexpr bool isSwitch = std::is_same_v<T, bool>;
  FlagInfo info{name,
                name.str(),
                isSwitch,
                isHidden,
                effect,
                FlagTraits<T>::placeholder,
                FlagTraits<T>::expected,
                description,
                /*set=*/nullptr,
                /*get=*/nullptr};
  info.get = [](const CompileFlags &flags) {
    return FlagTraits<T>::print(flags.*Field);
  };
  if constexpr (isSwitch) {
    if (CompileFlags().*Field)
      info.option = "no-" + info.option;
    info.set = [](CompileFlags &flags, StringRef value) {
      flags.*Field = !(CompileFlags().*Field);
      return value.empty();
    };
  } else {
    info.set = [](CompileFlags &flags, StringRef value) {
      return FlagTraits<T>::parse(value, flags.*Field);
    };
  }
  return info;
}

llvm::ArrayRef<FlagInfo> mlir::tessera::getFlagInfos() {
  static const FlagInfo infos[] = {
#define TESSERA_FLAG(TYPE, FIELD, DEFAULT, NAME, EFFECT, DESCRIPTION)          \
  makeInfo<&CompileFlags::FIELD>(NAME, FlagEffect::EFFECT, DESCRIPTION,        \
                                 /*isHidden=*/false),
#define TESSERA_HIDDEN_FLAG(TYPE, FIELD, DEFAULT, NAME, EFFECT, DESCRIPTION)   \
  makeInfo<&CompileFlags::FIELD>(NAME, FlagEffect::EFFECT, DESCRIPTION,        \
                                 /*isHidden=*/true),
#include "Flags/CompileFlags.def"
  };
  return infos;
}

const FlagInfo *mlir::tessera::findFlag(StringRef option) {
  for (const FlagInfo &info : getFlagInfos())
    if (info.option == option)
      return &info;
  return nullptr;
}

std::string FlagInfo::explainInvalid(StringRef value, StringRef prefix) const {
  if (isSwitch)
    return (prefix + option + " takes no value, but '" + value + "' was given")
        .str();
  return ("unknown value '" + value + "' for " + prefix + option +
          "; expected " + expected)
      .str();
}

/// The option of `info` that sets its value in `flags`.
static std::string printOption(const FlagInfo &info,
                               const CompileFlags &flags) {
  return info.isSwitch ? info.option : info.option + "=" + info.get(flags);
}

std::vector<std::string> mlir::tessera::listOptions(const CompileFlags &flags) {
  std::vector<std::string> options;
  for (const FlagInfo &info : getFlagInfos())
    if (info.isGiven(flags))
      options.push_back(printOption(info, flags));
  return options;
}

std::string mlir::tessera::listCodeFlags(const CompileFlags &flags) {
  std::vector<std::string> options;
  for (const FlagInfo &info : getFlagInfos())
    if (info.effect == FlagEffect::Code && info.isGiven(flags))
      options.push_back(printOption(info, flags));
  return llvm::join(options, ",");
}

void mlir::tessera::printFlagHelp(
    llvm::raw_ostream &os, size_t column,
    llvm::function_ref<bool(const FlagInfo &)> filter) {
  constexpr size_t width = 80;
  for (const FlagInfo &info : getFlagInfos()) {
    if (info.isHidden || !filter(info))
      continue;
    std::string line = "  --" + info.option;
    if (!info.isSwitch)
      line += "=" + info.placeholder.str();
    if (line.size() >= column) {
      os << line << "\n";
      line.clear();
    }
    llvm::SmallVector<StringRef> words;
    info.description.split(words, ' ');
    for (StringRef word : words) {
      bool isFirst = line.size() < column;
      if (!isFirst && line.size() + 1 + word.size() > width) {
        os << line << "\n";
        line.clear();
        isFirst = true;
      }
      line.append(isFirst ? column - line.size() : 1, ' ');
      line += word;
    }
    os << line << "\n";
  }
}

std::string mlir::tessera::parseFlags(StringRef text, CompileFlags &flags) {
  if (text.empty() || text == "none")
    return "";
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [option, value] = part.split('=');
    const FlagInfo *info = findFlag(option);
    if (!info) {
      std::vector<std::string> known;
      for (const FlagInfo &candidate : getFlagInfos())
        if (!candidate.isHidden)
          known.push_back(candidate.option);
      return ("unknown compile flag '" + option + "'; expected " +
              llvm::join(known, ", "))
          .str();
    }
    if (!info->set(flags, value))
      return info->explainInvalid(value, /*prefix=*/"");
  }
  return "";
}

llvm::raw_ostream &mlir::tessera::operator<<(llvm::raw_ostream &os,
                                             const CompileFlags &flags) {
  std::vector<std::string> options = listOptions(flags);
  return os << (options.empty() ? "none" : llvm::join(options, ","));
}

//===----------------------------------------------------------------------===//
// Options of passes
//===----------------------------------------------------------------------===//

bool llvm::cl::parser<CompileFlags>::parse(Option &option, StringRef,
                                           StringRef text,
                                           CompileFlags &value) {
  std::string why = parseFlags(text, value);
  return !why.empty() && option.error(why);
}

void llvm::cl::parser<CompileFlags>::printOptionDiff(const Option &option,
                                                     const CompileFlags &value,
                                                     const OptVal &,
                                                     size_t width) const {
  printOptionName(option, width);
  outs() << "= " << value << "\n";
}
