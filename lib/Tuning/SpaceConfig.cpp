//===- SpaceConfig.cpp - Values of the search space -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/SpaceConfig.h"

#include "JsonIndex.h"
#include "Tuning/Json.h"
#include "Tuning/Spelling.h"

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

using Form = ParameterInfo::Form;
using Pair = std::array<int64_t, 2>;

/// `tessera-choose-schedule` decides which values are legal together, and on a
/// chip; a tile beyond these is a typing error.
static constexpr int64_t mostExtent = 65536;
/// As in a grid.
static constexpr int64_t mostWorkgroups = 2147483647;

static constexpr ParameterInfo parameters[] = {
    {"workgroup", Form::Pair, 1, mostExtent},
    {"subgroup", Form::Pair, 1, mostExtent},
    {"k", Form::Integer, 1, mostExtent},
    {"kFragment", Form::Integer, 1, mostExtent},
    {"stages", Form::Integer, 0, 64},
    {"vthread", Form::Pair, 1, mostExtent},
    {"interleave", Form::Integer, 0, mostExtent},
    {"swizzle", Form::Flag},
    {"splitK", Form::Integer, 1, mostExtent},
    {"splitKReduction", Form::Reduction},
    {"raster", Form::Integer, 0, mostWorkgroups},
    {"persistent", Form::Integer, 0, mostWorkgroups},
    {"group", Form::Integer, 1, 64},
    {"stageOutput", Form::Flag},
    {"cluster", Form::Pair, 1, 64},
    {"batches", Form::Integer, 1, mostExtent},
    {"subgroupBatches", Form::Integer, 1, mostExtent},
};

ArrayRef<ParameterInfo> tuning::getScheduleParameters() { return parameters; }

/// Calls `visit` with the name and the list of each entry.
template <typename Visit>
static void visitLists(ScheduleValues &values, Visit visit) {
  visit("workgroup", values.workgroup);
  visit("subgroup", values.subgroup);
  visit("k", values.k);
  visit("kFragment", values.kFragment);
  visit("stages", values.stages);
  visit("vthread", values.vthread);
  visit("interleave", values.interleave);
  visit("swizzle", values.swizzle);
  visit("splitK", values.splitK);
  visit("splitKReduction", values.splitKReduction);
  visit("raster", values.raster);
  visit("persistent", values.persistent);
  visit("group", values.group);
  visit("stageOutput", values.stageOutput);
  visit("cluster", values.cluster);
  visit("batches", values.batches);
  visit("subgroupBatches", values.subgroupBatches);
}

namespace {
/// Keeps the first thing that is wrong, by its place.
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
  std::optional<std::vector<int64_t>>
  readRange(StringRef path, const Value &value, const ParameterInfo &info);
  template <typename T>
  std::optional<T> readElement(StringRef path, const Value &value,
                               const ParameterInfo &info);
  template <typename T>
  std::optional<std::vector<T>> readList(StringRef path, const Value &value,
                                         const ParameterInfo &info);

  StringRef text, name;
  std::optional<JsonIndex> index;
  std::string error;
};
} // namespace

static std::string joinPath(StringRef path, const llvm::Twine &name) {
  return (path + llvm::Twine(path.empty() ? "" : ".") + name).str();
}

static std::string spell(const Value &value) {
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
  fail(path, "it must be " + wanted + ", not " + spell(value));
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
    std::pair<unsigned, StringRef> place(index->getLine(joinPath(path, given)),
                                         given);
    if (!unknown || place < *unknown)
      unknown = place;
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
                  const ParameterInfo &info) {
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

template <>
std::optional<int64_t> Parser::readElement(StringRef path, const Value &value,
                                           const ParameterInfo &info) {
  return getInteger(path, value, info.least, info.most);
}

template <>
std::optional<Pair> Parser::readElement(StringRef path, const Value &value,
                                        const ParameterInfo &info) {
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

template <>
std::optional<bool> Parser::readElement(StringRef path, const Value &value,
                                        const ParameterInfo &info) {
  std::optional<bool> flag = value.getAsBoolean();
  if (!flag)
    failForm(path, "true or false", value);
  return flag;
}

template <>
std::optional<std::string> Parser::readElement(StringRef path,
                                               const Value &value,
                                               const ParameterInfo &info) {
  std::optional<StringRef> given = value.getAsString();
  if (given && llvm::is_contained({"ordered", "atomic", "cluster"}, *given))
    return given->str();
  failForm(path, "\"ordered\", \"atomic\" or \"cluster\"", value);
  return std::nullopt;
}

template <typename T>
std::optional<std::vector<T>> Parser::readList(StringRef path,
                                               const Value &value,
                                               const ParameterInfo &info) {
  if constexpr (std::is_same_v<T, int64_t>)
    if (value.getAsObject())
      return readRange(path, value, info);
  const llvm::json::Array *array = value.getAsArray();
  if (!array) {
    failForm(path,
             info.form == Form::Integer ? "a list, for example [1, 2], or a "
                                          "range, for example {\"min\": 1, "
                                          "\"max\": 2}"
             : info.form == Form::Pair
                 ? "a list of pairs, for example [[64, 64]]"
             : info.form == Form::Flag ? "a list, for example [true, false]"
                                       : "a list, for example [\"ordered\"]",
             value);
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
    std::string place = (path + "[" + llvm::Twine(i) + "]").str();
    std::optional<T> read = readElement<T>(place, element, info);
    if (!read)
      return std::nullopt;
    if (llvm::is_contained(list, *read)) {
      fail(place, spell(element) + " appears twice in the list: remove one");
      return std::nullopt;
    }
    list.push_back(std::move(*read));
  }
  return list;
}

void Parser::readValues(StringRef path, const Value &value,
                        ScheduleValues &values) {
  llvm::SmallVector<StringRef> names;
  for (const ParameterInfo &info : parameters)
    names.push_back(info.name);
  const llvm::json::Object *object = getObject(path, value, names);
  if (!object)
    return;
  visitLists(values, [&](StringRef entry, auto &list) {
    using List = std::remove_reference_t<decltype(*list)>;
    const Value *given = object->get(entry);
    const ParameterInfo *info = llvm::find_if(
        parameters, [&](const ParameterInfo &p) { return p.name == entry; });
    if (given && error.empty())
      list = readList<typename List::value_type>(joinPath(path, entry), *given,
                                                 *info);
  });
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
    StringRef place = StringRef(why).split(':').first.ltrim('[');
    return llvm::createStringError(name + ":" + place +
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
  std::vector<StringRef> replaced;
  visitLists(config.parameters, [&](StringRef entry, auto &list) {
    if (list)
      replaced.push_back(entry);
  });
  visitLists(config.add, [&](StringRef entry, auto &list) {
    if (list && llvm::is_contained(replaced, entry))
      fail(joinPath("add", entry),
           "it also appears in 'parameters': put all of its values there");
  });
  if (!error.empty())
    return llvm::createStringError(llvm::Twine(error));
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
