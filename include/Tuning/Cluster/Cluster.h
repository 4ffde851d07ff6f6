//===- Cluster.h - Other hosts that take part in a run ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The run's process listens; on each other host an agent (`gpu-tune join`)
// calls. Each connection begins with a TLS handshake by which both sides prove
// that they have the run's key (Tls.h); nothing is parsed before that.
// Messages of a channel follow. The agent's own connection, which lasts as
// long as the host takes part:
//
//   agent   hello    kind "agent", protocol, build, host
//   run     welcome  target, chip; or a rejection, with an error
//   agent   offer    jobs, measurers, devices (number, identity, name), notes
//   run     start    worker (its number), arguments
//   run     end      worker
//   agent   died     worker, how
//   run     done     the run is over
//
// A worker that is started has a connection of its own, which the agent opens
// with hello (kind "worker", worker, build) and relays to it (Relay.h); from
// there on it is what a worker on this host has.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_CLUSTER_H
#define TUNING_CLUSTER_CLUSTER_H

#include "Tuning/Cluster/WorkerProcess.h"

#include "llvm/Support/Error.h"

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <poll.h>
#include <set>
#include <vector>

namespace tessera::tuning {

class Cluster;

/// Protocol version of the messages between hosts.
constexpr int64_t clusterProtocol = 2;

/// Identifies hosts that share memory; the identity changes when a host is
/// restarted.
std::string getMachineIdentity();

/// Identifies a device among all processes of its machine: its number as mapped
/// by the variables that choose devices.
std::string getDeviceIdentity(const std::string &target, int ordinal);

/// A process on another host.
class RemoteWorker : public WorkerProcess {
public:
  ~RemoteWorker() override;
  Channel *getChannel() override { return channel ? &*channel : nullptr; }
  std::string end(bool isGone) override;
  std::optional<std::string> getEnd() const override { return how; }

private:
  friend class Cluster;
  RemoteWorker(Cluster &cluster, int host, int64_t number)
      : cluster(cluster), host(host), number(number) {}

  Cluster &cluster;
  int host;
  int64_t number;
  std::optional<Channel> channel;
  std::optional<std::string> how;
};

/// An event of a host since the last call.
struct ClusterEvent {
  enum Kind { Joined, Gone } kind;
  int host;
  /// The reason why a host disconnected.
  std::string why;
};

/// The hosts of a run. It outlives their workers.
class Cluster {
public:
  struct Device {
    int ordinal;
    std::string identity, name;
  };
  struct Host {
    std::string name, address;
    unsigned jobs = 0, measurers = 0;
    std::vector<Device> devices;
    /// Devices that it skipped, and why.
    std::vector<std::string> notes;
  };

  /// Listens where `--listen=ADDRESS` specifies, for hosts that have the key.
  static llvm::Expected<std::unique_ptr<Cluster>>
  create(const std::string &address, const std::string &key);
  /// Sends the hosts the end of the run.
  ~Cluster();

  /// Where to call, as `gpu-tune join` takes it: "ADDRESS:PORT,ADDRESS:PORT".
  const std::string &getAddresses() const { return addresses; }

  /// Sets the target and chip that hosts work for; must be called before the
  /// first `take`.
  void setWork(std::string target, std::string chip) {
    this->target = std::move(target);
    this->chip = std::move(chip);
  }
  /// Where lines about callers that are rejected go.
  void setReport(std::function<void(const std::string &)> function) {
    report = std::move(function);
  }

  void addFiles(std::vector<pollfd> &files) const;
  /// Answers callers, and reads messages of the hosts, without waiting.
  std::vector<ClusterEvent> take();

  /// A host that has joined and is not gone; null otherwise.
  const Host *getHost(int host) const;
  /// Starts `gpu-tune worker ARGUMENTS` on a host. It connects later; if it
  /// cannot, it is one that has ended.
  std::unique_ptr<RemoteWorker>
  start(int host, const std::vector<std::string> &arguments);
  /// Ends the connection to a host that does not answer.
  void drop(int host, const std::string &why);

private:
  friend class RemoteWorker;
  using Clock = std::chrono::steady_clock;
  struct Member : Host {
    explicit Member(Channel control) : control(std::move(control)) {}
    Channel control;
    Clock::time_point since = Clock::now();
    bool isReady = false;
    std::string whyDropped;
  };
  /// A caller that has not sent its greeting.
  struct Guest {
    Channel channel;
    std::string address;
    Clock::time_point since;
    /// Whether it has shown that it has the key.
    bool isAuthenticated = false;
  };

  Cluster(int listener, std::string addresses, std::unique_ptr<TlsContext> tls)
      : listener(listener), addresses(std::move(addresses)),
        tls(std::move(tls)) {}
  void accept();
  void makeRoom(const std::string &address);
  /// Whether the guest stays one.
  bool serve(Guest &guest);
  void greet(Guest &guest, const Message &message);
  void reject(Guest &guest, const std::string &why);
  void log(const Guest &guest, const std::string &why);
  bool handle(Member &member, const Message &message);
  void forget(const RemoteWorker &worker);

  int listener;
  /// Until then no caller is accepted: the process has too many files open.
  Clock::time_point pausedUntil;
  std::string addresses;
  /// Outlives the sessions of guests and members.
  std::unique_ptr<TlsContext> tls;
  std::string target, chip;
  std::function<void(const std::string &)> report;
  /// The lines about callers that were printed.
  std::set<std::string> reported;
  std::list<Guest> guests;
  std::map<int, Member> members;
  std::map<int64_t, RemoteWorker *> workers;
  int nextHost = 1;
  int64_t nextWorker = 1;
};

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_CLUSTER_H
