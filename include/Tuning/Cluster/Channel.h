//===- Channel.h - Messages between processes -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message is a JSON object and bytes. On the wire: the lengths of both, 8
// bytes each in the machine's order, and then both.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_CHANNEL_H
#define TUNING_CLUSTER_CHANNEL_H

#include "Tuning/Cluster/Tls.h"

#include "llvm/Support/JSON.h"
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tessera::tuning {

struct Message {
  llvm::json::Object head;
  std::string bytes;
};

/// The text of a field; empty if there is none.
std::string getText(const llvm::json::Object &head, llvm::StringRef name);

/// One end of a stream socket, which it owns.
class Channel {
public:
  explicit Channel(int file) : file(file) {}
  /// One whose bytes are encrypted; `tls` is a session of that socket.
  Channel(int file, std::unique_ptr<TlsSession> tls)
      : file(file), tls(std::move(tls)) {}
  ~Channel();
  Channel(Channel &&other) noexcept;
  Channel &operator=(Channel &&other) noexcept;

  int getFile() const { return file; }
  /// Null for a channel that is not encrypted.
  TlsSession *getTls() const { return tls.get(); }

  /// From now on the other end is taken for gone when more bytes than these
  /// wait: for a peer that is not authenticated yet. 0: no limit.
  void setLimit(size_t bytes) { limit = bytes; }

  /// False when the other end is gone.
  bool send(const Message &message);

  /// Waits for a whole message; absent when the other end is gone, or sends
  /// anything else.
  std::optional<Message> receive();

  /// Reads the bytes that have arrived, without waiting; false when the other
  /// end is gone.
  bool take();
  /// A whole message among the bytes that have arrived.
  std::optional<Message> next();

private:
  bool isSound() const;
  bool sendAll(const char *data, size_t size);

  int file;
  std::unique_ptr<TlsSession> tls;
  std::string buffer;
  size_t limit = 0;
};

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_CHANNEL_H
