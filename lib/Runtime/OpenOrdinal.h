//===- OpenOrdinal.h - One device of those that a driver lists --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_OPENORDINAL_H
#define TESSERA_LIB_RUNTIME_OPENORDINAL_H

#include "Format.h"
#include "Runtime/Device.h"

namespace tessera::runtime {

/// Opens device `ordinal`, counted from 0, of those that `forEach(visit)`
/// visits until the visit returns false; `forEach` returns why the others
/// cannot be used. `make(capabilities)` makes a `DeviceT`, which `open()` then
/// opens. `NoDevice` where there are not so many.
template <typename DeviceT, typename ForEach, typename Make>
Expected<std::unique_ptr<Device>> openOrdinal(const char *target, int ordinal,
                                              ForEach forEach, Make make) {
  int next = 0;
  std::unique_ptr<DeviceT> device;
  std::string reason = forEach([&](const auto &capabilities) {
    if (next++ != ordinal)
      return true;
    device = make(capabilities);
    return false;
  });
  if (!device)
    return Status(
        StatusCode::NoDevice,
        format("no %s device %d: this machine has %d", target, ordinal, next) +
            (reason.empty() ? "" : " (" + reason + ")"));
  if (Status status = device->open(); !status.ok())
    return status;
  return std::unique_ptr<Device>(std::move(device));
}

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_OPENORDINAL_H
