//===- TargetId.cpp - Target IDs of AMD code objects ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/TargetId.h"

#include <algorithm>

using namespace tessera::runtime;

std::string TargetId::str() const {
  std::string text = processor;
  for (const Feature &feature : features)
    text += ":" + feature.name + (feature.isOn ? "+" : "-");
  return text;
}

/// Whether text is a name of lower-case letters, digits and, within, dashes.
static bool isName(const std::string &text) {
  return !text.empty() && text.front() != '-' && text.back() != '-' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
             std::string::npos;
}

std::optional<TargetId>
tessera::runtime::parseTargetId(const std::string &text) {
  TargetId id;
  size_t end = text.find(':');
  id.processor = text.substr(0, end);
  if (!isName(id.processor) || id.processor.rfind("gfx", 0) != 0)
    return std::nullopt;
  while (end != std::string::npos) {
    size_t begin = end + 1;
    end = text.find(':', begin);
    std::string part = text.substr(
        begin, end == std::string::npos ? std::string::npos : end - begin);
    if (part.empty() || (part.back() != '+' && part.back() != '-'))
      return std::nullopt;
    TargetId::Feature feature{part.substr(0, part.size() - 1),
                              part.back() == '+'};
    if (!isName(feature.name))
      return std::nullopt;
    for (const TargetId::Feature &other : id.features)
      if (other.name == feature.name)
        return std::nullopt;
    id.features.push_back(std::move(feature));
  }
  std::sort(id.features.begin(), id.features.end(),
            [](const auto &left, const auto &right) {
              return left.name < right.name;
            });
  return id;
}

bool tessera::runtime::runsOnTarget(const TargetId &code,
                                    const TargetId &device) {
  if (code.processor != device.processor)
    return false;
  return std::all_of(
      code.features.begin(), code.features.end(), [&](const auto &wanted) {
        return std::any_of(device.features.begin(), device.features.end(),
                           [&](const auto &feature) {
                             return feature.name == wanted.name &&
                                    feature.isOn == wanted.isOn;
                           });
      });
}

std::string
tessera::runtime::explainTargetIncompatible(const std::string &code,
                                            const std::string &device, bool) {
  std::optional<TargetId> wanted = parseTargetId(code),
                          own = parseTargetId(device);
  if (!wanted || !own)
    return (wanted ? device : code) + " is not an AMD target ID";
  if (wanted->processor != own->processor)
    return "the device is another chip";
  return runsOnTarget(*wanted, *own)
             ? ""
             : "the device has other settings of its features";
}
