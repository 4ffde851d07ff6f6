//===- Arguments.cpp - The command line of a subcommand -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "Tuning/Suggestion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace tune;

int tune::fail(Exit status, const Twine &message) {
  std::string storage = message.str();
  auto [first, rest] = StringRef(storage).rtrim().split('\n');
  llvm::outs().flush();
  llvm::errs() << "error: " << first << "\n";
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    llvm::errs() << "note: " << line << "\n";
  }
  return int(status);
}

int tune::fail(llvm::Error error) {
  return fail(Exit::Failed, llvm::toString(std::move(error)));
}

void Arguments::addText(StringRef name, std::string &text) {
  Option &option = options.emplace_back();
  option.name = name;
  option.text = &text;
}

void Arguments::addRequiredText(StringRef name, std::string &text) {
  addText(name, text);
  options.back().isRequired = true;
}

void Arguments::addNumber(StringRef name, std::optional<int64_t> &number) {
  Option &option = options.emplace_back();
  option.name = name;
  option.number = &number;
}

void Arguments::addFlag(StringRef name, bool &flag) {
  Option &option = options.emplace_back();
  option.name = name;
  option.flag = &flag;
}

std::optional<int> Arguments::set(Option &option, StringRef value) {
  if (option.isGiven)
    return fail(Exit::Usage, option.name + " was given twice: remove one");
  option.isGiven = true;
  if (option.text) {
    *option.text = value.str();
    return std::nullopt;
  }
  int64_t number = 0;
  if (value.getAsInteger(10, number) || number < 1)
    return fail(Exit::Usage,
                option.name + " requires a whole number of at least 1, not '" +
                    value + "'");
  *option.number = number;
  return std::nullopt;
}

std::optional<int> Arguments::parse(ArrayRef<StringRef> args) {
  while (!args.empty()) {
    StringRef argument = args.front();
    args = args.drop_front();
    if (!argument.starts_with("-") || argument == "-") {
      files.push_back(argument.str());
      continue;
    }
    if (argument == "--help" || argument == "-h") {
      llvm::outs() << help;
      return int(Exit::Done);
    }
    StringRef name, value;
    std::tie(name, value) = argument.split('=');
    bool hasValue = name.size() != argument.size();
    auto option = llvm::find_if(
        options, [&](const Option &known) { return known.name == name; });
    if (option == options.end()) {
      llvm::SmallVector<StringRef> names = {"--help"};
      for (const Option &known : options)
        names.push_back(known.name);
      return fail(Exit::Usage, "unknown option '" + name + "': " +
                                   mlir::tessera::tuning::suggest(name, names) +
                                   "\n" + getForm());
    }
    if (option->flag) {
      if (hasValue)
        return fail(Exit::Usage,
                    name + " takes no value, but '" + value + "' was given");
      *option->flag = true;
      continue;
    }
    if (!hasValue && !args.empty()) {
      value = args.front();
      args = args.drop_front();
    }
    if (value.empty())
      return fail(Exit::Usage, name + " needs a value\n" + getForm());
    if (std::optional<int> status = set(*option, value))
      return status;
  }
  for (const Option &option : options)
    if (option.isRequired && !option.isGiven)
      return fail(Exit::Usage, option.name + " is missing\n" + getForm());
  return std::nullopt;
}
