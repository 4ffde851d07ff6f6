//===- Cluster.cpp - Other hosts that take part in a run ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/Cluster.h"
#include "Tuning/Cluster/Socket.h"

#include "Driver/ProgramCache.h"
#include "Target/Backend.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace tessera::tuning;
namespace json = llvm::json;

/// Seconds that a caller has for the handshake and its greeting, the size limit
/// of the greeting in bytes, and the seconds until its offer, for which it
/// loads drivers.
static constexpr double greetingLimit = 30, offerLimit = 300;
static constexpr size_t greetingBytes = 1 << 16;
/// The most callers without a greeting: from one address, and in all. A host
/// makes one connection at a time, so that a fleet of 1000 may call at once.
static constexpr size_t mostOfAddress = 16, mostGuests = 1024;
/// Callers that are accepted before messages of others are processed.
static constexpr unsigned mostAtOnce = 64;
/// Lines about callers, at most: a flood of callers must not be one of lines.
static constexpr size_t mostLines = 32;

static bool isLate(std::chrono::steady_clock::time_point since, double limit) {
  std::chrono::duration<double> waited =
      std::chrono::steady_clock::now() - since;
  return waited.count() >= limit;
}

std::string tessera::tuning::getMachineIdentity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  file >> text;
  return text;
}

std::string tessera::tuning::getDeviceIdentity(const std::string &target,
                                               int ordinal) {
  std::string text = target + ":";
  llvm::ArrayRef<const char *> names;
  if (const auto *backend = mlir::tessera::findBackend(target))
    names = backend->getVisibilityVariables();
  for (const char *name : names) {
    const char *value = std::getenv(name);
    if (!value)
      continue;
    llvm::SmallVector<llvm::StringRef> list;
    llvm::StringRef(value).split(list, ',');
    if (static_cast<size_t>(ordinal) < list.size())
      return text + list[static_cast<size_t>(ordinal)].trim().str();
  }
  return text + std::to_string(ordinal);
}

//===----------------------------------------------------------------------===//
// RemoteWorker
//===----------------------------------------------------------------------===//

RemoteWorker::~RemoteWorker() { cluster.forget(*this); }

std::string RemoteWorker::end(bool) { return how.value_or("ended"); }

void Cluster::forget(const RemoteWorker &worker) {
  workers.erase(worker.number);
  auto found = members.find(worker.host);
  // Whether it comes there is seen by the agent's own connection.
  if (!worker.how && found != members.end())
    (void)found->second.control.send(
        {json::Object{{"op", "end"}, {"worker", worker.number}}, ""});
}

//===----------------------------------------------------------------------===//
// Cluster
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<Cluster>>
Cluster::create(const std::string &address, const std::string &key) {
  // Each host has several connections, and the usual limit is 1024.
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
  }
  llvm::Expected<std::unique_ptr<TlsContext>> tls =
      TlsContext::create(key, /*isServer=*/true);
  if (!tls)
    return tls.takeError();
  uint16_t port = 0;
  llvm::Expected<int> listener = listenOn(address, port);
  if (!listener)
    return listener.takeError();
  return std::unique_ptr<Cluster>(
      new Cluster(*listener, llvm::join(getOwnAddresses(address, port), ","),
                  std::move(*tls)));
}

Cluster::~Cluster() {
  for (auto &[number, member] : members)
    (void)member.control.send({json::Object{{"op", "done"}}, ""});
  close(listener);
}

const Cluster::Host *Cluster::getHost(int host) const {
  auto found = members.find(host);
  return found == members.end() || !found->second.isReady ? nullptr
                                                          : &found->second;
}

void Cluster::addFiles(std::vector<pollfd> &files) const {
  if (Clock::now() >= pausedUntil)
    files.push_back({listener, POLLIN, 0});
  for (const Guest &guest : guests)
    files.push_back({guest.channel.getFile(), POLLIN, 0});
  for (const auto &[number, member] : members)
    files.push_back({member.control.getFile(), POLLIN, 0});
}

/// Closes the connection of the oldest caller where there are too many. A
/// caller with the key is done within a few round trips; idle ones do not block
/// others.
void Cluster::makeRoom(const std::string &address) {
  auto isOfAddress = [&](const Guest &guest) {
    return guest.address == address;
  };
  bool isFull =
      static_cast<size_t>(llvm::count_if(guests, isOfAddress)) >= mostOfAddress;
  if (!isFull && guests.size() < mostGuests)
    return;
  auto oldest = isFull ? llvm::find_if(guests, isOfAddress) : guests.begin();
  log(*oldest, "too many unauthenticated connections");
  guests.erase(oldest);
}

void Cluster::accept() {
  if (Clock::now() < pausedUntil)
    return;
  for (unsigned i = 0; i < mostAtOnce; ++i) {
    int file = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (file < 0 && (errno == EINTR || errno == ECONNABORTED))
      continue;
    if (file < 0) {
      // With too many files open, the caller would be reported again at once.
      if (errno != EAGAIN && errno != EWOULDBLOCK)
        pausedUntil = Clock::now() + std::chrono::seconds(1);
      return;
    }
    watchConnection(file);
    std::string address = getPeerAddress(file);
    makeRoom(address);
    std::unique_ptr<TlsSession> session = tls->connect(file);
    if (!session) {
      close(file);
      continue;
    }
    Guest &guest = guests.emplace_back(Guest{Channel(file, std::move(session)),
                                             std::move(address), Clock::now()});
    guest.channel.setLimit(greetingBytes);
  }
}

void Cluster::log(const Guest &guest, const std::string &why) {
  std::string line =
      "note: a connection from " + guest.address + " was rejected: " + why;
  if (!report || reported.size() > mostLines || !reported.insert(line).second)
    return;
  report(line);
  if (reported.size() > mostLines)
    report("note: further rejected connections are not reported");
}

void Cluster::reject(Guest &guest, const std::string &why) {
  (void)guest.channel.send(
      {json::Object{{"op", "refused"}, {"error", why}}, ""});
  log(guest, why);
}

void Cluster::greet(Guest &guest, const Message &message) {
  const json::Object &head = message.head;
  if (getText(head, "op") != "hello")
    return reject(guest, "it did not send hello");
  if (head.getInteger("protocol").value_or(0) != clusterProtocol)
    return reject(guest, "it uses another protocol version: start the same "
                         "build of gpu-tune on all hosts");
  std::string build = mlir::tessera::getCompilerIdentity().str(),
              other = getText(head, "build");
  if (build != other)
    return reject(guest, "it is another build of gpu-tune (" + other +
                             ", but the run uses " + build +
                             "): start the same build on all hosts");
  guest.channel.setLimit(0);
  if (getText(head, "kind") == "worker") {
    auto found = workers.find(head.getInteger("worker").value_or(0));
    // One that was ended meanwhile is not waited for any more.
    if (found != workers.end() && !found->second->channel)
      found->second->channel.emplace(std::move(guest.channel));
    return;
  }
  Member member(std::move(guest.channel));
  member.name = getText(head, "host");
  member.address = guest.address;
  if (member.control.send(
          {json::Object{{"op", "welcome"}, {"target", target}, {"chip", chip}},
           ""}))
    members.emplace(nextHost++, std::move(member));
}

/// Whether the join of the host must still be reported.
bool Cluster::handle(Member &member, const Message &message) {
  std::string op = getText(message.head, "op");
  if (op == "died") {
    auto found = workers.find(message.head.getInteger("worker").value_or(0));
    if (found != workers.end())
      found->second->how = getText(message.head, "how");
    return false;
  }
  if (op != "offer" || member.isReady)
    return false;
  member.isReady = true;
  member.jobs = static_cast<unsigned>(std::clamp<int64_t>(
      message.head.getInteger("jobs").value_or(0), 0, 4096));
  member.measurers = static_cast<unsigned>(std::clamp<int64_t>(
      message.head.getInteger("measurers").value_or(0), 0, 64));
  if (const json::Array *list = message.head.getArray("devices"))
    for (const json::Value &value : *list)
      if (const json::Object *object = value.getAsObject())
        member.devices.push_back(
            {static_cast<int>(object->getInteger("number").value_or(0)),
             getText(*object, "identity"), getText(*object, "name")});
  if (const json::Array *list = message.head.getArray("notes"))
    for (const json::Value &value : *list)
      if (auto text = value.getAsString())
        member.notes.push_back(text->str());
  return true;
}

bool Cluster::serve(Guest &guest) {
  bool isOver = isLate(guest.since, greetingLimit);
  if (!guest.isAuthenticated) {
    TlsSession &session = *guest.channel.getTls();
    switch (session.handshake()) {
    case TlsSession::State::Working:
      if (isOver)
        log(guest, "it did not authenticate itself in time");
      return !isOver;
    case TlsSession::State::Failed:
      log(guest,
          "its key is not the key of this run (" + session.getFailure() + ")");
      return false;
    case TlsSession::State::Done:
      guest.isAuthenticated = true;
    }
  }
  // Nothing that it sends is parsed before.
  bool isThere = guest.channel.take();
  if (std::optional<Message> message = guest.channel.next()) {
    greet(guest, *message);
    return false;
  }
  if (isThere && isOver)
    log(guest, "it did not send hello in time");
  return isThere && !isOver;
}

std::vector<ClusterEvent> Cluster::take() {
  std::vector<ClusterEvent> events;
  accept();
  for (auto guest = guests.begin(); guest != guests.end();)
    guest = serve(*guest) ? std::next(guest) : guests.erase(guest);
  for (auto it = members.begin(); it != members.end();) {
    auto &[number, member] = *it;
    bool isThere = member.whyDropped.empty() && member.control.take() &&
                   (member.isReady || !isLate(member.since, offerLimit));
    while (std::optional<Message> message = member.control.next())
      if (handle(member, *message))
        events.push_back({ClusterEvent::Joined, number, ""});
    if (isThere) {
      ++it;
      continue;
    }
    if (member.isReady)
      events.push_back({ClusterEvent::Gone, number,
                        member.whyDropped.empty() ? "its connection ended"
                                                  : member.whyDropped});
    it = members.erase(it);
  }
  return events;
}

std::unique_ptr<RemoteWorker>
Cluster::start(int host, const std::vector<std::string> &arguments) {
  int64_t number = nextWorker++;
  std::unique_ptr<RemoteWorker> worker(new RemoteWorker(*this, host, number));
  workers[number] = worker.get();
  auto found = members.find(host);
  if (found != members.end()) {
    json::Array list;
    for (const std::string &argument : arguments)
      list.push_back(argument);
    // A host that is gone is seen by the end of its connection.
    (void)found->second.control.send(
        {json::Object{{"op", "start"},
                      {"worker", number},
                      {"arguments", std::move(list)}},
         ""});
  }
  return worker;
}

void Cluster::drop(int host, const std::string &why) {
  auto found = members.find(host);
  if (found != members.end())
    found->second.whyDropped = why;
}
