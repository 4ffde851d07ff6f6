//===- Tuner.h - A run of the tuner -----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread that waits for its workers: proposes candidates, has them
// compiled, loaded, checked and timed, writes down what became of each, and in
// the end has the leaders compared with each other, with the compiler's own
// choice and with the vendor's library.
//
//===----------------------------------------------------------------------===//

#ifndef GPU_TUNE_TUNER_H
#define GPU_TUNE_TUNER_H

#include "Child.h"
#include "Cluster.h"
#include "Progress.h"
#include "RecordKeeper.h"
#include "RunOptions.h"
#include "Work.h"

#include "Tuning/Search.h"

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>

namespace tune {

namespace tuning = mlir::tessera::tuning;

/// Narrows and widens the values of a task, as a configuration specifies.
using SpaceEditor = std::function<void(tuning::SpaceValues &)>;

/// One candidate on its way.
struct Pending {
  int64_t id = 0;
  size_t task = 0;
  /// Absent for the compiler's own choice.
  std::optional<mlir::tessera::ScheduleNumbers> point;
  /// As text; empty likewise.
  std::string schedule;
  /// The compiled candidate.
  std::string chosen, bundle;
  double compileTime = 0, expected = 0;
  /// Hosts that went away while they had it in hand.
  unsigned hostsLost = 0;
};

/// One task and how far it is.
struct TaskState {
  Task *task = nullptr;
  std::unique_ptr<tuning::ScheduleSpace> space;
  std::unique_ptr<tuning::MachineModel> machine;
  std::unique_ptr<tuning::TaskSearch> search;
  /// The bundle of the compiler's own choice, with which workers open the task.
  std::string ownBundle, ownChoice;
  double ownTime = 0;
  /// The checksum of its outputs, as the first worker computed them.
  std::string checksum;
  /// The reference has been asked, and agreed.
  bool isAsked = false, isChecked = false;
  /// Why the task is given up; empty if it is not.
  std::string failure;
  /// The failure is that of what candidates are compared with.
  bool isOwnWrong = false;
  /// Compiled, and waiting for a worker.
  std::deque<Pending> ready;
  /// The fastest, with their bundles.
  struct Leader {
    std::string schedule, chosen, bundle;
    double time;
    std::optional<mlir::tessera::ScheduleNumbers> point;
  };
  std::vector<Leader> leaders;
  /// Candidates begun, and those in hand.
  size_t begun = 0, inHand = 0;
  bool isOwnBegun = false, isFinalBegun = false, isDone = false;
  /// Schedules that earlier builds measured, to be tried first.
  std::deque<mlir::tessera::ScheduleNumbers> hints;
  /// The outcome.
  std::optional<tuning::Record> winner, own;
  std::optional<tuning::Baseline> baseline;
  std::string libraryError;
  /// All of the final comparison; and by the schedule what earlier runs
  /// recorded.
  std::vector<tuning::Record> compared;
  std::map<std::string, double> recorded;
};

class Tuner {
public:
  /// All of them outlive it.
  Tuner(const RunOptions &options, std::vector<Task> &tasks,
        const SpaceEditor &edit, tuning::Database &database, int64_t run);
  ~Tuner();

  /// Has other hosts take part, which may come and go. It outlives the tuner.
  void setCluster(Cluster &hosts);

  /// False after an error that ends the run, which was printed. An interrupt
  /// ends the search, and has the leaders compared.
  bool run();

  const std::vector<TaskState> &getStates() const { return states; }
  const Counts &getCounts() const { return counts; }
  /// Candidates compiled in a second, by all workers while they had work.
  double getCompileRate() const;
  const tuning::Environment &getEnvironment() const { return environment; }
  /// Whether any device came to be of use.
  bool hasMeasured() const { return isDeviceSeen; }

private:
  using Clock = std::chrono::steady_clock;
  /// State shared by all workers.
  struct Seat {
    /// The host's number in the cluster; 0 is this one.
    int host = 0;
    std::unique_ptr<WorkerProcess> child;
    std::optional<Pending> work;
    Clock::time_point since;
    /// Since when its connection has ended without a report of its host on how
    /// it died.
    std::optional<Clock::time_point> dying;
    /// How often it was started without coming to be of use.
    unsigned failures = 0;
    bool isRemoved = false;

    /// Null while it must not receive messages.
    Channel *getChannel() {
      return child && !dying && !isRemoved ? child->getChannel() : nullptr;
    }
  };
  struct Compiler : Seat {
    /// Tasks whose programs it has.
    std::set<size_t> known;
  };
  struct Measurer : Seat {
    enum State { Starting, Idle, Opening, Loading, Loaded, Going, Comparing };
    int ordinal = 0;
    /// By which its device is known among all hosts.
    std::string identity;
    tuning::Environment environment;
    State state = Starting;
    std::set<size_t> open;
    /// The tasks for which it was asked to consult the reference.
    std::set<size_t> checking;
    /// The task that it is processing (`Opening`, `Comparing`).
    size_t task = 0;
  };

  bool isOver() const;
  double getSecondsLeft() const;
  bool startCompiler(Compiler &compiler);
  bool startMeasurer(Measurer &measurer);
  void feedCompilers();
  void feedMeasurers();
  void compareLeaders();
  std::optional<Pending> propose();
  std::optional<Pending> proposeFor(size_t task);
  void give(Measurer &measurer, Pending work);
  void openTask(Measurer &measurer, size_t task);
  bool isDeviceBusy(const std::string &identity) const;
  void handle(Compiler &compiler, Message message);
  void handle(Measurer &measurer, const Message &message);
  void takeResult(Measurer &measurer, const llvm::json::Object &head);
  void takeFinal(Measurer &measurer, const llvm::json::Object &head);
  void lose(Compiler &compiler, bool isLate);
  void lose(Measurer &measurer, bool isLate);
  /// Handles a connection that has ended, or cannot be sent to.
  template <typename Worker> void hangUp(Worker &worker);
  template <typename Worker> void serve(std::list<Worker> &workers);
  void handleHosts();
  void loseHost(const ClusterEvent &event);
  void assignDevices();
  void putBack(Pending work);
  void noteWaiting();
  std::string describeDevice(const Measurer &measurer) const;
  void checkTimes();
  void finish(Pending work, tuning::Record record);
  tuning::Record makeRecord(const Pending &work, tuning::Outcome outcome,
                            std::string error,
                            const tuning::Environment &environment) const;
  /// The environment of a compile worker.
  tuning::Environment getEnvironment(const Compiler &compiler) const;
  void giveUp(size_t task, const std::string &why);
  /// Gives up a task whose candidates were compared with wrong numbers, and
  /// marks their records.
  void giveUpWrong(size_t task, const tuning::Environment &environment,
                   const std::string &why);
  void resume();
  void waitForChecks();
  std::string describeBest() const;

  const RunOptions &options;
  tuning::Database &database;
  RecordKeeper keeper;
  int64_t runNumber;
  /// The target by which chips are known ("opencl" for level-zero).
  std::string chipTarget;
  std::vector<TaskState> states;
  std::list<Compiler> compilers;
  std::list<Measurer> measurers;
  /// Compiled by hosts that went away before they were done.
  std::deque<Pending> returned;
  Cluster *cluster = nullptr;
  std::map<int, std::string> hostNames;
  /// Devices of hosts on which no process came to be of use.
  std::set<std::pair<int, std::string>> uselessDevices;
  tuning::Environment environment;
  Counts counts;
  Progress progress;
  Clock::time_point start;
  double compileSeconds = 0;
  int64_t nextId = 1;
  bool isBroken = false, isSearchOver = false, isResumed = false;
  /// There are devices, or hosts that may have some.
  bool isMeasured = false;
  bool isDeviceSeen = false;
  /// A worker that had nothing to do was given nothing.
  bool isExhausted = false;
  /// Since when no worker compiles or measures, and whether that was reported.
  std::optional<Clock::time_point> idleSince;
  bool isWaitSaid = false;
};

} // namespace tune

#endif // GPU_TUNE_TUNER_H
