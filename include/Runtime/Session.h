//===- Session.h - What compiled host code calls ----------------*- C++ -*-===//
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
#include "Runtime/Trace.h"

#include <functional>
#include <map>
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

/// Bytes that a program changed beside memory it had asked for.
struct GuardDamage {
  /// The memory, as `allocate` gave it.
  void *ptr;
  /// Its size in bytes.
  size_t size;
  /// Behind the end, or before the beginning.
  bool isBehind;
  /// How many bytes changed, and how far the nearest is off.
  size_t bytes, distance;
};

/// The state of one run of compiled host code.
///
/// The first error stays: after it, launches are skipped, and allocations give
/// null. Host code only hands device pointers on and never reads through them,
/// so it runs to its end and the caller then finds the error here.
class Session {
public:
  /// `device` outlives the session.
  explicit Session(Device &device) : target(device) {}
  /// Frees what the session still owns.
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  Device &device() { return target; }

  /// The first error so far, or success.
  const Status &status() const { return firstError; }

  /// Waits for the device and gives the first error, the wait's own included.
  const Status &finish();

  /// Launches since the session began or since `clearLaunches`. A launch with
  /// an empty grid is listed too; one skipped because of an earlier error, or
  /// refused, is not.
  const std::vector<LaunchRecord> &launches() const { return records; }
  void clearLaunches() { records.clear(); }
  /// Off for benchmark loops, whose list would only grow. On at first.
  void setRecording(bool enable) { recording = enable; }

  /// Records launches and copies of constants. Each launch is then waited for,
  /// so that the time that the device took for it is its own.
  void setTrace(Trace *newTrace) { trace = newTrace; }

  /// Kernels that are launched from now on are those of this image.
  void setImage(std::string name) { image = std::move(name); }

  /// Called before each launch; a failure becomes the session's error, and
  /// nothing is launched.
  using LaunchHook = std::function<Status(const LaunchRequest &)>;
  void setLaunchHook(LaunchHook hook) { launchHook = std::move(hook); }

  /// Surrounds all memory that is asked for from now on by so many bytes on
  /// either side (a multiple of 256, or 0), which are looked at when it is
  /// freed and by `finish`. Freeing then waits for the device.
  void setGuard(size_t bytes) { guard = bytes; }
  /// The first damage that was found.
  const std::optional<GuardDamage> &damage() const { return firstDamage; }

  /// Ends a run of several in one session: frees what the session still owns
  /// and forgets the first error. Copies of constants stay, since work of
  /// earlier runs may be queued that reads them.
  void endRun();

  /// Takes `ptr`, which host code allocated and returned, out of the session's
  /// care. Gives the pointer to hand to `Device::free` later, which differs
  /// from `ptr` for alignments above 256 bytes; null when the session does not
  /// own `ptr`.
  void *release(void *ptr);

  /// True when `ptr` came from `allocate` and was neither freed nor released.
  bool owns(void *ptr) const { return owned.count(ptr) != 0; }

  /// What the C functions below do.
  void launch(LaunchRequest request);
  void encodeTensorMap(const TensorMapRequest &request, void *map);
  void *allocate(int64_t alignment, int64_t bytes);
  void *allocateArray(int64_t alignment, int64_t rank, const int64_t *sizes,
                      int64_t elementBytes, const char *element);
  void free(void *ptr);
  void *constant(const void *host, int64_t bytes);
  /// Makes a failed check of host code (`InvalidArgument`) the session's error,
  /// unless there was one before.
  void report(std::string message);
  /// The same for any failure; success is ignored.
  void fail(Status status);

private:
  struct Block {
    /// What the device gave.
    void *base;
    size_t bytes, guard;
  };

  Status checkGuard(void *ptr, const Block &block);

  Status launchTraced(const LaunchRequest &request);

  Device &target;
  Trace *trace = nullptr;
  size_t guard = 0;
  std::optional<GuardDamage> firstDamage;
  Status firstError;
  /// Why a tensor map of the next launch could not be made.
  Status mapError;
  std::vector<LaunchRecord> records;
  bool recording = true;
  /// Empty for any.
  std::string image;
  LaunchHook launchHook;
  /// By the pointer handed out.
  std::unordered_map<void *, Block> owned;
  /// Copies of constants, by the constant's address and size. `owned` does not
  /// list them: host code cannot free them.
  std::map<std::pair<const void *, int64_t>, void *> constants;
};

/// Makes a session the calling thread's current one for its lifetime. Scopes
/// nest; the inner one counts.
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

// Called by compiled host code. Without a current session there is nowhere to
// put an error: each of them then says so on standard error and aborts.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

/// Queues a launch; see `LaunchRequest` for the arguments.
void tessera_rt_launch(const char *kernel, int64_t gridX, int64_t gridY,
                       int64_t gridZ, int64_t blockX, int64_t blockY,
                       int64_t blockZ, int64_t workgroupBytes, int64_t numArgs,
                       void **args, const int64_t *argSizes);

/// Makes a tensor map for the launch that follows and writes it to `map`
/// (`tensorMapBytes`, aligned to `tensorMapAlignment`). `pointer` and `offset`,
/// in elements, give the tensor's first element; `element` is a
/// `TensorMapElement`; see `TensorMapRequest` for the rest. A tensor without a
/// map is an error of that launch, unless its grid is empty.
void tessera_rt_tensor_map(void *map, void *pointer, int64_t offset,
                           int64_t rank, const int64_t *sizes,
                           const int64_t *strides, int64_t element,
                           const int64_t *box, int64_t swizzle);

/// The same of windows over an image.
void tessera_rt_window_map(void *map, void *pointer, int64_t offset,
                           int64_t rank, const int64_t *sizes,
                           const int64_t *strides, int64_t element,
                           const int64_t *box, int64_t swizzle,
                           const int64_t *lower, const int64_t *extent,
                           const int64_t *stride);

/// Gives device memory, aligned to 256 bytes, or to `alignment` (a power of
/// two) when that is more. Null after an error.
void *tessera_rt_alloc(int64_t bytes);
void *tessera_rt_aligned_alloc(int64_t alignment, int64_t bytes);

/// The same for an array of `rank` sizes, with elements of so many bytes. A
/// size that is negative, and sizes whose product in bytes exceeds 2^63 - 1,
/// are errors that name the shape; `element` names the element's type there,
/// and where the program has the allocation: "f32 at main.mlir:3:8".
void *tessera_rt_alloc_array(int64_t alignment, int64_t rank,
                             const int64_t *sizes, int64_t elementBytes,
                             const char *element);

/// Frees memory of the three functions above. Null is ignored.
void tessera_rt_free(void *ptr);

/// The device's copy of a constant of the host program, aligned to 256 bytes.
/// It is made at the first call and lasts as long as the session: the same
/// constant (address and size) gives the same copy, and nobody frees it. Null
/// after an error.
void *tessera_rt_constant(const void *host, int64_t bytes);

/// A check of host code at run time failed.
void tessera_rt_report(const char *message);

} // extern "C"
// NOLINTEND(readability-identifier-naming)

#endif // TESSERA_RUNTIME_SESSION_H
