//===- ConfigSchema.cpp - The JSON schema of tuning configurations --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only the part of a configuration on schedule fields depends on the fields.
//
//===----------------------------------------------------------------------===//

#include "Tuning/SpaceConfig.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::tessera;
using namespace mlir::tessera::tuning;
using llvm::StringRef;

using Kind = ScheduleFieldInfo::Kind;

static constexpr StringRef head = R"({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "gpu-tune's configuration of the space of schedules",
  "type": "object",
  "additionalProperties": false,
  "required": ["version"],
  "properties": {
    "$schema": {"description": "the URL of this schema, for editors", "type": "string"},
    "version": {"const": 1},
    "parameters": {"description": "values instead of the default ones", "$ref": "#/definitions/values"},
    "add": {"description": "values in addition to the default ones", "$ref": "#/definitions/values"},
    "limits": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "points": {
          "description": "the maximum number of candidates",
          "type": "integer",
          "minimum": 1,
          "maximum": 2147483648
        },
        "slowest": {
          "description": "a candidate that takes more than this many times as long as the best one is timed only roughly",
          "type": "number",
          "minimum": 1
        }
      }
    }
  },
  "definitions": {
    "values": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
)";

static constexpr StringRef tail = R"(
      }
    }
  }
}
)";

/// {"type": "integer", ...}, where integers from `least` on are legal.
static std::string getIntegerType(int64_t least, int64_t most) {
  return "{\"type\": \"integer\", \"minimum\": " + std::to_string(least) +
         ", \"maximum\": " + std::to_string(most) + "}";
}

/// The members of a list's schema, up to those of its items.
static std::string getListHead(StringRef indent, bool hasMaximum) {
  std::string text;
  for (const std::string &member :
       {std::string("\"type\": \"array\""), std::string("\"minItems\": 1"),
        hasMaximum ? "\"maxItems\": " + std::to_string(maxParameterValues) : "",
        std::string("\"uniqueItems\": true")})
    if (!member.empty())
      text += indent.str() + member + ",\n";
  return text + indent.str() + "\"items\": ";
}

/// A list of integers, or a range.
static void writeInteger(llvm::raw_ostream &os, const ScheduleFieldInfo &info) {
  std::string type = getIntegerType(info.least, info.most);
  os << "          \"oneOf\": [\n            {\n"
     << getListHead("              ", /*hasMaximum=*/true) << type
     << "\n            },\n            {\n"
        "              \"type\": \"object\",\n"
        "              \"properties\": {\n"
     << "                \"min\": " << type << ",\n"
     << "                \"max\": " << type << ",\n"
     << "                \"step\": " << getIntegerType(1, info.most) << ",\n"
     << "                \"factor\": " << getIntegerType(2, info.most) << "\n"
     << "              },\n"
        "              \"required\": [\"min\", \"max\"],\n"
        "              \"additionalProperties\": false,\n"
        "              \"not\": {\"required\": [\"step\", \"factor\"]}\n"
        "            }\n          ]\n";
}

static void writeValues(llvm::raw_ostream &os, const ScheduleFieldInfo &info) {
  static constexpr StringRef indent = "          ";
  switch (info.kind) {
  case Kind::Integer:
    return writeInteger(os, info);
  case Kind::Pair:
    os << getListHead(indent, /*hasMaximum=*/true)
       << "{\n            \"type\": \"array\",\n"
          "            \"minItems\": 2,\n            \"maxItems\": 2,\n"
          "            \"items\": "
       << getIntegerType(info.least, info.most) << "\n          }\n";
    return;
  case Kind::Flag:
    os << getListHead(indent, /*hasMaximum=*/false)
       << "{\"type\": \"boolean\"}\n";
    return;
  case Kind::Enum:
    os << getListHead(indent, /*hasMaximum=*/false) << "{\"enum\": [";
    for (const llvm::StringLiteral &word : info.words)
      os << (&word == info.words.begin() ? "\"" : ", \"") << word << '"';
    os << "]}\n";
    return;
  }
}

/// One property: the values of a field by its name, or by a former one.
static void writeProperty(llvm::raw_ostream &os, StringRef name,
                          StringRef description,
                          const ScheduleFieldInfo &info) {
  os << "        \"" << name
     << "\": {\n          \"description\": " << llvm::json::Value(description)
     << ",\n";
  writeValues(os, info);
  os << "        }";
}

std::string tuning::makeConfigSchema() {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << head;
  for (const ScheduleFieldInfo &info : getScheduleFields()) {
    os << (&info == getScheduleFields().begin() ? "" : ",\n");
    writeProperty(os, info.name, info.doc, info);
  }
  for (const OldScheduleFieldName &old : getOldScheduleFieldNames()) {
    os << ",\n";
    writeProperty(os, old.oldName, ("the former name of " + old.name).str(),
                  *findScheduleField(old.name));
  }
  os << tail;
  return text;
}
