//===- Session.h - Runtime session of host code -------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled host code launches kernels and asks for device memory through the C
// functions below. They act on the calling thread's current `Session`, which
// ties them to a device, keeps the first error and owns the memory handed out.
//
//   Session session(*device);
//   {
//     SessionScope scope(session);
//     entry(arguments...);
//   }
//   if (!session.finish().ok()) ...
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_SESSION_H
#define TESSERA_RUNTIME_SESSION_H

#include "Runtime/Device.h"
#include "Runtime/LaunchStatistics.h"
#include "Runtime/Trace.h"

#include <csetjmp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tessera::runtime {

/// A launch that a session passed to its device.
struct LaunchRecord {
  std::string kernel;
  int64_t grid[3];
  int64_t block[3];
  int64_t workgroupBytes;
};

/// Bytes that a program changed outside of memory it had allocated.
struct GuardDamage {
  /// The memory, as returned by `allocate`.
  void *ptr;
  /// Its size in bytes.
  size_t size;
  /// Past the end, or before the start.
  bool isAfter;
  /// The number of bytes changed, and the distance of the nearest one.
  size_t bytes, distance;
};

class HostMemory;

/// The kind of memory that `tessera_rt_share` adds to the buffers that host
/// code accesses.
enum class SharedKind : int64_t { Device, Variable, Constant };

/// The state of one run of compiled host code.
///
/// The session keeps the first error: after it, launches are skipped,
/// allocations return null, and scalars read as zero. Most host code only
/// passes device pointers on and never dereferences them, so it runs to its
/// end, after which the caller reads the error here. Host code that accesses
/// buffers runs in `call`, which it leaves at the first request after an error.
class Session {
public:
  /// `device` outlives the session.
  explicit Session(Device &device);
  /// Frees the memory that the session still owns.
  virtual ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  Device &device() { return target; }

  /// The first error so far, or success.
  const Status &status() const { return firstError; }

  /// Waits for the device and returns the first error, including one from the
  /// wait.
  const Status &finish();

  /// Launches since the session began or since `clearLaunches`. A launch with
  /// an empty grid is listed too; a launch that was skipped because of an
  /// earlier error, or rejected, is not.
  const std::vector<LaunchRecord> &launches() const { return records; }
  void clearLaunches() { records.clear(); }
  /// Whether launches are recorded; on by default. Benchmark loops turn it off,
  /// since the list would only grow.
  void setRecording(bool enable) { recording = enable; }

  /// Records launches and copies of constants in a trace. Each launch is then
  /// synchronous, so that its device time is measured separately.
  void setTrace(Trace *newTrace) { trace = newTrace; }

  /// Launches kernels of this image from now on.
  void setImage(std::string name) { image = std::move(name); }

  /// The constants that `data` finds; null for none. They must outlive the
  /// session's runs.
  void setConstants(const DeviceConstants *newConstants) {
    deviceConstants = newConstants;
  }

  /// Receives what host code and kernels of the CPU print; without one, nothing
  /// is printed. Nothing is printed after an error either.
  void setPrintSink(PrintSink newSink) { sink = std::move(newSink); }
  /// The same for what upstream's functions write to standard error.
  void setErrorSink(PrintSink newSink) { errorSink = std::move(newSink); }

  /// Calls a function of host code, which has no destructors.
  void call(void (*function)(void **), void **arguments);

  /// How launches are queued, `Direct` by default. In the other modes each run
  /// is between `beginRun` and `submitRun`. Launches are direct while they are
  /// traced or memory is checked, and on devices without concurrent calls.
  void setLaunchMode(LaunchMode mode) { launchMode = mode; }
  void beginRun();
  /// Submits what was recorded. Its failure becomes the session's error.
  void submitRun();
  /// How the runs between `beginRun` and `submitRun` were submitted; null for
  /// none.
  const LaunchStatistics *launchStatistics() const;

  /// Appends launches to the list instead of queuing them, until it is null.
  void setRecorder(WorkList *list) { recorder = list; }

  /// Called before each launch; on failure, its status becomes the session's
  /// error and the launch is skipped.
  using LaunchHook = std::function<Status(const LaunchRequest &)>;
  void setLaunchHook(LaunchHook hook) { launchHook = std::move(hook); }

  /// Called where a program that was compiled with checkpoints begins or ends a
  /// step; `values` are those that the program passed since the last
  /// checkpoint. On failure, the status becomes the session's error. Without a
  /// hook, checkpoints have no effect.
  using CheckpointHook = std::function<Status(
      int64_t step, bool isEnd, const std::vector<int64_t> &values)>;
  void setCheckpointHook(CheckpointHook hook) {
    checkpointHook = std::move(hook);
  }

  /// Places guards of this many bytes (a multiple of 256, or 0) on both sides
  /// of all memory allocated from now on. The guards are checked when the
  /// memory is freed and by `finish`. Freeing then waits for the device.
  void setGuard(size_t bytes) { guard = bytes; }
  /// The first damaged guard.
  const std::optional<GuardDamage> &damage() const { return firstDamage; }

  /// Ends one of several runs in a session: frees the memory that the session
  /// still owns and clears the error. Copies of constants are kept, because
  /// queued work of earlier runs may read them.
  void endRun();

  /// Releases `ptr`, which host code allocated and returned, from the session's
  /// ownership. Returns the pointer to pass to `Device::free` later, which
  /// differs from `ptr` for alignments above 256 bytes; null if the session
  /// does not own `ptr`.
  void *release(void *ptr);

  /// Whether `ptr` came from `allocate` and was neither freed nor released.
  bool owns(void *ptr) const { return owned.count(ptr) != 0; }

  /// Implementation of the C functions below. Runs of an `Executable` have
  /// their own.
  virtual void launch(LaunchRequest request);
  virtual void encodeTensorMap(const TensorMapRequest &request, void *map);
  virtual void *allocate(int64_t alignment, int64_t bytes);
  void *allocateArray(int64_t alignment, int64_t rank, const int64_t *sizes,
                      int64_t elementBytes, const char *element);
  void *allocateShared(bool isSeparate, int64_t alignment, int64_t rank,
                       const int64_t *sizes, int64_t elementBytes,
                       const char *element);
  void *share(void *ptr, int64_t bytes, SharedKind kind);
  void *toDevice(void *ptr);
  void accessFromHost(const void *ptr, bool isWrite);
  void *exportMemory(void *ptr);
  void endEntry();
  /// Before host code does anything but to ask for launches, constants and
  /// memory of the device: its run is not repeated by its launches alone.
  void noteEffect() { hasEffects = true; }
  /// Leaves the host code of `call` after an error.
  void leaveAfterError();
  void print(std::string_view text);
  void printError(std::string_view text);
  /// Before host code's memref is printed: reports one whose sizes are
  /// negative, or that exceeds the buffer that it begins in, and makes the
  /// buffer current in host memory. Returns false if it must not be read.
  /// Memory that the session did not allocate is not checked.
  bool prepareRead(int64_t rank, const void *data, int64_t offset,
                   const int64_t *sizes, const int64_t *strides,
                   size_t elementBytes);
  virtual void free(void *ptr);
  virtual void *constant(const void *host, int64_t bytes);
  void *data(int64_t index, int64_t bytes);
  void passValue(int64_t value);
  void reachCheckpoint(int64_t step, bool isEnd);
  virtual void read(void *host, const void *device, int64_t bytes);
  /// Makes a failed check of host code (`InvalidArgument`) the session's error,
  /// unless it already has one.
  void report(std::string message);
  /// Makes a failure the session's error, unless it already has one; success is
  /// ignored.
  void fail(Status status);

protected:
  /// Whether a request for memory can be one; an error where it cannot.
  bool checkRequest(int64_t alignment, int64_t bytes);
  bool checkConstant(const void *host, int64_t bytes);
  /// The error of freeing memory that host code does not have.
  void reportUnknown(void *ptr);
  /// Whether the launch is to go on: false after an error, also one of the
  /// tensor maps of the launch.
  bool checkMaps(const LaunchRequest &request);
  /// Keeps an error for the next launch.
  void keepMapError(Status status) { mapError = std::move(status); }
  bool hasMapError() const { return !mapError.ok(); }
  void clearErrors();

  /// Whether host code has done anything but to ask for launches, constants and
  /// memory of the device.
  bool hasEffects = false;

private:
  struct Block {
    /// The pointer that the device returned.
    void *base;
    size_t bytes, guard;
  };

  /// Runs as graphs.
  struct Submission;

  Status checkGuard(void *ptr, const Block &block);
  /// The sizes as a number of bytes; absent, and an error, for wrong ones.
  std::optional<int64_t> countArrayBytes(int64_t rank, const int64_t *sizes,
                                         int64_t elementBytes,
                                         const char *element);
  HostMemory &getHostMemory();
  /// The launch of a run that is submitted, or of one that is recorded.
  Status launchFound(const LaunchRequest &request);

  Status launchTraced(const LaunchRequest &request);

  Device &target;
  Trace *trace = nullptr;
  size_t guard = 0;
  std::optional<GuardDamage> firstDamage;
  Status firstError;
  /// Why a tensor map of the next launch could not be created.
  Status mapError;
  std::vector<LaunchRecord> records;
  bool recording = true;
  LaunchMode launchMode = LaunchMode::Direct;
  std::unique_ptr<Submission> submission;
  WorkList *recorder = nullptr;
  /// The image to launch kernels from; empty for any.
  std::string image;
  LaunchHook launchHook;
  CheckpointHook checkpointHook;
  std::vector<int64_t> passedValues;
  /// Live allocations by the pointer that host code has.
  std::unordered_map<void *, Block> owned;
  /// Copies of constants, by the constant's address and size. `owned` does not
  /// list them: host code cannot free them.
  std::map<std::pair<const void *, int64_t>, void *> constants;
  const DeviceConstants *deviceConstants = nullptr;
  /// Buffers that host code accesses where the device has memory of its own;
  /// null for none.
  std::unique_ptr<HostMemory> hostMemory;
  PrintSink sink, errorSink;
  /// Where `call` continues after an error; null outside of it.
  std::jmp_buf *leaving = nullptr;
};

/// Makes a session the calling thread's current one for its lifetime. Scopes
/// nest; the innermost one is current.
class SessionScope {
public:
  explicit SessionScope(Session &session);
  ~SessionScope();
  SessionScope(const SessionScope &) = delete;
  SessionScope &operator=(const SessionScope &) = delete;

private:
  Session *previous;
};

/// The calling thread's current session, or null.
Session *currentSession();

} // namespace tessera::runtime

// Called by compiled host code. Without a current session, an error cannot be
// stored: each function then prints an error and aborts.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

/// Queues a launch; see `LaunchRequest` for the arguments.
void tessera_rt_launch(const char *kernel, int64_t gridX, int64_t gridY,
                       int64_t gridZ, int64_t blockX, int64_t blockY,
                       int64_t blockZ, int64_t workgroupBytes, int64_t numArgs,
                       void **args, const int64_t *argSizes);

/// Creates a tensor map for the next launch and writes it to `map`
/// (`tensorMapBytes`, aligned to `tensorMapAlignment`). `pointer` and `offset`,
/// in elements, give the tensor's first element; `element` is a
/// `TensorMapElement`; see `TensorMapRequest` for the rest. A tensor without a
/// map is an error of that launch, unless its grid is empty.
void tessera_rt_tensor_map(void *map, void *pointer, int64_t offset,
                           int64_t rank, const int64_t *sizes,
                           const int64_t *strides, int64_t element,
                           const int64_t *box, int64_t swizzle);

/// Creates a tensor map of windows over an image for the next launch.
void tessera_rt_window_map(void *map, void *pointer, int64_t offset,
                           int64_t rank, const int64_t *sizes,
                           const int64_t *strides, int64_t element,
                           const int64_t *box, int64_t swizzle,
                           const int64_t *lower, const int64_t *extent,
                           const int64_t *stride);

/// Allocates device memory, aligned to 256 bytes or to `alignment` (a power of
/// two) if that is larger. Returns null after an error.
void *tessera_rt_alloc(int64_t bytes);
void *tessera_rt_aligned_alloc(int64_t alignment, int64_t bytes);

/// Allocates an array of `rank` sizes with elements of the given size in bytes.
/// A negative size, or a total above 2^63 - 1 bytes, is an error that names the
/// shape; `element` is the element type and the source location of the
/// allocation: "f32 at main.mlir:3:8".
void *tessera_rt_alloc_array(int64_t alignment, int64_t rank,
                             const int64_t *sizes, int64_t elementBytes,
                             const char *element);

/// As `tessera_rt_alloc_array`, of a buffer that host code accesses. If
/// `isSeparate` is not 0, the device has memory of its own: the address is one
/// of host memory, and the functions below keep both sides current. After an
/// error, the call does not return.
void *tessera_rt_alloc_shared(int64_t isSeparate, int64_t alignment,
                              int64_t rank, const int64_t *sizes,
                              int64_t elementBytes, const char *element);

/// Adds memory that was not allocated by the program to these buffers, and
/// returns its address for host code. `kind` is a `SharedKind`: memory of the
/// device, a variable or a constant of the program.
void *tessera_rt_share(void *ptr, int64_t bytes, int64_t kind);

/// Returns the address on the device for a launch, with the host's contents.
/// Other addresses are returned unchanged.
void *tessera_rt_to_device(void *ptr);

/// Called before host code reads or writes memory at this address.
void tessera_rt_host_access(const void *ptr, int64_t isWrite);

/// Returns the address on the device of memory that an entry point returns,
/// which the session then owns as memory of `tessera_rt_alloc_array`.
void *tessera_rt_export(void *ptr);

/// At the end of an entry point: copies to the device what host code has
/// written to arguments.
void tessera_rt_end_entry();

/// Frees memory of the functions above. Null is ignored.
void tessera_rt_free(void *ptr);

/// Returns the device copy of a constant of the host program, aligned to 256
/// bytes. It is created at the first call and lives as long as the session: the
/// same constant (address and size) always has the same copy, which host code
/// must not free. Null after an error.
void *tessera_rt_constant(const void *host, int64_t bytes);

/// Returns the address of a constant of the program on the device, by its
/// number. Null after an error; a number that the program does not have is one.
void *tessera_rt_data(int64_t index, int64_t bytes);
/// Only in programs that are compiled with checkpoints: passes a value to the
/// next checkpoint, and reaches the begin (0) or the end (1) of a step.
void tessera_rt_checkpoint_value(int64_t value);
void tessera_rt_checkpoint(int64_t step, int64_t isEnd);
/// Waits for the device, and copies a scalar of device memory to the host: a
/// condition or the number of iterations of a loop. Zero after an error, and
/// while the memory of a run is planned.
void tessera_rt_read(void *host, const void *device, int64_t bytes);

/// Called when a runtime check of host code failed.
void tessera_rt_report(const char *message);

} // extern "C"
// NOLINTEND(readability-identifier-naming)

#endif // TESSERA_RUNTIME_SESSION_H
