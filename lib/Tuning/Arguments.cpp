//===- Arguments.cpp - The command line of a subcommand -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Arguments.h"

#include "Tuning/Suggestion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mlir::tessera::tuning;
using llvm::StringRef;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

llvm::Error Arguments::explainNumber(StringRef name, StringRef value,
                                     int64_t least) {
  return makeError(name + " requires a whole number of at least " +
                   llvm::Twine(least) + ", not '" + value + "'");
}

llvm::Error Arguments::explainTime(StringRef name, StringRef value) {
  return makeError(name + "=" + value +
                   ": expected a time such as 90s, 10m or 2h");
}

std::optional<double> Arguments::parseTime(StringRef text) {
  double factor = 1;
  if (text.consume_back("h"))
    factor = 3600;
  else if (text.consume_back("m"))
    factor = 60;
  else
    text.consume_back("s");
  double value;
  if (text.getAsDouble(value) || !(value > 0))
    return std::nullopt;
  return value * factor;
}

Arguments::Option &Arguments::add(StringRef name, Kind kind, Parser parse) {
  Option &option = options.emplace_back();
  option.name = name.str();
  option.kind = kind;
  option.parse = std::move(parse);
  return option;
}

void Arguments::addText(StringRef name, std::string &text) {
  addValue(name, [&text](StringRef value) {
    text = value.str();
    return llvm::Error::success();
  });
}

void Arguments::addRequiredText(StringRef name, std::string &text) {
  addText(name, text);
  options.back().isRequired = true;
}

void Arguments::addFlag(StringRef name, bool &flag) {
  addSwitch(name, [&flag](StringRef) {
    flag = true;
    return llvm::Error::success();
  });
}

void Arguments::addSwitch(StringRef name, Parser set) {
  add(name, Kind::Flag, std::move(set));
}

void Arguments::addChoice(StringRef name, std::vector<StringRef> words,
                          std::string &text) {
  addValue(
      name,
      [name, words = std::move(words), &text](StringRef value) -> llvm::Error {
        if (!llvm::is_contained(words, value))
          return makeError(name + "=" + value + ": expected " +
                           llvm::join(words, " or "));
        text = value.str();
        return llvm::Error::success();
      });
}

void Arguments::addValue(StringRef name, Parser parse) {
  add(name, Kind::Value, std::move(parse));
}

void Arguments::addOptionalValue(StringRef name, Parser parse) {
  add(name, Kind::OptionalValue, std::move(parse));
}

void Arguments::addHidden(StringRef name, Parser parse) {
  add(name, Kind::OptionalValue, std::move(parse)).isHidden = true;
}

llvm::Error Arguments::parse(llvm::ArrayRef<StringRef> args) {
  while (!args.empty()) {
    StringRef argument = args.front();
    args = args.drop_front();
    if (!argument.starts_with("-") || argument == "-") {
      files.push_back(argument.str());
      continue;
    }
    if (argument == "--help" || argument == "-h") {
      isHelp = true;
      return llvm::Error::success();
    }
    auto [name, value] = argument.split('=');
    bool hasValue = name.size() != argument.size();
    auto option = llvm::find_if(
        options, [name = name](const Option &o) { return o.name == name; });
    if (option == options.end()) {
      llvm::SmallVector<StringRef> names = {"--help"};
      for (const Option &known : options)
        if (!known.isHidden)
          names.push_back(known.name);
      return makeError("unknown option '" + name +
                       "': " + suggest(name, names) + "\n" + getForm());
    }
    if (option->kind == Kind::Flag && hasValue)
      return makeError(name + " takes no value, but '" + value + "' was given");
    if (option->kind == Kind::Value && !hasValue && !args.empty()) {
      value = args.front();
      args = args.drop_front();
    }
    if (value.empty() && (hasValue || option->kind == Kind::Value))
      return makeError(name + " needs a value\n" + getForm());
    if (option->isGiven && option->kind != Kind::Flag && !option->isHidden &&
        !areRepeatsAllowed)
      return makeError(name + " was given twice: remove one");
    option->isGiven = true;
    if (llvm::Error error = option->parse(value))
      return error;
  }
  for (const Option &option : options)
    if (option.isRequired && !option.isGiven)
      return makeError(option.name + " is missing\n" + getForm());
  return llvm::Error::success();
}

llvm::Error Arguments::parseWithoutFiles(llvm::ArrayRef<StringRef> args,
                                         StringRef others) {
  if (llvm::Error error = parse(args))
    return error;
  if (files.empty() || isHelp)
    return llvm::Error::success();
  // "gpu-tune best --db=FILE": the second word is the subcommand.
  StringRef subcommand = getForm().split(' ').second.split(' ').first;
  return makeError(subcommand + " does not accept a file other than " + others +
                   ", but '" + files.front() + "' was given");
}
