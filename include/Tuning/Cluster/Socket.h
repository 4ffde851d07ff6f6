//===- Socket.h - TCP between hosts -----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_SOCKET_H
#define TUNING_CLUSTER_SOCKET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::tuning {

/// Listens on "ADDRESS:PORT", "[ADDRESS]:PORT", "ADDRESS" or ":PORT"; without
/// an address on the loopback interface, with the address "*" on all, without a
/// port on a free one. Returns the socket, which does not wait in accept, and
/// its port.
llvm::Expected<int> listenOn(llvm::StringRef address, uint16_t &port);

/// Connects to "ADDRESS:PORT", which may be a name, within `seconds` for each
/// of its addresses.
llvm::Expected<int> connectTo(llvm::StringRef address, double seconds);

/// Whether the text is ADDRESS:PORT, as `connectTo` takes it.
bool isAddress(llvm::StringRef address);

/// A connection on which whatever is sent goes out at once, and which ends
/// about 15 seconds after the other host has vanished.
void watchConnection(int file);

/// The other end's address, without its port.
std::string getPeerAddress(int file);

/// The addresses of this host's interfaces that are up, as `connectTo` takes
/// them with a port appended: IPv4 first, and the loopback last. `address`: the
/// argument of `listenOn`; unless it listens on all, that one only.
std::vector<std::string> getOwnAddresses(llvm::StringRef address,
                                         uint16_t port);

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_SOCKET_H
