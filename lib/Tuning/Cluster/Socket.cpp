//===- Socket.cpp - TCP between hosts -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/Socket.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace tessera::tuning;

static llvm::Error makeError(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

namespace {
struct Endpoint {
  std::string address, port;
};
} // namespace

/// For sockets of this host alone, and for those of all interfaces.
static constexpr char loopback[] = "127.0.0.1", everywhere[] = "*";

static bool isEverywhere(llvm::StringRef address) {
  return address == everywhere || address == "0.0.0.0" || address == "::";
}

/// "ADDRESS:PORT" or "[ADDRESS]:PORT"; each part may be absent.
static Endpoint split(llvm::StringRef text) {
  if (text.consume_front("[")) {
    auto [address, rest] = text.split(']');
    rest.consume_front(":");
    return {address.str(), rest.str()};
  }
  auto [address, port] = text.rsplit(':');
  return {address.str(), port.str()};
}

bool tessera::tuning::isAddress(llvm::StringRef text) {
  Endpoint endpoint = split(text);
  uint16_t port = 0;
  return !endpoint.address.empty() &&
         !llvm::StringRef(endpoint.port).getAsInteger(10, port) && port > 0;
}

static void set(int file, int level, int option, int value) {
  setsockopt(file, level, option, &value, sizeof(value));
}

void tessera::tuning::watchConnection(int file) {
  set(file, IPPROTO_TCP, TCP_NODELAY, 1);
  // Silence for 6 s, and 3 questions without an answer.
  set(file, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(file, IPPROTO_TCP, TCP_KEEPIDLE, 6);
  set(file, IPPROTO_TCP, TCP_KEEPINTVL, 3);
  set(file, IPPROTO_TCP, TCP_KEEPCNT, 3);
  // Keep-alive probes are not sent while data is unacknowledged.
  set(file, IPPROTO_TCP, TCP_USER_TIMEOUT, 15'000);
}

llvm::Expected<int> tessera::tuning::listenOn(llvm::StringRef text,
                                              uint16_t &port) {
  Endpoint endpoint = split(text);
  if (endpoint.address.empty())
    endpoint.address = loopback;
  addrinfo hints = {}, *list = nullptr;
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  const char *service = endpoint.port.empty() ? "0" : endpoint.port.c_str();
  if (int code = getaddrinfo(
          endpoint.address == everywhere ? nullptr : endpoint.address.c_str(),
          service, &hints, &list))
    return makeError("'" + text + "': " + gai_strerror(code));
  auto free = llvm::make_scope_exit([&] { freeaddrinfo(list); });
  std::string why;
  // IPv6 takes IPv4's too; where there is none, IPv4 by itself.
  for (int family : {AF_INET6, AF_INET})
    for (addrinfo *one = list; one; one = one->ai_next) {
      if (one->ai_family != family)
        continue;
      int file = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      if (file < 0) {
        why = std::strerror(errno);
        continue;
      }
      if (family == AF_INET6)
        set(file, IPPROTO_IPV6, IPV6_V6ONLY, 0);
      set(file, SOL_SOCKET, SO_REUSEADDR, 1);
      sockaddr_storage bound = {};
      socklen_t size = sizeof(bound);
      if (bind(file, one->ai_addr, one->ai_addrlen) == 0 &&
          listen(file, SOMAXCONN) == 0 &&
          getsockname(file, reinterpret_cast<sockaddr *>(&bound), &size) == 0) {
        port = ntohs(family == AF_INET6
                         ? reinterpret_cast<sockaddr_in6 &>(bound).sin6_port
                         : reinterpret_cast<sockaddr_in &>(bound).sin_port);
        return file;
      }
      why = std::strerror(errno);
      close(file);
    }
  return makeError("cannot listen on '" + text + "': " + why);
}

llvm::Expected<int> tessera::tuning::connectTo(llvm::StringRef text,
                                               double seconds) {
  Endpoint endpoint = split(text);
  addrinfo hints = {}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (int code = getaddrinfo(endpoint.address.c_str(), endpoint.port.c_str(),
                             &hints, &list))
    return makeError("'" + text + "': " + gai_strerror(code));
  auto free = llvm::make_scope_exit([&] { freeaddrinfo(list); });
  std::string why = "it has no address";
  for (addrinfo *one = list; one; one = one->ai_next) {
    int file =
        socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0) {
      why = std::strerror(errno);
      continue;
    }
    int error = 0;
    if (connect(file, one->ai_addr, one->ai_addrlen) != 0)
      error = errno;
    if (error == EINPROGRESS) {
      pollfd wait = {file, POLLOUT, 0};
      socklen_t size = sizeof(error);
      error = ETIMEDOUT;
      if (poll(&wait, 1, static_cast<int>(seconds * 1000)) > 0)
        getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) {
      fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
      watchConnection(file);
      return file;
    }
    why = std::strerror(error);
    close(file);
  }
  return makeError("cannot connect to " + text + ": " + why);
}

static std::string formatAddress(const sockaddr *address, socklen_t size) {
  char text[NI_MAXHOST] = {};
  if (getnameinfo(address, size, text, sizeof(text), nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return "";
  llvm::StringRef name = text;
  // An IPv4 address on a socket that takes both.
  name.consume_front("::ffff:");
  return name.str();
}

std::string tessera::tuning::getPeerAddress(int file) {
  sockaddr_storage peer = {};
  socklen_t size = sizeof(peer);
  if (getpeername(file, reinterpret_cast<sockaddr *>(&peer), &size) != 0)
    return "";
  return formatAddress(reinterpret_cast<sockaddr *>(&peer), size);
}

std::vector<std::string> tessera::tuning::getOwnAddresses(llvm::StringRef text,
                                                          uint16_t port) {
  auto join = [&](llvm::StringRef address) {
    std::string end = ":" + std::to_string(port);
    return address.contains(':') ? "[" + address.str() + "]" + end
                                 : address.str() + end;
  };
  std::string own = split(text).address;
  if (!isEverywhere(own))
    return {join(own.empty() ? loopback : own)};
  std::vector<std::pair<int, std::string>> endpoints;
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) == 0)
    for (ifaddrs *one = list; one; one = one->ifa_next) {
      if (!one->ifa_addr || !(one->ifa_flags & IFF_UP))
        continue;
      int family = one->ifa_addr->sa_family;
      if (family != AF_INET && family != AF_INET6)
        continue;
      std::string address = formatAddress(
          one->ifa_addr,
          family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
      bool isLoopback = one->ifa_flags & IFF_LOOPBACK;
      // To use a link's own address, the other host would have to name the
      // link.
      if (address.empty() || llvm::StringRef(address).contains('%') ||
          (isLoopback && family == AF_INET6))
        continue;
      endpoints.emplace_back(isLoopback ? 2 : family == AF_INET6,
                             join(address));
    }
  freeifaddrs(list);
  llvm::stable_sort(endpoints, llvm::less_first());
  std::vector<std::string> texts;
  for (auto &[rank, endpoint] : endpoints)
    texts.push_back(std::move(endpoint));
  return texts;
}
