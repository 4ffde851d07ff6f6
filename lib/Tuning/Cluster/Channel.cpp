//===- Channel.cpp - Messages between processes ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/Channel.h"

#include "Tuning/Json.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace tessera::tuning;

/// No message is longer: a damaged length is not worth the memory.
static constexpr uint64_t mostBytes = uint64_t(1) << 32;

std::string tessera::tuning::getText(const llvm::json::Object &head,
                                     llvm::StringRef name) {
  auto text = head.getString(name);
  return text ? text->str() : "";
}

Channel::~Channel() {
  // It may still send an end message.
  tls.reset();
  if (file >= 0)
    close(file);
}

Channel::Channel(Channel &&other) noexcept
    : file(other.file), tls(std::move(other.tls)),
      buffer(std::move(other.buffer)), limit(other.limit) {
  other.file = -1;
}

Channel &Channel::operator=(Channel &&other) noexcept {
  std::swap(file, other.file);
  std::swap(tls, other.tls);
  std::swap(buffer, other.buffer);
  std::swap(limit, other.limit);
  return *this;
}

bool Channel::sendAll(const char *data, size_t size) {
  while (size > 0) {
    ssize_t sent =
        tls ? tls->write(data, size) : ::send(file, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd wait = {file, POLLOUT, 0};
      poll(&wait, 1, -1);
      continue;
    }
    if (sent <= 0)
      return false;
    data += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool Channel::send(const Message &message) {
  std::string head;
  llvm::raw_string_ostream(head)
      << llvm::json::Value(llvm::json::Object(message.head));
  uint64_t sizes[2] = {head.size(), message.bytes.size()};
  std::string packet(sizeof(sizes), '\0');
  std::memcpy(packet.data(), sizes, sizeof(sizes));
  packet += head;
  return sendAll(packet.data(), packet.size()) &&
         sendAll(message.bytes.data(), message.bytes.size());
}

/// Whether what has come may be the beginning of a message.
bool Channel::isSound() const {
  uint64_t sizes[2];
  if (buffer.size() < sizeof(sizes))
    return true;
  std::memcpy(sizes, buffer.data(), sizeof(sizes));
  uint64_t most = limit ? limit : mostBytes;
  return sizes[0] <= most && sizes[1] <= most &&
         (!limit || buffer.size() <= limit);
}

bool Channel::take() {
  char block[1 << 16];
  while (true) {
    ssize_t got = tls ? tls->read(block, sizeof(block))
                      : recv(file, block, sizeof(block), MSG_DONTWAIT);
    if (got > 0) {
      buffer.append(block, static_cast<size_t>(got));
      if (!isSound())
        return false;
      continue;
    }
    if (got < 0 && errno == EINTR)
      continue;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

std::optional<Message> Channel::next() {
  uint64_t sizes[2];
  if (buffer.size() < sizeof(sizes))
    return std::nullopt;
  std::memcpy(sizes, buffer.data(), sizeof(sizes));
  // One that is too long is not parsed either.
  if (!isSound()) {
    buffer.clear();
    return std::nullopt;
  }
  size_t end = sizeof(sizes) + sizes[0] + sizes[1];
  if (buffer.size() < end)
    return std::nullopt;
  Message message;
  llvm::Expected<llvm::json::Value> head = mlir::tessera::tuning::parseJson(
      llvm::StringRef(buffer).substr(sizeof(sizes), sizes[0]));
  if (!head)
    llvm::consumeError(head.takeError());
  else if (llvm::json::Object *object = head->getAsObject())
    message.head = std::move(*object);
  message.bytes = buffer.substr(sizeof(sizes) + sizes[0], sizes[1]);
  buffer.erase(0, end);
  return message;
}

std::optional<Message> Channel::receive() {
  while (true) {
    if (std::optional<Message> message = next())
      return message;
    pollfd wait = {file, POLLIN, 0};
    if (poll(&wait, 1, -1) < 0 && errno != EINTR)
      return std::nullopt;
    if (!take())
      return next();
  }
}
