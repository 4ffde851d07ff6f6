//===- Agent.cpp - A host that works for a run elsewhere ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The agent decides nothing: it starts the workers that the run asks for,
// relays to each a connection of its own to the run, and reports how those
// ended that did so by themselves. It works only for a run that has proven
// to have the key. The messages are described in Cluster.h.
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/Agent.h"
#include "Support/Interrupt.h"
#include "Tuning/Cluster/Child.h"
#include "Tuning/Cluster/Cluster.h"
#include "Tuning/Cluster/Key.h"
#include "Tuning/Cluster/Relay.h"
#include "Tuning/Cluster/Socket.h"
#include "Tuning/Cluster/Tls.h"

#include "Driver/DeviceChip.h"
#include "Driver/ProgramCache.h"
#include "Runtime/CodeCompatibility.h"
#include "Runtime/Device.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace tessera::tuning;
using llvm::StringRef;
using ::tessera::support::getInterrupt;
namespace json = llvm::json;
namespace runtime = ::tessera::runtime;

/// Seconds for each address, and for the run to answer.
static constexpr double connectLimit = 3, answerLimit = 60;

unsigned tessera::tuning::countCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

unsigned tessera::tuning::getDefaultJobs(unsigned cores) {
  return cores > 1 ? cores - 1 : 1;
}

llvm::Error tessera::tuning::parseDevices(StringRef value,
                                          DeviceChoice &choice) {
  DeviceChoice parsed;
  parsed.isOwn = value == "own";
  if (value == "all" || value == "own") {
    choice = parsed;
    return llvm::Error::success();
  }
  parsed.devices.emplace();
  llvm::SmallVector<StringRef> parts;
  if (value != "none")
    value.split(parts, ',');
  for (StringRef part : parts) {
    int ordinal;
    if (part.getAsInteger(10, ordinal) || ordinal < 0)
      return llvm::createStringError(
          "--devices=" + value +
          ": expected numbers separated by ',', or all, own, none");
    parsed.devices->push_back(ordinal);
  }
  choice = parsed;
  return llvm::Error::success();
}

void tessera::tuning::addAddresses(StringRef list, JoinOptions &options) {
  llvm::SmallVector<StringRef> addresses;
  list.split(addresses, ',');
  options.addresses.insert(options.addresses.end(), addresses.begin(),
                           addresses.end());
}

//===----------------------------------------------------------------------===//
// The agent
//===----------------------------------------------------------------------===//

namespace {

class Agent {
public:
  Agent(const JoinOptions &options, llvm::raw_ostream &messages)
      : options(options), messages(messages), control(-1) {}
  bool run();

private:
  bool connect();
  Channel call(const std::string &one, std::string &why, bool &isOtherKey);
  json::Object makeHello(StringRef kind) const;
  void offer(const std::string &target, const std::string &chip);
  void start(int64_t number, const json::Array *list);
  void reportEnd(int64_t number, const std::string &how) {
    (void)control.send(
        {json::Object{{"op", "died"}, {"worker", number}, {"how", how}}, ""});
  }

  /// A worker, and its line to the run.
  struct Worker {
    std::unique_ptr<Child> child;
    std::unique_ptr<Relay> relay;
  };

  const JoinOptions &options;
  llvm::raw_ostream &messages;
  /// Outlives the connections.
  std::unique_ptr<TlsContext> tls;
  Channel control;
  /// The one that answered.
  std::string address;
  std::map<int64_t, Worker> workers;
};

} // namespace

json::Object Agent::makeHello(StringRef kind) const {
  return json::Object{{"op", "hello"},
                      {"kind", kind.str()},
                      {"protocol", clusterProtocol},
                      {"build", mlir::tessera::getCompilerIdentity().str()}};
}

/// Waits for a message, `seconds` at most.
static std::optional<Message> receiveWithin(Channel &channel, double seconds) {
  auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    pollfd wait = {channel.getFile(), POLLIN, 0};
    poll(&wait, 1, 100);
    bool isThere = channel.take();
    if (std::optional<Message> message = channel.next())
      return message;
    if (!isThere)
      break;
  }
  return std::nullopt;
}

/// Connects to an address, and makes sure that a run with the same key is
/// there: before that nothing that it sends is parsed. A channel without a
/// file, and the reason in `why`, if not. `isOtherKey`: it need not be tried
/// again.
Channel Agent::call(const std::string &one, std::string &why,
                    bool &isOtherKey) {
  llvm::Expected<int> file = connectTo(one, connectLimit);
  if (!file) {
    why = llvm::toString(file.takeError());
    return Channel(-1);
  }
  Channel line(*file, tls->connect(*file));
  if (!line.getTls()) {
    why = "OpenSSL has no memory";
    return Channel(-1);
  }
  auto end = std::chrono::steady_clock::now() +
             std::chrono::duration<double>(answerLimit);
  while (true) {
    switch (line.getTls()->handshake()) {
    case TlsSession::State::Done:
      return line;
    case TlsSession::State::Failed:
      isOtherKey = line.getTls()->isOtherKey();
      why = isOtherKey
                ? "the peer at " + one + " has a different key (--key-file, " +
                      keyVariable + ")"
                : one + ": the peer is not a gpu-tune run, or it ended (" +
                      line.getTls()->getFailure() + ")";
      return Channel(-1);
    case TlsSession::State::Working:
      break;
    }
    if (std::chrono::steady_clock::now() >= end || getInterrupt()) {
      why = one + ": the peer does not answer";
      return Channel(-1);
    }
    pollfd wait = {line.getFile(), POLLIN, 0};
    poll(&wait, 1, 100);
  }
}

/// Reaches the run, and offers what this host has. False after an error, which
/// was printed.
bool Agent::connect() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  auto end = std::chrono::steady_clock::now() +
             std::chrono::duration<double>(options.wait);
  while (true) {
    std::string why;
    for (const std::string &one : options.addresses) {
      std::string problem;
      bool isOtherKey = false;
      control = call(one, problem, isOtherKey);
      if (control.getFile() < 0) {
        if (isOtherKey) {
          messages << "error: " << problem << "\n";
          return false;
        }
        why += (why.empty() ? "" : "; ") + problem;
        continue;
      }
      json::Object hello = makeHello("agent");
      hello["host"] = name;
      std::optional<Message> answer;
      if (control.send({std::move(hello), ""}))
        answer = receiveWithin(control, answerLimit);
      std::string op = answer ? getText(answer->head, "op") : "";
      if (op == "refused") {
        messages << "error: the run at " << one
                 << " rejected this host: " << getText(answer->head, "error")
                 << "\n";
        return false;
      }
      if (op == "welcome") {
        address = one;
        offer(getText(answer->head, "target"), getText(answer->head, "chip"));
        return true;
      }
      why += (why.empty() ? "" : "; ") + one +
             ": the peer is not a gpu-tune run, or it ended";
    }
    if (std::chrono::steady_clock::now() >= end || getInterrupt()) {
      messages << "error: cannot reach the run: " << why << "\n";
      return false;
    }
    usleep(500'000);
  }
}

void Agent::offer(const std::string &target, const std::string &chip) {
  namespace compiler = mlir::tessera;
  json::Array devices, notes;
  auto leaveOut = [&](const std::string &why) {
    messages << "note: " << why << "\n";
    notes.push_back(why);
  };
  bool isNone = options.isNone();
  std::string why;
  std::vector<runtime::DeviceInfo> known;
  if (!isNone)
    known = runtime::listDevices(&why, target);
  std::vector<int> wanted;
  if (options.devices)
    wanted = *options.devices;
  else
    for (const runtime::DeviceInfo &info : known)
      if (info.target == target)
        wanted.push_back(info.ordinal);
  if (wanted.empty() && !isNone)
    leaveOut("no device of " + target + " is here" +
             (why.empty() ? "" : " (" + StringRef(why).trim().str() + ")"));
  for (int ordinal : wanted) {
    std::string word = target + ":" + std::to_string(ordinal);
    const runtime::DeviceInfo *info = nullptr;
    for (const runtime::DeviceInfo &one : known)
      if (one.target == target && one.ordinal == ordinal)
        info = &one;
    if (!info) {
      leaveOut("no device " + word + " is here");
      continue;
    }
    std::string own = compiler::getChipFor(*info);
    if (std::string why =
            own == chip ? ""
                        : compiler::explainIncompatible(
                              target, chip, info->chip, /*isCubin=*/false);
        !why.empty()) {
      leaveOut(word + " is left out: " +
               runtime::describeIncompatible(*info, "code for " + chip, why));
      continue;
    }
    std::string identity =
        getMachineIdentity() + " " + getDeviceIdentity(target, ordinal);
    if (options.isOwn)
      identity += " of process " + std::to_string(getpid());
    devices.push_back(json::Object{
        {"number", ordinal}, {"identity", identity}, {"name", info->name}});
  }
  messages << "joined the run at " << address << " for " << target << ":"
           << chip << ": " << options.jobs
           << (options.jobs == 1 ? " compile worker, " : " compile workers, ")
           << devices.size() << (devices.size() == 1 ? " device" : " devices")
           << "\n";
  (void)control.send({json::Object{{"op", "offer"},
                                   {"jobs", options.jobs},
                                   {"measurers", options.measurers},
                                   {"devices", std::move(devices)},
                                   {"notes", std::move(notes)}},
                      ""});
}

void Agent::start(int64_t number, const json::Array *list) {
  std::vector<std::string> arguments;
  if (list)
    for (const json::Value &value : *list)
      arguments.push_back(value.getAsString().value_or("").str());
  // Nothing but a worker is started for anyone.
  if (arguments.empty() ||
      (arguments.front() != "compile" && arguments.front() != "measure"))
    return reportEnd(number, "not a worker command");
  std::string why;
  bool isOtherKey = false;
  Channel line = call(address, why, isOtherKey);
  if (line.getFile() < 0)
    return reportEnd(number, why);
  json::Object hello = makeHello("worker");
  hello["worker"] = number;
  if (!line.send({std::move(hello), ""}))
    return reportEnd(number, "its connection ended");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return reportEnd(number,
                     std::string("socketpair: ") + std::strerror(errno));
  std::unique_ptr<Child> child = Child::start(arguments, ends[1], why);
  if (!child) {
    close(ends[0]);
    return reportEnd(number, "cannot start it: " + why);
  }
  Worker &worker = workers[number];
  worker.child = std::move(child);
  worker.relay = std::make_unique<Relay>(std::move(line), ends[0]);
}

bool Agent::run() {
  llvm::Expected<std::unique_ptr<TlsContext>> made =
      TlsContext::create(options.key, /*isServer=*/false);
  if (!made) {
    messages << "error: " << llvm::toString(made.takeError()) << "\n";
    return false;
  }
  tls = std::move(*made);
  if (!connect())
    return false;
  while (true) {
    pollfd wait = {control.getFile(), POLLIN, 0};
    poll(&wait, 1, 50);
    bool isThere = control.take();
    while (std::optional<Message> message = control.next()) {
      std::string op = getText(message->head, "op");
      int64_t number = message->head.getInteger("worker").value_or(0);
      if (op == "start") {
        start(number, message->head.getArray("arguments"));
      } else if (op == "end") {
        workers.erase(number);
      } else if (op == "done") {
        workers.clear();
        return true;
      }
    }
    if (!isThere) {
      messages
          << "error: the run at " << address
          << " ended early; join again after restarting it, and it resumes\n";
      return false;
    }
    for (auto worker = workers.begin(); worker != workers.end();) {
      if (!worker->second.child->hasEnded()) {
        ++worker;
        continue;
      }
      reportEnd(worker->first, worker->second.child->end(/*isGone=*/true));
      worker = workers.erase(worker);
    }
    if (getInterrupt() && !options.ignoresInterrupt) {
      messages << "note: this host leaves the run\n";
      return true;
    }
  }
}

bool tessera::tuning::joinRun(const JoinOptions &options,
                              llvm::raw_ostream &messages) {
  return Agent(options, messages).run();
}
