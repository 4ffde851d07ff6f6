//===- SpirvProfile.cpp - Requirements of SPIR-V code ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpirvProfile.h"

#include <algorithm>

using namespace tessera::runtime;

/// Reads "s16" as 16; false if the letter differs or no number follows.
static bool readNumber(const std::string &field, char letter, int64_t &value) {
  constexpr size_t mostDigits = 18;
  if (field.size() < 2 || field.size() > mostDigits || field[0] != letter ||
      field.find_first_not_of("0123456789", 1) != std::string::npos)
    return false;
  value = std::stoll(field.substr(1));
  return true;
}

std::optional<SpirvProfile> SpirvProfile::parse(const std::string &chip) {
  std::vector<std::string> fields;
  for (size_t at = 0; at <= chip.size();) {
    size_t end = std::min(chip.find('-', at), chip.size());
    fields.push_back(chip.substr(at, end - at));
    at = end + 1;
  }
  SpirvProfile profile;
  if (fields.size() < 3 || !readNumber(fields[0], 's', profile.lanes) ||
      !readNumber(fields[1], 'w', profile.workgroupBytes) ||
      !readNumber(fields[2], 't', profile.threads))
    return std::nullopt;
  profile.features.assign(fields.begin() + 3, fields.end());
  return profile;
}

bool SpirvProfile::has(const std::string &feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

std::string tessera::runtime::describeSpirvFeature(const std::string &feature) {
  if (feature == "f16" || feature == "f64")
    return feature + " arithmetic";
  if (feature == "a32" || feature == "a64")
    return "atomic addition of f" + feature.substr(1);
  if (feature == "dpas")
    return "the matrix unit dpas";
  if (feature == "reduce")
    return "reductions and conversions of cooperative matrices";
  int64_t bits = 0;
  if (readNumber(feature, 'n', bits))
    return "preservation of NaNs of f" + feature.substr(1);
  return "matmuls of " + feature;
}

std::string
tessera::runtime::explainReportedIncompatible(const std::string &code,
                                              const std::string &device, bool) {
  if (code == device)
    return "";
  std::optional<SpirvProfile> wanted = SpirvProfile::parse(code),
                              own = SpirvProfile::parse(device);
  if (!wanted || !own)
    return "the device is not one of that family";
  auto atMost = [](const char *what, int64_t has, int64_t needs) {
    return "the device has " + std::to_string(has) + what +
           ", but the code may use " + std::to_string(needs);
  };
  if (wanted->lanes != own->lanes)
    return "the device has subgroups of " + std::to_string(own->lanes) +
           " lanes, but the code is for " + std::to_string(wanted->lanes);
  if (wanted->workgroupBytes > own->workgroupBytes)
    return atMost(" bytes of workgroup memory", own->workgroupBytes,
                  wanted->workgroupBytes);
  if (wanted->threads > own->threads)
    return atMost(" threads in a workgroup", own->threads, wanted->threads);
  // A family may have dozens of matmuls: the first ones suffice.
  constexpr size_t mostNamed = 3;
  std::string lacks;
  size_t count = 0;
  for (const std::string &feature : wanted->features)
    if (!own->has(feature) && ++count <= mostNamed)
      lacks += (lacks.empty() ? "" : ", ") + describeSpirvFeature(feature);
  if (count > mostNamed)
    lacks += " and " + std::to_string(count - mostNamed) + " more";
  return lacks.empty() ? "" : "the device lacks " + lacks;
}
