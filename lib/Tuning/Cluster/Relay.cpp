//===- Relay.cpp - An encrypted line to a worker --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/Relay.h"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

using namespace tessera::tuning;

/// Bytes that wait in one direction before no more are read.
static constexpr size_t mostWaiting = 1 << 20;

Relay::Relay(Channel run, int worker)
    : run(std::move(run)), worker(worker), thread([this] { pass(); }) {}

Relay::~Relay() {
  // Both reads then give an end.
  shutdown(run.getFile(), SHUT_RDWR);
  shutdown(worker.getFile(), SHUT_RDWR);
  thread.join();
}

namespace {
/// Bytes on their way in one direction.
struct Queue {
  std::string bytes;
  /// No more come.
  bool isEnded = false;

  bool isFull() const { return isEnded || bytes.size() >= mostWaiting; }
  /// Takes what `read` has; false when nothing more is there for now.
  template <typename Function> void fill(Function read) {
    char block[1 << 16];
    while (!isFull()) {
      ssize_t got = read(block, sizeof(block));
      if (got > 0) {
        bytes.append(block, static_cast<size_t>(got));
        continue;
      }
      if (got < 0 && errno == EINTR)
        continue;
      isEnded = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
      return;
    }
  }
  /// Gives away what `write` takes; false when the other end is gone.
  template <typename Function> bool drain(Function write) {
    while (!bytes.empty()) {
      ssize_t done = write(bytes.data(), bytes.size());
      if (done > 0) {
        bytes.erase(0, static_cast<size_t>(done));
        continue;
      }
      if (done < 0 && errno == EINTR)
        continue;
      return done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
    return true;
  }
};
} // namespace

void Relay::pass() {
  TlsSession &tls = *run.getTls();
  int line = worker.getFile();
  Queue toWorker, toRun;
  while (true) {
    toWorker.fill(
        [&](char *data, size_t size) { return tls.read(data, size); });
    toRun.fill([&](char *data, size_t size) {
      return recv(line, data, size, MSG_DONTWAIT);
    });
    if (!toWorker.drain([&](const char *data, size_t size) {
          return ::send(line, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        }))
      break;
    if (!toRun.drain([&](const char *data, size_t size) {
          return tls.write(data, size);
        }))
      break;
    // Messages that a worker sent before it ended are forwarded first.
    if ((toWorker.isEnded && toWorker.bytes.empty()) ||
        (toRun.isEnded && toRun.bytes.empty()))
      break;
    auto events = [](const Queue &in, const Queue &out) {
      return static_cast<short>((in.isFull() ? 0 : POLLIN) |
                                (out.bytes.empty() ? 0 : POLLOUT));
    };
    pollfd files[] = {{run.getFile(), events(toWorker, toRun), 0},
                      {line, events(toRun, toWorker), 0}};
    poll(files, 2, tls.hasPending() && !toWorker.isFull() ? 0 : -1);
  }
  // The other end of each is to see an end as well.
  shutdown(run.getFile(), SHUT_RDWR);
  shutdown(line, SHUT_RDWR);
}
