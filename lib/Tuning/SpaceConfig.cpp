//===- SpaceConfig.cpp - Values of the search space -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/SpaceConfig.h"

#include "JsonIndex.h"
#include "Tuning/Json.h"
#include "Tuning/Suggestion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace mlir::tessera;
using namespace mlir::tessera::tuning;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::json::Value;

using Kind = ScheduleFieldInfo::Kind;
using Pair = std::array<int64_t, 2>;

namespace {
/// Keeps the first thing that is wrong, by its location.
class Parser {
public:
  Parser(StringRef text, StringRef name) : text(text), name(name) {}

  llvm::Expected<SpaceConfig> parse();

private:
  void fail(StringRef path, const llvm::Twine &what);
  void failForm(StringRef path, const llvm::Twine &wanted, const Value &value);

  /// Null, and an error, if it is not an object, or has other names than these.
  const llvm::json::Object *getObject(StringRef path, const Value &value,
                                      ArrayRef<StringRef> names);
  std::optional<int64_t> getInteger(StringRef path, const Value &value,
                                    int64_t least, int64_t most);

  void readVersion(const llvm::json::Object &root);
  void readLimits(const Value &value, SpaceConfig &config);
  void readValues(StringRef path, const Value &value, ScheduleValues &values);
  const Value *findField(StringRef path, const llvm::json::Object &object,
                         const ScheduleFieldInfo &info, std::string &name);
  std::optional<std::vector<int64_t>>
  readRange(StringRef path, const Value &value, const ScheduleFieldInfo &info);
  template <typename T>
  std::optional<T> readElement(StringRef path, const Value &value,
                               const ScheduleFieldInfo &info);
  template <typename T>
  std::optional<std::vector<T>> readList(StringRef path, const Value &value,
                                         const ScheduleFieldInfo &info);

  StringRef text, name;
  std::optional<JsonIndex> index;
  std::string error;
  std::vector<std::string> warnings;
};
} // namespace

static std::string joinPath(StringRef path, const llvm::Twine &name) {
  return (path + llvm::Twine(path.empty() ? "" : ".") + name).str();
}

static std::string formatValue(const Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

void Parser::fail(StringRef path, const llvm::Twine &what) {
  if (!error.empty())
    return;
  error = (name + ":" + llvm::Twine(index ? index->getLine(path) : 1) + ": " +
           path + llvm::Twine(path.empty() ? "" : ": ") + what)
              .str();
}

void Parser::failForm(StringRef path, const llvm::Twine &wanted,
                      const Value &value) {
  fail(path, "it must be " + wanted + ", not " + formatValue(value));
}

const llvm::json::Object *Parser::getObject(StringRef path, const Value &value,
                                            ArrayRef<StringRef> names) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object) {
    failForm(path, "an object { ... }", value);
    return nullptr;
  }
  // In the order of the file.
  std::optional<std::pair<unsigned, StringRef>> unknown;
  for (const auto &field : *object) {
    StringRef given = field.first;
    if (llvm::is_contained(names, given))
      continue;
    std::pair<unsigned, StringRef> location(
        index->getLine(joinPath(path, given)), given);
    if (!unknown || location < *unknown)
      unknown = location;
  }
  if (!unknown)
    return object;
  fail(joinPath(path, unknown->second),
       "unknown name: " + suggest(unknown->second, names));
  return nullptr;
}

std::optional<int64_t> Parser::getInteger(StringRef path, const Value &value,
                                          int64_t least, int64_t most) {
  std::optional<int64_t> number = value.getAsInteger();
  if (number && *number >= least && *number <= most)
    return number;
  failForm(path,
           "a whole number from " + llvm::Twine(least) + " to " +
               llvm::Twine(most),
           value);
  return std::nullopt;
}

/// {"min": 1, "max": 6}, with "step" or "factor": the numbers from "min" on
/// that are not more than "max".
std::optional<std::vector<int64_t>>
Parser::readRange(StringRef path, const Value &value,
                  const ScheduleFieldInfo &info) {
  const llvm::json::Object *object =
      getObject(path, value, {"min", "max", "step", "factor"});
  if (!object)
    return std::nullopt;
  auto read = [&](StringRef field, int64_t least,
                  int64_t most) -> std::optional<int64_t> {
    const Value *given = object->get(field);
    if (given)
      return getInteger(joinPath(path, field), *given, least, most);
    fail(path, "'" + field + "' is missing: a range is {\"min\": " +
                   llvm::Twine(info.least) +
                   ", \"max\": ...}, optionally with \"step\" or \"factor\"");
    return std::nullopt;
  };
  std::optional<int64_t> min = read("min", info.least, info.most);
  std::optional<int64_t> max = read("max", info.least, info.most);
  bool hasStep = object->get("step"), hasFactor = object->get("factor");
  std::optional<int64_t> step = hasStep ? read("step", 1, info.most) : 1;
  std::optional<int64_t> factor = hasFactor ? read("factor", 2, info.most) : 1;
  if (!min || !max || !step || !factor)
    return std::nullopt;
  if (hasStep && hasFactor)
    fail(path, "'step' and 'factor' are mutually exclusive: remove one");
  else if (hasFactor && *min == 0)
    fail(joinPath(path, "min"), "'min' is 0, which 'factor' cannot increase: "
                                "use 1, or 'step' instead of 'factor'");
  else if (*min > *max)
    fail(joinPath(path, "min"),
         "it is greater than 'max', which is " + llvm::Twine(*max));
  if (!error.empty())
    return std::nullopt;
  std::vector<int64_t> values;
  for (int64_t i = *min; i <= *max; i = hasFactor ? i * *factor : i + *step) {
    if (values.size() == maxParameterValues) {
      fail(path, "it has more than " + llvm::Twine(maxParameterValues) +
                     " values: use a larger 'step', or a 'factor'");
      return std::nullopt;
    }
    values.push_back(i);
  }
  return values;
}

/// "\"ordered\", \"atomic\" or \"cluster\"".
static std::string listWords(ArrayRef<llvm::StringLiteral> words) {
  std::string text;
  for (auto [i, word] : llvm::enumerate(words))
    text += (i == 0                 ? "\""
             : i + 1 < words.size() ? ", \""
                                    : " or \"") +
            word.str() + "\"";
  return text;
}

template <>
std::optional<int64_t> Parser::readElement(StringRef path, const Value &value,
                                           const ScheduleFieldInfo &info) {
  if (info.kind == Kind::Flag) {
    std::optional<bool> flag = value.getAsBoolean();
    if (!flag)
      failForm(path, "true or false", value);
    return flag;
  }
  if (info.kind == Kind::Enum) {
    std::optional<StringRef> given = value.getAsString();
    const llvm::StringLiteral *word =
        given ? llvm::find(info.words, *given) : info.words.end();
    if (word != info.words.end())
      return word - info.words.begin();
    failForm(path, listWords(info.words), value);
    return std::nullopt;
  }
  return getInteger(path, value, info.least, info.most);
}

template <>
std::optional<Pair> Parser::readElement(StringRef path, const Value &value,
                                        const ScheduleFieldInfo &info) {
  const llvm::json::Array *array = value.getAsArray();
  if (!array || array->size() != 2) {
    failForm(path, "two whole numbers, for M and for N, for example [64, 64]",
             value);
    return std::nullopt;
  }
  Pair pair = {};
  for (size_t i = 0; i < 2; ++i) {
    std::optional<int64_t> number =
        getInteger((path + "[" + llvm::Twine(i) + "]").str(), (*array)[i],
                   info.least, info.most);
    if (!number)
      return std::nullopt;
    pair[i] = *number;
  }
  return pair;
}

/// An example of a list of values.
static std::string getExample(const ScheduleFieldInfo &info) {
  switch (info.kind) {
  case Kind::Integer:
    return "a list, for example [1, 2], or a range, for example {\"min\": 1, "
           "\"max\": 2}";
  case Kind::Pair:
    return "a list of pairs, for example [[64, 64]]";
  case Kind::Flag:
    return "a list, for example [true, false]";
  case Kind::Enum:
    break;
  }
  return "a list, for example [\"" + info.words.front().str() + "\"]";
}

template <typename T>
std::optional<std::vector<T>> Parser::readList(StringRef path,
                                               const Value &value,
                                               const ScheduleFieldInfo &info) {
  if constexpr (std::is_same_v<T, int64_t>)
    if (info.kind == Kind::Integer && value.getAsObject())
      return readRange(path, value, info);
  const llvm::json::Array *array = value.getAsArray();
  if (!array) {
    failForm(path, getExample(info), value);
    return std::nullopt;
  }
  if (array->empty()) {
    fail(path, "the list is empty, so that no schedule remains: omit '" +
                   info.name + "' to use its default values");
    return std::nullopt;
  }
  if (array->size() > maxParameterValues) {
    fail(path, "the list has more than " + llvm::Twine(maxParameterValues) +
                   " values");
    return std::nullopt;
  }
  std::vector<T> list;
  for (auto [i, element] : llvm::enumerate(*array)) {
    std::string location = (path + "[" + llvm::Twine(i) + "]").str();
    std::optional<T> read = readElement<T>(location, element, info);
    if (!read)
      return std::nullopt;
    if (llvm::is_contained(list, *read)) {
      fail(location,
           formatValue(element) + " appears twice in the list: remove one");
      return std::nullopt;
    }
    list.push_back(std::move(*read));
  }
  return list;
}

/// The values of a field by its name or by a former one, or null. `name` is the
/// name that the file has.
const Value *Parser::findField(StringRef path, const llvm::json::Object &object,
                               const ScheduleFieldInfo &info,
                               std::string &name) {
  const Value *found = object.get(info.name);
  name = info.name.str();
  for (const OldScheduleFieldName &old : getOldScheduleFieldNames()) {
    const Value *given =
        old.name == info.name ? object.get(old.oldName) : nullptr;
    if (!given)
      continue;
    std::string location = joinPath(path, old.oldName);
    if (found)
      fail(location, "this is the former name of '" + info.name +
                         "', which is given too: remove one");
    found = given;
    name = old.oldName.str();
    warnings.push_back(
        (this->name + ":" + llvm::Twine(index->getLine(location)) + ": " +
         location + ": this field is now called '" + info.name + "'")
            .str());
  }
  return found;
}

void Parser::readValues(StringRef path, const Value &value,
                        ScheduleValues &values) {
  llvm::SmallVector<StringRef> names;
  for (const ScheduleFieldInfo &info : getScheduleFields())
    names.push_back(info.name);
  for (const OldScheduleFieldName &old : getOldScheduleFieldNames())
    names.push_back(old.oldName);
  const llvm::json::Object *object = getObject(path, value, names);
  if (!object)
    return;
  forEachScheduleField(
      [&](const ScheduleFieldInfo &info, auto &list) {
        using List = std::remove_reference_t<decltype(*list)>;
        std::string name;
        const Value *given = findField(path, *object, info, name);
        if (given && error.empty())
          list = readList<typename List::value_type>(joinPath(path, name),
                                                     *given, info);
      },
      values);
}

void Parser::readLimits(const Value &value, SpaceConfig &config) {
  const llvm::json::Object *object =
      getObject("limits", value, {"points", "slowest"});
  if (!object)
    return;
  if (const Value *points = object->get("points"))
    config.points = getInteger("limits.points", *points, 1, int64_t(1) << 31);
  if (const Value *slowest = object->get("slowest")) {
    config.slowest = slowest->getAsNumber();
    if (!config.slowest || !std::isfinite(*config.slowest) ||
        *config.slowest < 1)
      failForm("limits.slowest", "a number of at least 1, for example 3.0",
               *slowest);
  }
}

void Parser::readVersion(const llvm::json::Object &root) {
  const Value *version = root.get("version");
  if (!version)
    fail("", "'version' is missing: the file must start with {\"version\": 1");
  else if (version->getAsInteger() != 1)
    failForm("version", "1, the only supported version", *version);
}

llvm::Expected<SpaceConfig> Parser::parse() {
  SpaceConfig config;
  llvm::Expected<Value> root = parseJson(text);
  if (!root) {
    // "[3:7, byte=25]: Expected ..."
    std::string why = llvm::toString(root.takeError());
    StringRef location = StringRef(why).split(':').first.ltrim('[');
    return llvm::createStringError(name + ":" + location +
                                   ": invalid JSON: " + why);
  }
  index.emplace(text);
  if (!index->getDuplicate().empty())
    fail(index->getDuplicate(), "duplicate name: remove one");
  if (const llvm::json::Object *object = getObject(
          "", *root, {"$schema", "version", "parameters", "add", "limits"})) {
    readVersion(*object);
    if (const Value *schema = object->get("$schema");
        schema && !schema->getAsString())
      failForm("$schema", "the name of a schema, for editors", *schema);
    if (const Value *values = object->get("parameters"))
      readValues("parameters", *values, config.parameters);
    if (const Value *values = object->get("add"))
      readValues("add", *values, config.add);
    if (const Value *limits = object->get("limits"))
      readLimits(*limits, config);
  }
  // Values that replace the defaults already contain those that would be added.
  forEachScheduleField(
      [&](const ScheduleFieldInfo &info, const auto &list, const auto &added) {
        if (list && added)
          fail(joinPath("add", info.name),
               "it also appears in 'parameters': put all of its values there");
      },
      config.parameters, config.add);
  if (!error.empty())
    return llvm::createStringError(llvm::Twine(error));
  config.warnings = std::move(warnings);
  return config;
}

llvm::Expected<SpaceConfig> tuning::parseSpaceConfig(StringRef text,
                                                     StringRef name) {
  return Parser(text, name).parse();
}

llvm::Expected<SpaceConfig> tuning::readSpaceConfig(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + buffer.getError().message());
  return parseSpaceConfig((*buffer)->getBuffer(), path);
}
