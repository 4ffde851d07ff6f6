//===- Tls.h - Encrypted connections between hosts --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TLS 1.3 by OpenSSL, with a pre-shared key and an ephemeral key exchange
// (psk_dhe_ke): a peer that completes the handshake has the key, on both sides,
// and a key that leaks later does not decrypt what was recorded before.
// Certificates are not used.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_TLS_H
#define TUNING_CLUSTER_TLS_H

#include "llvm/Support/Error.h"

#include <cstddef>
#include <memory>
#include <string>
#include <sys/types.h>

namespace tessera::tuning {

/// One connection. It waits for nothing, and is used by one thread at a time.
class TlsSession {
public:
  virtual ~TlsSession() = default;

  enum class State { Done, Working, Failed };
  /// Goes on with the handshake. `Working`: call again when the socket is
  /// readable.
  virtual State handshake() = 0;
  /// Why the handshake failed. `isOtherKey`: the other end speaks TLS and does
  /// not have this key.
  virtual std::string getFailure() const = 0;
  virtual bool isOtherKey() const = 0;

  /// As `recv` and `send`: bytes, or -1 with EAGAIN if they would wait; 0 from
  /// `read`, and -1 with another error, when the other end is gone. A
  /// connection that was cut counts as an end.
  virtual ssize_t read(char *data, size_t size) = 0;
  virtual ssize_t write(const char *data, size_t size) = 0;
  /// Whether `read` has bytes that the socket no longer shows.
  virtual bool hasPending() const = 0;
};

/// State shared by all connections of a process.
class TlsContext {
public:
  /// `isServer`: for connections that were accepted.
  static llvm::Expected<std::unique_ptr<TlsContext>>
  create(const std::string &key, bool isServer);
  virtual ~TlsContext() = default;
  /// For a connected socket, which stays the caller's. The session must not
  /// outlive the context.
  virtual std::unique_ptr<TlsSession> connect(int file) = 0;
};

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_TLS_H
