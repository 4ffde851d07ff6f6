//===- TunerHosts.cpp - Other hosts that take part in a run ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/Tuner.h"

#include "Support/Interrupt.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tessera::tuning;
using ::tessera::support::getInterrupt;
using tuning::Outcome;

/// Seconds without a working host before that is reported, and before the
/// final comparison is left out; and hosts that may disconnect with a
/// candidate.
static constexpr double waitLimit = 10, finalWait = 30;
static constexpr unsigned mostHostsLost = 2;

void Tuner::setCluster(Cluster &hosts) {
  cluster = &hosts;
  cluster->setWork(options.compile.target, options.compile.chip);
  cluster->setReport([this](const std::string &line) { progress.say(line); });
}

void Tuner::handleHosts() {
  if (!cluster)
    return;
  for (const ClusterEvent &event : cluster->take()) {
    if (event.kind == ClusterEvent::Gone) {
      loseHost(event);
      continue;
    }
    const Cluster::Host &host = *cluster->getHost(event.host);
    hostNames[event.host] = host.name;
    std::string line;
    llvm::raw_string_ostream(line)
        << "host " << host.name << " (" << host.address
        << ") has joined: " << host.jobs
        << (host.jobs == 1 ? " compile worker, " : " compile workers, ")
        << host.devices.size()
        << (host.devices.size() == 1 ? " device" : " devices");
    progress.say(line);
    for (const std::string &note : host.notes)
      progress.say("note: host " + host.name + ": " + note);
    for (const Cluster::Device &device : host.devices)
      if (pool.hasWorker(device.identity))
        progress.say("note: host " + host.name + ": " + device.name +
                     " is already used by another process of that machine");
    for (unsigned i = 0; i < host.jobs && !isSearchOver; ++i) {
      Compiler &compiler = compilers.emplace_back();
      compiler.host = event.host;
      startCompiler(compiler);
    }
  }
  assignDevices();
}

/// Each device is measured on by the processes of one host's agent, however
/// many agents see it.
void Tuner::assignDevices() {
  for (const auto &[number, name] : hostNames) {
    const Cluster::Host *host = cluster->getHost(number);
    if (!host)
      continue;
    for (const Cluster::Device &device : host->devices) {
      if (uselessDevices.count({number, device.identity}) ||
          pool.hasWorker(device.identity))
        continue;
      for (unsigned i = 0; i < host->measurers; ++i) {
        Measurer &measurer = measurers.emplace_back();
        measurer.host = number;
        measurer.ordinal = device.ordinal;
        measurer.identity = device.identity;
        measurer.environment = environment;
        measurer.environment.host = name;
        startMeasurer(measurer);
      }
    }
  }
}

/// Retries the candidates of a disconnected host on another one.
void Tuner::putBack(Pending work) {
  TaskState &state = states[work.task];
  if (!state.failure.empty() || getInterrupt()) {
    --state.inHand;
    return;
  }
  if (++work.hostsLost >= mostHostsLost) {
    // It may be its doing; the other hosts are not to follow.
    std::string error =
        llvm::formatv("{0} hosts disconnected while processing it",
                      work.hostsLost)
            .str();
    ++counts.failed;
    bool isOwn = !work.point;
    size_t task = work.task;
    finish(work, makeRecord(work, Outcome::Crashed, error, environment));
    if (isOwn)
      giveUp(task, error);
    return;
  }
  if (!work.bundle.empty())
    state.ready.push_front(std::move(work));
  else if (!isSearchOver)
    queue.giveBack(std::move(work));
  else
    --state.inHand;
}

void Tuner::loseHost(const ClusterEvent &event) {
  size_t count = 0;
  auto take = [&](WorkerSlot &slot) {
    if (slot.isRemoved || slot.host != event.host)
      return false;
    slot.isRemoved = true;
    if (slot.work) {
      ++count;
      Pending work = std::move(*slot.work);
      slot.work.reset();
      putBack(std::move(work));
    }
    return true;
  };
  for (Compiler &compiler : compilers)
    (void)take(compiler);
  for (Measurer &measurer : measurers) {
    if (!take(measurer))
      continue;
    for (size_t task : measurer.checking)
      states[task].isAsked = false;
    measurer.checking.clear();
    if (measurer.state == Measurer::Comparing) {
      ++count;
      states[measurer.task].isFinalBegun = false;
    }
  }
  std::string line;
  llvm::raw_string_ostream(line)
      << "warning: host " << hostNames[event.host] << " disconnected ("
      << event.why << "): " << count
      << (count == 1 ? " of its candidates is retried"
                     : " of its candidates are retried");
  progress.say(line);
  hostNames.erase(event.host);
  pool.removeEnded();
}

/// Reports when the run waits for hosts; omits the final comparison when no
/// worker is left for it.
void Tuner::noteWaiting() {
  if (!cluster)
    return;
  bool isWaiting = measurers.empty() || (compilers.empty() && !isSearchOver);
  if (!isWaiting) {
    idleSince.reset();
    isWaitReported = false;
    return;
  }
  Clock::time_point now = Clock::now();
  if (!idleSince)
    idleSince = now;
  double waited = std::chrono::duration<double>(now - *idleSince).count();
  if (isSearchOver && (waited > finalWait || getInterrupt())) {
    for (TaskState &state : states) {
      if (state.isDone || !state.failure.empty())
        continue;
      state.isDone = true;
      progress.say("warning: " + state.task->text.description +
                   ": no measuring host is left: the leaders are not compared");
    }
    return;
  }
  if (isWaitReported || waited < waitLimit)
    return;
  isWaitReported = true;
  progress.say(std::string("note: no host ") +
               (measurers.empty() ? "measures" : "compiles") +
               "; the run waits for one to join");
}
