//===- ScheduleAttr.cpp - The schedule of a contraction -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything here works on the table of ScheduleFields.def. Only constraints
// between fields name them.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/ScheduleFields.h"
#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::tessera;

using Field = ScheduleField;
using Kind = ScheduleFieldInfo::Kind;

//===----------------------------------------------------------------------===//
// ScheduleFields
//===----------------------------------------------------------------------===//

bool ScheduleFields::operator==(const ScheduleFields &other) const {
  return ScheduleNumbers(*this) == ScheduleNumbers(other);
}

// NOLINTNEXTLINE(readability-identifier-naming)
llvm::hash_code mlir::tessera::hash_value(const ScheduleFields &fields) {
  ScheduleNumbers numbers(fields);
  return llvm::hash_combine_range(numbers.values.begin(), numbers.values.end());
}

//===----------------------------------------------------------------------===//
// ScheduleNumbers
//===----------------------------------------------------------------------===//

ScheduleNumbers::ScheduleNumbers(const ScheduleFields &fields)
    : values{
#define SCHEDULE_PAIR(Name, name, ...) fields.name[0], fields.name[1],
#define SCHEDULE_NUMBER(Name, name) static_cast<int64_t>(fields.name),
#include "Dialect/Tessera/IR/ScheduleFields.def"
      } {
}

ScheduleNumbers::ScheduleNumbers(ScheduleAttr schedule)
    : ScheduleNumbers(schedule.getFields()) {}

ScheduleFields ScheduleNumbers::getFields() const {
  ScheduleFields fields;
#define SCHEDULE_PAIR(Name, name, ...)                                         \
  fields.name = {(*this)[Field::Name##M], (*this)[Field::Name##N]};
#define SCHEDULE_NUMBER(Name, name)                                            \
  fields.name = static_cast<decltype(fields.name)>((*this)[Field::Name]);
#include "Dialect/Tessera/IR/ScheduleFields.def"
  return fields;
}

/// The constraint that a field has two elements if it is a pair, and is at
/// least its minimum.
static StringRef getLabel(const ScheduleFieldInfo &info) {
  return info.isAlwaysPrinted ? "schedule_c1" : "schedule_c5";
}

LogicalResult
ScheduleNumbers::verify(function_ref<InFlightDiagnostic()> emitError) const {
  const ScheduleNumbers &s = *this;
  auto fail = [&](const auto &...parts) -> LogicalResult {
    if (emitError)
      ((emitError()) << ... << parts);
    return failure();
  };
  for (const ScheduleFieldInfo &info : getScheduleFields()) {
    if (s[info.number] >= info.least &&
        (!info.isPair() || s[info.getSecond()] >= info.least))
      continue;
    if (!info.isPair())
      return fail(getLabel(info), ": ", info.name, " must be at least ",
                  info.least, ", not ", s[info.number]);
    return fail(getLabel(info), ": ", info.name,
                " must have two elements of at least ", info.least, ", not [",
                s[info.number], ", ", s[info.getSecond()], "]");
  }
  for (auto [d, workgroup, subgroup, vthread] :
       {std::tuple(0, Field::WorkgroupM, Field::SubgroupM, Field::VthreadM),
        std::tuple(1, Field::WorkgroupN, Field::SubgroupN, Field::VthreadN)}) {
    if (s[workgroup] % s[subgroup])
      return fail("schedule_c2: the subgroup's tile (", s[subgroup],
                  ") does not divide the workgroup's (", s[workgroup],
                  ") in dimension ", d);
    if (s[subgroup] % s[vthread])
      return fail("schedule_c3: the vthread grid (", s[vthread],
                  ") does not divide the subgroup's tile (", s[subgroup],
                  ") in dimension ", d);
  }
  if (s[Field::K] % s[Field::KFragment])
    return fail("schedule_c4: kFragment (", s[Field::KFragment],
                ") does not divide k (", s[Field::K], ")");
  int64_t vthreads = s[Field::VthreadM] * s[Field::VthreadN];
  if (s[Field::Interleave] > vthreads)
    return fail("schedule_c5: interleave must be at most the number of "
                "vthreads, ",
                vthreads, ", not ", s[Field::Interleave]);
  if (s[Field::Batches] % s[Field::SubgroupBatches])
    return fail("schedule_c2: subgroupBatches (", s[Field::SubgroupBatches],
                ") does not divide batches (", s[Field::Batches], ")");
  if (s[Field::Swizzle] && s[Field::Stages] == 0)
    return fail("schedule_c6: swizzle requires staged tiles: set stages to 1 "
                "or more, or leave out swizzle");
  return success();
}

ScheduleAttr ScheduleNumbers::getAttr(MLIRContext *context) const {
  return isValid() ? ScheduleAttr::get(context, getFields()) : ScheduleAttr();
}

std::string ScheduleNumbers::describeChange(const ScheduleNumbers &from) const {
  std::string text;
  for (const ScheduleFieldInfo &info : getScheduleFields())
    if (format(info) != from.format(info))
      text +=
          (text.empty() ? "" : ", ") + info.name.str() + " = " + format(info);
  return text;
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

/// "workgroup, subgroup, ... or subgroupBatches".
static std::string listFieldNames() {
  std::string text;
  ArrayRef<ScheduleFieldInfo> fields = getScheduleFields();
  for (const ScheduleFieldInfo &info : fields)
    text += (&info == fields.begin()   ? ""
             : &info == &fields.back() ? " or "
                                       : ", ") +
            info.name.str();
  return text;
}

/// Parses one of `words`, and returns its index.
static ParseResult parseWord(AsmParser &parser, ArrayRef<StringLiteral> words,
                             int64_t &index) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  const StringLiteral *found = llvm::find(words, word);
  if (found == words.end()) {
    InFlightDiagnostic diag = parser.emitError(loc, "expected ");
    for (const StringLiteral &each : words)
      diag << (&each == words.begin()   ? ""
               : &each == &words.back() ? " or "
                                        : ", ")
           << each;
    return diag;
  }
  index = found - words.begin();
  return success();
}

static ParseResult parseValue(AsmParser &parser, const ScheduleFieldInfo &info,
                              SMLoc keyLoc, ScheduleNumbers &numbers) {
  static constexpr StringLiteral flagWords[] = {"false", "true"};
  switch (info.kind) {
  case Kind::Integer:
    return parser.parseInteger(numbers[info.number]);
  case Kind::Flag:
    return parseWord(parser, flagWords, numbers[info.number]);
  case Kind::Enum:
    return parseWord(parser, info.words, numbers[info.number]);
  case Kind::Pair:
    break;
  }
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(values.emplace_back());
      }))
    return failure();
  if (values.size() != 2)
    return parser.emitError(keyLoc)
           << getLabel(info) << ": " << info.name
           << " must have two elements, not " << values.size();
  numbers[info.number] = values[0];
  numbers[info.getSecond()] = values[1];
  return success();
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  ScheduleNumbers numbers((ScheduleFields()));
  SMLoc loc = parser.getCurrentLocation();
  auto parseField = [&]() -> ParseResult {
    StringRef key;
    SMLoc keyLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    StringRef name = getScheduleFieldName(key);
    const ScheduleFieldInfo *info = findScheduleField(name);
    if (!info)
      return parser.emitError(keyLoc, "unknown schedule field '")
             << key << "': expected " << listFieldNames();
    if (name != key)
      emitWarning(parser.getEncodedSourceLoc(keyLoc))
          << "the schedule field '" << key << "' is now called '" << name
          << "'";
    return parseValue(parser, *info, keyLoc, numbers);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseField))
    return {};
  if (numbers[Field::KFragment] == 0)
    numbers[Field::KFragment] = numbers[Field::K];
  return parser.getChecked<ScheduleAttr>(loc, parser.getContext(),
                                         numbers.getFields());
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  ScheduleNumbers numbers(getFields());
  printer << '<';
  bool isFirst = true;
  for (const ScheduleFieldInfo &info : getScheduleFields()) {
    if (!info.isAlwaysPrinted && numbers.hasDefault(info))
      continue;
    printer << (isFirst ? "" : ", ") << info.name << " = "
            << numbers.format(info);
    isFirst = false;
  }
  printer << '>';
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ScheduleFields fields) {
  return ScheduleNumbers(fields).verify(emitError);
}
