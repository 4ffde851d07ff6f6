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

#ifndef TUNING_RUN_TUNER_H
#define TUNING_RUN_TUNER_H

#include "Tuning/Cluster/Cluster.h"
#include "Tuning/Run/Progress.h"
#include "Tuning/Run/RecordKeeper.h"
#include "Tuning/Run/RunOptions.h"
#include "Tuning/Run/TaskQueue.h"
#include "Tuning/Run/WorkerPool.h"

#include <list>
#include <map>
#include <memory>
#include <set>

namespace tessera::tuning {

namespace tuning = mlir::tessera::tuning;

class Tuner {
public:
  /// All of them outlive it.
  Tuner(const RunOptions &options, std::vector<Task> &tasks,
        const SpaceEditor &edit, tuning::Database &database, int64_t run,
        Progress &progress);
  ~Tuner();

  /// Has other hosts take part, which may come and go. It outlives the tuner.
  void setCluster(Cluster &hosts);

  /// False after an error that ends the run, which was reported. A recorded
  /// interrupt (`support::handleInterrupts`) ends the search, and leaves a few
  /// seconds to compare leaders. The run does not wait for workers past the end
  /// of its budget, or of these seconds: it reports what they were processing.
  bool run();

  const std::vector<TaskState> &getStates() const { return states; }
  const Counts &getCounts() const { return counts; }
  /// Candidates compiled in a second, by all workers while they had work.
  double getCompileRate() const;
  const tuning::Environment &getEnvironment() const { return environment; }
  /// Whether any device came to be of use.
  bool hasMeasured() const { return isDeviceSeen; }

private:
  /// Negative if the run may take any time.
  double getSecondsLeft() const;
  /// Whether the run must not wait for its workers any more.
  bool isOutOfTime() const;
  /// Moves the end of the run after an interrupt.
  void handleInterrupt();
  /// Reports what workers still processed when the run was out of time.
  void reportUnfinished();
  /// Whether the leaders of a task take part in the final comparison.
  bool isToCompare(const TaskState &state) const;
  /// Leaves out the final comparisons that have not begun.
  void dropComparisons();
  double getFinalSeconds() const;
  std::unique_ptr<WorkerProcess>
  startWorker(int host, const std::vector<std::string> &arguments,
              std::string &why);
  bool startCompiler(Compiler &compiler);
  bool startMeasurer(Measurer &measurer);
  void feedCompilers();
  void feedMeasurers();
  void compareLeaders();
  void give(Measurer &measurer, Pending work);
  void openTask(Measurer &measurer, size_t task);
  void handle(Compiler &compiler, Message message);
  void handle(Measurer &measurer, const Message &message);
  void takeResult(Measurer &measurer, const llvm::json::Object &head);
  void takeFinal(Measurer &measurer, const llvm::json::Object &head);
  void lose(Compiler &compiler, bool isLate);
  void lose(Measurer &measurer, bool isLate);
  /// Handles a connection that has ended, or that cannot be sent to.
  template <typename Worker> void hangUp(Worker &worker);
  void serveAll();
  void handleHosts();
  void loseHost(const ClusterEvent &event);
  void assignDevices();
  void putBack(Pending work);
  void noteWaiting();
  std::string describeDevice(const Measurer &measurer) const;
  /// A candidate, for messages.
  std::string describe(const Pending &work) const;
  void checkTimes();
  void finish(Pending work, tuning::Record record);
  /// Now, in UTC.
  static std::string getTime();
  tuning::Record makeRecord(const Pending &work, tuning::Outcome outcome,
                            std::string error,
                            const tuning::Environment &environment) const;
  /// The environment of a compile worker.
  tuning::Environment getEnvironment(const Compiler &compiler) const;
  /// Records that a candidate, or the compiler's own choice, does not compile;
  /// in the second case gives up its task because of `why`.
  void failToCompile(Pending work, const Compiler &compiler,
                     const std::string &error, const std::string &why);
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
  TaskQueue queue;
  std::vector<TaskState> &states = queue.states;
  WorkerPool pool;
  std::list<Compiler> &compilers = pool.compilers;
  std::list<Measurer> &measurers = pool.measurers;
  Cluster *cluster = nullptr;
  std::map<int, std::string> hostNames;
  /// Devices of hosts on which no process came to be of use.
  std::set<std::pair<int, std::string>> uselessDevices;
  tuning::Environment environment;
  Counts counts;
  Progress &progress;
  Clock::time_point start;
  /// The end of the budget, or soon after an interrupt; absent without either.
  std::optional<Clock::time_point> end;
  double compileSeconds = 0;
  /// The tasks in the order of their final comparisons.
  std::vector<size_t> finalOrder;
  bool isBroken = false, isSearchOver = false, isResumed = false;
  /// There are devices, or hosts that may have some.
  bool isMeasured = false;
  bool isDeviceSeen = false;
  bool isInterrupted = false;
  /// A worker that had nothing to do was given nothing.
  bool isExhausted = false;
  /// Since when no worker compiles or measures, and whether that was reported.
  std::optional<Clock::time_point> idleSince;
  bool isWaitReported = false;
};

} // namespace tessera::tuning

#endif // TUNING_RUN_TUNER_H
