//===- DeviceChip.cpp - Which chip's code a device runs -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/DeviceChip.h"

#include "Target/Backend.h"

using namespace mlir;
using namespace mlir::tessera;

std::string mlir::tessera::explainIncompatible(StringRef target, StringRef chip,
                                               StringRef host, bool isCubin) {
  if (chip == host)
    return "";
  const TargetBackend *backend = findBackend(target);
  return backend ? backend->explainIncompatible(chip, host, isCubin)
                 : ("unknown target '" + target + "'").str();
}

std::string mlir::tessera::getChipFor(const runtime::DeviceInfo &device) {
  const TargetBackend *backend = findBackend(device.target);
  return backend ? backend->chooseChip(device) : "";
}

std::string mlir::tessera::getFeatures(const runtime::DeviceInfo &device,
                                       StringRef chip) {
  // Code of a bundle uses the features in its chip's name, even if the device
  // has more.
  const TargetBackend *backend = findBackend(device.target);
  if (!backend || !backend->hasFeatures())
    return "";
  const std::string &own =
      device.targetId.empty() ? device.chip : device.targetId;
  return own == chip ? "" : own;
}
