//===- Roofline.cpp - Highest rate of a matmul ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Roofline.h"

#include "Target/Backend.h"
#include "TargetInfo/Emulation.h"
#include "TargetInfo/Peaks.h"

#include "llvm/Support/Format.h"

using namespace tessera::execution;

/// "33.6 M", to precede a unit.
static std::string formatCount(double count) {
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  for (; count >= 1000 && prefix + 1 < std::size(prefixes); ++prefix)
    count /= 1000;
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(count >= 100 || prefix == 0 ? "%.0f" : "%.1f", count)
      << " " << prefixes[prefix];
  return text;
}

void tessera::execution::explainRoof(const compiler::MatmulReport &matmul,
                                     const MatmulWork *work,
                                     const compiler::Chip &chip,
                                     const runtime::DeviceInfo *device,
                                     llvm::raw_ostream &os,
                                     llvm::json::Object &object) {
  object["work"] = nullptr;
  object["roof"] = nullptr;
  if (!work || !work->operations || !work->bytes || *work->bytes == 0) {
    std::string why = work ? "its sizes are dynamic"
                           : "it is not one op on whole arrays in the entry";
    os << "  operations and bytes unknown: " << why << "\n";
    object["roof_unknown"] = why;
    return;
  }
  double operations = *work->operations, bytes = *work->bytes,
         intensity = operations / bytes;
  object["work"] =
      llvm::json::Object{{"operations", toJSON(operations)},
                         {"bytes", toJSON(bytes)},
                         {"operations_per_byte", toJSON(intensity)}};
  os << "  " << formatCount(operations) << "FLOP, " << formatCount(bytes)
     << "B of operands and result: " << llvm::format("%.1f", intensity)
     << " FLOP/B";
  std::string why;
  std::optional<compiler::Roof> roof;
  if (compiler::isEmulated(chip))
    why = "the chip is emulated";
  else if (StringRef reason =
               compiler::findBackend(chip.target)->getRoofUnknown();
           !reason.empty())
    why = reason.str();
  else
    roof = compiler::findRoof(
        chip.name, device ? StringRef(device->name) : StringRef(),
        device ? device->computeUnits : 0, device ? device->clockMHz : 0,
        matmul.rateType, why);
  if (!roof) {
    os << "; no roofline: " << why << "\n";
    object["roof_unknown"] = llvm::json::fixUTF8(why);
    return;
  }
  bool byMemory = roof->bytes > 0 && intensity * roof->bytes < roof->operations;
  double most = byMemory ? intensity * roof->bytes : roof->operations;
  os << ", at most " << formatCount(most) << "FLOP/s by its "
     << (byMemory ? "memory" : "arithmetic")
     << "\n  roof: " << formatCount(roof->operations) << "FLOP/s of "
     << matmul.rateType;
  if (roof->bytes > 0)
    os << ", " << formatCount(roof->bytes) << "B/s, ridge at "
       << llvm::format("%.1f", roof->operations / roof->bytes) << " FLOP/B";
  else
    os << ", memory bandwidth unknown";
  os << " (" << roof->source << ")\n";
  llvm::json::Object described{
      {"type", matmul.rateType},
      {"operations_per_s", toJSON(roof->operations)},
      {"bytes_per_s", nullptr},
      {"ridge", nullptr},
      {"limited_by", byMemory ? "memory" : "arithmetic"},
      {"attainable_per_s", toJSON(most)},
      {"least_ms", toJSON(operations / most * 1e3)},
      {"source", llvm::json::fixUTF8(roof->source)}};
  if (roof->bytes > 0) {
    described["bytes_per_s"] = toJSON(roof->bytes);
    described["ridge"] = toJSON(roof->operations / roof->bytes);
  }
  object["roof"] = std::move(described);
}
