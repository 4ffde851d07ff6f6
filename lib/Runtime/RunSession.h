//===- RunSession.h - Host code by a plan -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two sessions in which an executable's host code runs: one that only makes
// the plan of a run, and one that runs by it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_RUNSESSION_H
#define TESSERA_LIB_RUNTIME_RUNSESSION_H

#include "RecordedRun.h"
#include "RunPlan.h"
#include "Runtime/Session.h"
#include "WorkSubmitter.h"

#include <array>
#include <mutex>

namespace tessera::runtime {

/// The common state of the sessions of an executable: its kernels and its
/// constants, on the device. Each look-up begins where the last one ended,
/// because most runs repeat the one before.
class LoadedProgram {
public:
  LoadedProgram(Device &device, std::string image)
      : device(device), image(std::move(image)) {}
  /// Frees the constants.
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram &) = delete;
  LoadedProgram &operator=(const LoadedProgram &) = delete;

  const std::string &getImage() const { return image; }
  /// The kernel of that name; host code always passes the same pointer. Only
  /// for devices with concurrent calls.
  Expected<LoadedKernel *> findKernel(const char *name);
  /// The device's copy of a constant, or null where there is none yet.
  void *findConstant(const void *host, int64_t bytes);
  /// Copies a constant to the device, which the caller has to itself; waits.
  Expected<void *> copyConstant(const void *host, int64_t bytes);

private:
  struct Constant {
    const void *host;
    int64_t bytes;
    void *copy;
  };

  Device &device;
  std::string image;
  std::vector<std::pair<const char *, LoadedKernel *>> kernels;
  std::vector<Constant> constants;
  size_t nextKernel = 0, nextConstant = 0;
};

/// Records what host code asks for. Memory has addresses that no allocator
/// returns, and nothing is launched. Constants are copied to the device.
class PlanSession final : public Session {
public:
  PlanSession(Device &device, LoadedProgram &program)
      : Session(device), program(program) {}

  void launch(LaunchRequest request) override;
  void encodeTensorMap(const TensorMapRequest &, void *) override {}
  void *allocate(int64_t alignment, int64_t bytes) override;
  void free(void *ptr) override;
  void *constant(const void *host, int64_t bytes) override;
  void read(void *host, const void *device, int64_t bytes) override;

  /// The block that begins at an address and has not been freed, or -1.
  int findBlock(uint64_t address) const;

  RunPlan plan;

private:
  LoadedProgram &program;
  std::vector<uint64_t> addresses;
  uint64_t nextAddress = firstAddress;

  /// No allocator returns such addresses.
  static constexpr uint64_t firstAddress = uint64_t(1) << 60;
};

/// Memory beside the workspace, for runs that leave their plan. It belongs to
/// one queue, and is kept for the next such run.
class ExtraMemory {
public:
  explicit ExtraMemory(Device &device) : device(device) {}
  ~ExtraMemory();
  ExtraMemory(const ExtraMemory &) = delete;
  ExtraMemory &operator=(const ExtraMemory &) = delete;

  Expected<void *> allocate(size_t bytes, size_t alignment);
  /// Lets later requests of the queue have the memory at an address; false
  /// where there is none.
  bool release(void *ptr);
  void releaseAll();

private:
  struct Block {
    void *base, *ptr;
    size_t bytes;
    bool isUsed;
  };
  Device &device;
  std::vector<Block> blocks;
};

/// Runs host code by a plan. Where it asks for something else than the plan
/// has, the rest of the run gets its memory elsewhere.
class RunSession final : public Session {
public:
  RunSession(Device &device, LoadedProgram &program)
      : Session(device), program(program), submitter(device) {}

  /// Before each run. `results` has the memory of each result; `mutex` is that
  /// of the device unless the run has the device to itself. The graph is null
  /// where none is kept.
  void begin(const RunPlan &plan, void *workspace,
             const std::vector<void *> &results, ExtraMemory &extra,
             const std::optional<void *> &queue, std::mutex *mutex,
             KeptGraph *graph, LaunchMode mode);
  /// After the host code: copies on the device, then submits all work that has
  /// not been queued.
  Status copy(void *to, const void *from, size_t bytes) {
    return submitter.copy(to, from, bytes);
  }
  Status submit() { return submitter.submit(); }
  /// Called after `begin`: lists the launches of the run, if they are queued
  /// one by one.
  void listLaunches() {
    list.clear();
    submitter.listLaunches(list);
  }
  /// After a run that has followed its plan: whether a run with the same
  /// operands, results and workspace has the same launches.
  bool isRepeatable() const { return !hasEffects && !plan->readsScalars; }
  /// Keeps the graph of the run, or its launches if all of them are listed.
  void keep(RecordedRun &record, KeptGraph *graph);
  /// See `WorkSubmitter::repeat`.
  bool repeat(const RecordedRun &record, LaunchMode mode, void *repeatQueue,
              Status &result) {
    return submitter.repeat(record, mode, repeatQueue, result);
  }
  /// After the run. Work that has not been submitted is dropped.
  void end();
  const LaunchStatistics &getStatistics() const {
    return submitter.getStatistics();
  }
  /// Whether the run has made the requests of its plan.
  bool followedPlan() const { return !hasLeft && next == plan->events.size(); }

  void launch(LaunchRequest request) override;
  void encodeTensorMap(const TensorMapRequest &request, void *map) override;
  void *allocate(int64_t alignment, int64_t bytes) override;
  void free(void *ptr) override;
  void *constant(const void *host, int64_t bytes) override;
  void read(void *host, const void *device, int64_t bytes) override;

private:
  /// A tensor map of the last run: its request, and its bytes. A map
  /// follows from its request alone.
  struct EncodedMap {
    static constexpr size_t keySize = 5 + 6 * maxTensorMapRank;
    std::array<int64_t, keySize> key = {};
    bool isValid = false;
    char bytes[tensorMapBytes];

    /// False for a request that cannot be one.
    static bool makeKey(const TensorMapRequest &request,
                        std::array<int64_t, keySize> &key);
  };

  char *getAddress(const PlannedBlock &block) const;
  void leavePlan();

  LoadedProgram &program;
  WorkSubmitter submitter;
  /// The launches of a run that is recorded.
  WorkList list;
  const RunPlan *plan = nullptr;
  char *workspace = nullptr;
  const std::vector<void *> *results = nullptr;
  ExtraMemory *extra = nullptr;
  std::optional<void *> queue;
  std::mutex *mutex = nullptr;
  /// The event of the plan that comes next.
  size_t next = 0;
  bool hasLeft = false;
  /// In the order of the requests, and which one comes next.
  std::vector<EncodedMap> maps;
  size_t nextMap = 0;
  /// After leaving the plan: the blocks of it that are in use.
  std::vector<void *> remaining;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_RUNSESSION_H
