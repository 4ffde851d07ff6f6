//===- Executable.h - An entry of a program, ready to be called -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs bundles: the host code is loaded into the process, the kernels onto a
// device, and calls use the caller's memory.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EXECUTABLE_H
#define TESSERA_RUNTIME_EXECUTABLE_H

#include "Runtime/Bundle.h"
#include "Runtime/Device.h"
#include "Runtime/LaunchStatistics.h"
#include "Runtime/Session.h"

#include <memory>
#include <mutex>
#include <optional>

namespace tessera::runtime {

class HostLibrary;
class KeptGraph;
class LoadedProgram;
class RunSession;
class PlanSession;
struct OperandShape;
struct RunInputs;
struct RunPlan;

/// Runs an entry: takes an array of pointers, one to each field of each
/// argument (an array of rank r: allocated and aligned pointer, offset, r
/// sizes, r strides, 8 bytes each; a scalar: itself), then one to memory for
/// the results (`ResultLayout`). It is called within a `SessionScope`.
using EntryFunction = void (*)(void **);

/// The loaded host code of a variant, and its kernels.
class LoadedVariant {
public:
  /// Copies all data it needs, except the contents of constants, which it
  /// shares. `Rejected` if the system cannot load the host
  /// code, or the host code does not define one of its kernels.
  static Expected<std::unique_ptr<LoadedVariant>>
  load(const ProgramVariant &variant);
  ~LoadedVariant();

  /// The kernels; the name of the image is unique.
  const KernelImage &getImage() const { return image; }
  const std::vector<Constant> &getConstants() const { return constants; }
  /// Computes constants; null if there is nothing to compute.
  EntryFunction getLoader() const { return loader; }
  /// Returns null if no entry point has that name.
  EntryFunction getFunction(const std::string &name) const;

private:
  LoadedVariant();

  std::unique_ptr<HostLibrary> library;
  KernelImage image;
  std::vector<Constant> constants;
  EntryFunction loader = nullptr;
};

/// The kind of memory of an operand.
enum class MemoryKind {
  /// Host memory: copied to the device before a run, and back afterwards if the
  /// program may write it; used in place on a device whose kernels can
  /// (`Device::usesHostMemory`). A run with such an operand is synchronous.
  Host,
  /// Device memory, by a pointer that kernels can use: used in place.
  Device,
  /// Device memory, by a driver object (`Device::bindObject`): used in place,
  /// from offset 0.
  ClMem,
  VkBuffer,
};

/// One argument of a call.
struct Operand {
  MemoryKind kind = MemoryKind::Device;
  /// The first element of an array, the driver object that contains it, or a
  /// scalar's value (always on the host, independent of `kind`).
  void *data = nullptr;
  /// The sizes of an array; null stands for the sizes of its type, which must
  /// then be static.
  const int64_t *sizes = nullptr;
  /// The strides of an array in elements; null stands for a dense row-major
  /// array.
  const int64_t *strides = nullptr;
};

/// A result of a call. The caller owns its device memory.
struct CallResult {
  /// The first element of an array, on the device; null for a scalar.
  void *data = nullptr;
  /// The allocation, which the caller must pass to `Device::free`; null for
  /// memory of the caller's allocator.
  void *allocation = nullptr;
  /// The size of the array in bytes.
  size_t bytes = 0;
  /// Size and alignment of the request to the caller's allocator.
  size_t allocatedBytes = 0, alignment = 0;
  std::vector<int64_t> sizes;
  /// The value of a scalar.
  uint64_t scalar = 0;
};

/// Memory for a result.
struct ResultRequest {
  size_t result;
  /// At least 1, and a power of two of at least 256.
  size_t bytes, alignment;
  const std::vector<int64_t> &sizes;
};

/// The caller's memory for results. The calls are made by the thread of the
/// run.
class ResultAllocator {
public:
  virtual ~ResultAllocator();
  /// Whether the result must be in this allocator's memory.
  virtual bool takes(size_t result) const = 0;
  /// Returns null if it cannot allocate.
  virtual void *allocate(const ResultRequest &request) = 0;
  /// Takes back memory for a run that has failed.
  virtual void release(void *memory, const ResultRequest &request) = 0;
};

struct RunOptions {
  /// The caller's queue (`Device::enterQueue`); none for the device's own.
  std::optional<void *> queue;
  /// Where results are allocated; null for the device's pool.
  ResultAllocator *allocator = nullptr;
  /// Memory for temporaries, aligned to 256 bytes. Null: the executable has a
  /// block of its own for each queue.
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
  /// How launches are queued. See `Executable`.
  LaunchMode launch = LaunchMode::Auto;
  /// Locked by a run while it needs the device to itself; null if the caller
  /// has the device to itself.
  std::mutex *mutex = nullptr;
};

/// An entry point on a device. Calls must not overlap with each other, nor,
/// without `RunOptions::mutex`, with other uses of the device.
///
/// Temporaries of a run are in a workspace, at offsets that are planned once
/// for each set of sizes and integer scalars; the last `maxPlans` sets are
/// kept. The plan is the record of an execution of the host code that launches
/// nothing. Each run checks that its host code asks for the same memory. One
/// that does not, because it depends on other values, continues with memory
/// from the driver, and the next run makes a new plan.
///
/// On devices with graphs (CUDA, HIP) the launches and copies of a run are
/// submitted as one graph where that is faster than one by one. The executable
/// makes the graph in the second run in a queue with the same sizes and
/// scalars, and keeps `maxGraphs` of them for each queue. Later runs change the
/// steps whose arguments differ. A run in a queue that is being captured
/// launches its kernels into the capture.
///
/// A run with the same operands, results and workspace as one of the last runs
/// in its queue repeats the launches of that one, and does not execute host
/// code, if the device takes concurrent calls and all arrays are in its memory.
class Executable {
public:
  /// The device must outlive the executable. `InvalidArgument` if the bundle
  /// does not contain code for the device or the entry point; also the errors
  /// of `Device::loadImage`.
  static Expected<std::unique_ptr<Executable>>
  create(const Bundle &bundle, const std::string &entry, Device &device);
  ~Executable();
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  const Signature &getSignature() const { return signature; }

  /// Calls the entry point on the device's own queue or on the caller's
  /// (`Device::enterQueue`). Without host operands the call is asynchronous:
  /// the work is queued when it returns, and a later call reports an error of a
  /// running kernel. `results` receives as many results as the signature has;
  /// its previous contents are replaced but not freed. A run that fails leaves
  /// the vector unchanged, and frees its own allocations.
  ///
  /// `InvalidArgument` names the operand and the reason.
  Status run(const std::vector<Operand> &operands,
             std::vector<CallResult> &results, const RunOptions &options = {});

  /// The bytes of workspace that a run with these operands takes. Their memory
  /// is not read; `data` of arrays may be null. Not to overlap with other uses
  /// of the device. The errors of host code that would come before a launch.
  Expected<size_t> workspaceSize(const std::vector<Operand> &operands);

  /// How the runs so far were submitted.
  const LaunchStatistics &getLaunchStatistics() const;

  static constexpr size_t maxPlans = 64;
  static constexpr size_t maxGraphs = 16;

private:
  class Copies;
  class Objects;
  class Results;
  struct QueueState;
  struct Recording;

  Executable(Device &device, const Signature &signature);

  Status loadConstants();

  Status bind(size_t index, const Operand &operand);
  Status bindAll(const std::vector<Operand> &operands);
  void prepare();
  const RunPlan *findPlan();
  Expected<const RunPlan *> makePlan();
  Status makePlannedResult(size_t index, PlanSession &planned);
  void dropPlan(const RunPlan &plan);
  QueueState *findState(const std::optional<void *> &queue);
  QueueState &getState(const std::optional<void *> &queue);
  KeptGraph *findGraph(QueueState &state, const RunPlan &plan);
  Status checkWorkspace(const RunPlan &plan, const RunOptions &options) const;
  Status growWorkspace(QueueState &state, size_t bytes);

  bool runConcurrently(const std::vector<Operand> &operands,
                       std::vector<CallResult> &results,
                       const RunOptions &options, Status &status);
  bool takesAllResults(const RunOptions &options) const;
  bool repeatRun(const RunInputs &inputs, std::vector<CallResult> &results,
                 const RunOptions &options, QueueState &state,
                 Recording &recording, Status &status);
  void recordRun(const RunInputs &inputs, const RunPlan &plan,
                 QueueState &state, Recording &recording);
  Status runExclusively(const std::vector<Operand> &operands,
                        std::vector<CallResult> &results,
                        const RunOptions &options);
  bool canUseInPlace(const std::vector<Operand> &operands, size_t index) const;
  Status runInQueue(const std::vector<Operand> &operands,
                    std::vector<CallResult> &results, const RunPlan *plan,
                    const RunOptions &options);
  Status runPlanned(const RunPlan &plan, const RunOptions &options,
                    QueueState &state, Results &made, std::mutex *mutex,
                    Recording *recording = nullptr);
  Status runUnplanned(Results &made);
  Status readArray(size_t index, CallResult &result);
  void readScalar(size_t index, CallResult &result);
  Status takePlanned(const RunPlan &plan, Results &made, bool &isPlanned);
  Status takeUnplanned(Results &made);

  Device &device;
  Signature signature;
  std::unique_ptr<LoadedVariant> variant;
  bool isLoaded = false;
  EntryFunction function = nullptr;
  DeviceConstants constants;
  std::unique_ptr<LoadedProgram> program;
  std::unique_ptr<RunSession> session;
  /// For devices that check memory, where nothing is planned. Lives across
  /// runs, because it owns the copies of constants.
  std::unique_ptr<Session> checkingSession;
  /// The one used last comes first.
  std::vector<std::unique_ptr<RunPlan>> plans;
  uint64_t numPlans = 0;
  /// The words of arguments that plans depend on, and their values.
  std::vector<size_t> keyWords;
  std::vector<uint64_t> key;
  std::vector<std::unique_ptr<QueueState>> states;
  /// A result as host code has left it.
  CallResult found;
  /// Workspace for the queue of the first run.
  void *firstWorkspace = nullptr;
  size_t firstWorkspaceBytes = 0;
  /// Kept from run to run for its memory.
  std::unique_ptr<Results> kept;
  /// The fields of all arguments, and the offset of each argument's first
  /// field.
  std::vector<uint64_t> words;
  std::vector<size_t> firstWords;
  std::vector<OperandShape> shapes;
  /// The pointers that the entry point is called with.
  std::vector<void *> pointers;
  ResultLayout layout;
  std::vector<uint64_t> resultWords;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_EXECUTABLE_H
