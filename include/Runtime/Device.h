//===- Device.h - A device that runs compiled kernels -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One interface over every backend. A device has memory, loaded kernels and a
// single in-order stream: queued work runs in the order of the calls. Backends
// are found at run time; a machine without a driver still has `cpu`.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DEVICE_H
#define TESSERA_RUNTIME_DEVICE_H

#include "Runtime/Constants.h"
#include "Runtime/Status.h"
#include "Runtime/TensorMap.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::runtime {

class MemoryPool;
class WorkList;
struct LoadedKernel;
struct WorkGraph;

/// Properties of a device. Numbers that a backend cannot report are 0.
struct DeviceInfo {
  /// "cpu", "cuda", "hip", "vulkan", "opencl" or "level-zero".
  std::string target;
  /// The chip to compile for: "sm_90a", "gfx942"; on the CPU "x86-64-avx512",
  /// "x86-64-avx512-vnni", "x86-64-avx2", "x86-64", "aarch64", or the machine's
  /// name.
  std::string chip;
  /// The target ID, which is the chip with its feature settings and decides
  /// which code it accepts: "gfx90a:sramecc+:xnack-" (HIP). Empty for other
  /// targets.
  std::string targetId;
  /// The chip family of the device ("pvc", Level Zero), where `chip` is the
  /// description that the device reports. The compiler decides whether code for
  /// the family runs there. Empty for other targets.
  std::string family;
  /// How `chip` and `family` were determined, for people: "hardware 12.60.7 is
  /// pvc; it has dpas, reported by the driver". Empty if the driver names the
  /// chip.
  std::string chipSource;
  /// The vendor's name for the device.
  std::string name;
  /// Driver version, as text: "CUDA 13.0, driver 580.159.03".
  std::string driver;
  /// Position among the devices of the target, from 0.
  int ordinal = 0;
  /// Lanes of a subgroup; 1 on the CPU.
  int subgroupSize = 1;
  /// Size of the device memory, in bytes.
  size_t memoryBytes = 0;
  /// Free memory in bytes when the device was opened. `listDevices` does not
  /// open devices and leaves it 0 on targets where only an open device reports
  /// it (CUDA, HIP).
  size_t freeBytes = 0;
  /// Maximum workgroup memory of one workgroup, static plus dynamic and
  /// including opt-in memory, in bytes.
  size_t workgroupMemoryBytes = 0;
  /// Size of the last-level cache, in bytes.
  size_t l2Bytes = 0;
  /// Number of compute units (SMs); on the CPU, number of threads that run
  /// workgroups.
  int computeUnits = 0;
  /// Maximum clock in MHz.
  int clockMHz = 0;
  /// "discrete", "integrated", "virtual" or "software" if the driver reports it
  /// (Vulkan, Level Zero), else empty.
  std::string kind;
  /// Whether the device is emulated in software on the CPU.
  bool isSoftware = false;
};

/// Compiled kernels in a form that a device can load.
struct KernelImage {
  enum Kind : int {
    /// PTX text in `bytes` (CUDA).
    PTX,
    /// A cubin in `bytes` (CUDA).
    Cubin,
    /// An AMD code object in `bytes`, or an offload bundle of several (HIP).
    HSACO,
    /// Addresses of type `tessera_cpu_kernel` in `functions` (CPU). The code is
    /// not copied and must outlive the image.
    HostFunctions,
    /// Concatenated SPIR-V modules for Vulkan, or for OpenCL and Level Zero, in
    /// `bytes`. The modules contain the kernel names and workgroup sizes.
    SPIRV,
  };
  Kind kind = HostFunctions;
  /// Names the image in messages and for `Device::unloadImage`.
  std::string name;
  std::string bytes;
  /// Kernel name and address; only for `HostFunctions`.
  std::vector<std::pair<std::string, void *>> functions;
};

/// Driver objects with which a caller identifies memory.
enum class MemoryObject {
  /// A cl_mem (OpenCL).
  ClMem,
  /// A VkBuffer (Vulkan).
  VkBuffer,
};

/// Receives text that a program prints.
using PrintSink = std::function<void(std::string_view)>;

/// One launch of a kernel.
struct LaunchRequest {
  const char *kernel = nullptr;
  /// The image that contains the kernel; null for the most recently loaded one.
  const char *image = nullptr;
  /// Workgroups in x, y, z. A zero in any of them makes the launch a no-op.
  int64_t grid[3] = {1, 1, 1};
  /// Threads of a workgroup in x, y, z; each at least 1.
  int64_t block[3] = {1, 1, 1};
  /// Dynamic workgroup memory, in bytes.
  int64_t workgroupBytes = 0;
  int64_t numArgs = 0;
  /// The address of each argument's value. The values are read before `launch`
  /// returns.
  void **args = nullptr;
  /// The size of each argument in bytes. If null, sizes are not checked against
  /// the kernel's parameter list.
  const int64_t *argSizes = nullptr;
  /// On the CPU, receives what the kernel prints, from one thread at a time;
  /// null for none. The drivers of GPUs print to standard output themselves.
  const PrintSink *sink = nullptr;
  /// Whether the kernel may begin before the kernel that was queued last has
  /// ended: it waits by itself (`LoadedKernel::waits`). Only for kernels that
  /// `Device::findKernel` found.
  bool mayOverlap = false;
};

/// Resource usage of a kernel. -1 means "unknown".
struct KernelResources {
  /// Registers per thread.
  int registers = -1;
  /// Local memory per thread in bytes: spilled registers and dynamically
  /// indexed arrays.
  int64_t spillBytes = -1;
  /// Statically declared workgroup memory of the kernel, in bytes.
  int64_t staticWorkgroupBytes = 0;
  /// Maximum number of threads in a workgroup of this kernel.
  int maxThreads = 0;
  /// Workgroups that one compute unit holds at the same time, for the block
  /// size and dynamic workgroup memory asked about; -1 when none was given.
  int workgroupsPerUnit = -1;
  /// Further text that the driver reports about the kernel's code; may be
  /// empty.
  std::string account;
};

/// Counters of a device's memory pool; sizes in bytes, as reserved from the
/// backend (rounded up to the pool's size classes).
struct MemoryStats {
  size_t liveBytes = 0;
  size_t cachedBytes = 0;
  /// Peak of `liveBytes + cachedBytes`.
  size_t peakBytes = 0;
  /// Number of allocations made by the backend.
  uint64_t backendAllocations = 0;
  /// Number of allocations served from the pool.
  uint64_t reuses = 0;
};

/// An open device. Calls on one device must not overlap in time, except those
/// marked as concurrent; separate devices are independent. Every call that is
/// given device pointers takes pointers into allocations of the same device, at
/// any offset.
///
/// A fault of a kernel (such as an illegal address) leaves a CUDA or HIP device
/// unusable: the call that meets the fault and each one after it returns
/// `LaunchFailed`. Closing the device resets it, after which it can usually be
/// opened again; if the driver does not recover, only a new process can use the
/// device.
class Device {
public:
  virtual ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceInfo &info() const { return deviceInfo; }

  /// Allocates memory aligned to 256 bytes with undefined contents. Zero bytes
  /// also give a valid, unique pointer. The pool first returns its cached
  /// memory to the backend; `OutOfMemory` then reports the bytes requested and
  /// the bytes free.
  Status allocate(size_t bytes, void **ptr);

  /// Returns memory to the device's pool; work already queued may still use it.
  /// Null is ignored. `InvalidArgument` for a pointer that `allocate` did not
  /// return.
  Status free(void *ptr);

  /// Returns the pool's unused memory to the backend.
  void trim();

  MemoryStats memoryStats() const;

  /// Number of bytes currently free, excluding memory cached in the pool; 0 if
  /// the backend cannot report it.
  virtual size_t freeMemory() = 0;

  /// The checking mode: every allocation is filled with `pattern` (0xFF bytes
  /// are a NaN in each floating-point type but the FNUZ ones), so that reads of
  /// uninitialized memory become visible. The CPU also fills workgroup memory
  /// with 0xFF before each workgroup, and reports writes just past its end.
  void setChecking(bool enable, uint8_t pattern = 0xFF) {
    checking = enable;
    poison = pattern;
  }
  bool isChecking() const { return checking; }

  /// Copies in stream order; the copy is complete when the call returns.
  virtual Status copyToDevice(void *device, const void *host, size_t bytes) = 0;
  virtual Status copyToHost(void *host, const void *device, size_t bytes) = 0;

  /// Copies from device memory to device memory in stream order. The default
  /// implementation copies through the host and is complete when the call
  /// returns. The ranges must not overlap.
  virtual Status copyOnDevice(void *to, const void *from, size_t bytes);

  /// Until `leaveQueue`, work is queued on the caller's queue: a CUstream
  /// (CUDA; null is the default stream), a hipStream_t (HIP), a
  /// cl_command_queue (OpenCL), a VkQueue (Vulkan) or an immediate
  /// ze_command_list_handle_t (Level Zero). Earlier work that shares memory of
  /// the device's pool is ordered first. `InvalidArgument` for devices that do
  /// not accept a queue, and for a queue of another context.
  virtual Status enterQueue(void *queue);

  /// Returns to the device's own queue. Pool memory used in the caller's queue
  /// is not reused there before that queue is done with it.
  virtual Status leaveQueue();

  /// Like `free`, for memory that work in the caller's queue may still use: the
  /// memory is not reused before that queue finishes its current work.
  virtual Status freeInQueue(void *ptr, void *queue);

  // Concurrent calls, for work in queues of the caller's: they may overlap with
  // each other and with any other call on the device. Each thread enters before
  // and leaves after.

  /// Whether the device implements the calls below.
  virtual bool isConcurrent() const { return false; }
  /// Makes the device current in the calling thread. `state` receives what
  /// `leaveThread` restores. The error of an earlier fault.
  virtual Status enterThread(uintptr_t &state);
  virtual void leaveThread(uintptr_t state) { (void)state; }
  /// Finds a kernel of an image. It is valid until the image is unloaded.
  virtual Expected<LoadedKernel *> findKernel(const char *kernel,
                                              const char *image);
  /// Like `launch`, of a kernel that was found before, in a queue of the
  /// caller's. Without a queue: in the current queue, and not concurrent.
  virtual Status launchKernel(LoadedKernel &kernel,
                              const LaunchRequest &request,
                              const std::optional<void *> &queue);
  /// Repeats a launch that `launchKernel` has accepted, in a queue of the
  /// caller's.
  virtual Status launchAgain(LoadedKernel &kernel, const LaunchRequest &request,
                             void *queue);
  /// Like `copyOnDevice`, in a queue of the caller's.
  virtual Status copyInQueue(void *to, const void *from, size_t bytes,
                             void *queue);
  /// Memory from the backend, without the pool.
  virtual Status allocateNow(size_t bytes, void **ptr);
  virtual void freeNow(void *ptr) { (void)ptr; }

  // Graphs, of launches and copies that are submitted as one. Concurrent calls
  // for different graphs.

  /// Whether the device implements the calls below. `findKernel` and
  /// `launchKernel` are then implemented too.
  virtual bool hasGraphs() const { return false; }
  /// Whether kernels can be found before they are launched.
  bool canFindKernels() const { return isConcurrent() || hasGraphs(); }
  /// The errors of `launchKernel` that come before anything is queued.
  virtual Status prepareLaunch(LoadedKernel &kernel,
                               const LaunchRequest &request);
  /// Makes a graph of the steps of a list, each after the one before. The
  /// launches have been prepared. It must be destroyed before an image with one
  /// of its kernels is unloaded.
  virtual Expected<WorkGraph *> makeGraph(const WorkList &work);
  /// Changes the steps that differ. The list has the structure of the graph's
  /// own. Launches that are queued are not changed. After an error the graph
  /// must not be launched.
  virtual Status updateGraph(WorkGraph &graph, const WorkList &work);
  /// Queues all steps, in a queue of the caller's that is not being captured.
  /// Without a queue: in the current one, and not concurrent.
  virtual Status launchGraph(WorkGraph &graph,
                             const std::optional<void *> &queue);
  /// Whether `launchGraph` would wait for an earlier launch of the graph, after
  /// a change of its steps or without one.
  virtual bool mustWaitForGraph(const WorkGraph &graph, bool isChanged) {
    (void)graph, (void)isChanged;
    return false;
  }
  /// Queued launches of the graph still run.
  virtual void destroyGraph(WorkGraph *graph) { (void)graph; }

  /// Identifies the work in the device's own queue that may be unfinished; 0
  /// for none. It changes with each piece of work.
  virtual uint64_t pendingWork() const { return 0; }

  /// Whether the queue is being captured into a graph.
  virtual bool isCapturing(void *queue) {
    (void)queue;
    return false;
  }
  /// While this object lives, the calling thread may allocate from the driver
  /// and wait for queues that are not being captured, although another queue
  /// is.
  class DuringCapture;

  /// Returns the address that stands for the memory of a driver object in all
  /// other calls, until `releaseObjects`. Kernels need not use the same
  /// address. `InvalidArgument` for an object that the device does not accept,
  /// that has fewer than `bytes` bytes, or that is read-only although
  /// `mayWrite` is set.
  virtual Status bindObject(MemoryObject kind, void *object, size_t bytes,
                            bool mayWrite, void **address);
  /// Releases all bound objects. Queued work may still use them.
  virtual void releaseObjects() {}

  /// Saves and restores the driver's thread-local state (the current context of
  /// CUDA, the current device of HIP), which a library must not change for its
  /// callers.
  virtual void *saveCaller() { return nullptr; }
  virtual void restoreCaller(void *state) { (void)state; }

  /// The copy of a constant on the device, aligned to 256 bytes, which nothing
  /// may write. Users of equal contents share one copy; the last one frees it.
  Expected<std::shared_ptr<void>> shareConstant(const Constant &constant);
  /// Whether kernels can read the host's memory by its addresses.
  virtual bool usesHostMemory() const { return false; }

  /// Queues a fill of `bytes` bytes with `pattern`.
  virtual Status fill(void *ptr, uint8_t pattern, size_t bytes) = 0;

  /// Loads an image and registers its kernels by name. A kernel loaded later
  /// hides an earlier one of the same name, and an image replaces a loaded one
  /// of the same name. `Rejected` with the driver's log if the driver rejects
  /// the image, `InvalidArgument` for a kind that the device does not accept.
  virtual Status loadImage(const KernelImage &image) = 0;

  /// Assembles PTX to machine code: an image of the same name that `loadImage`
  /// loads without compiling, on a device of the same chip with the same
  /// driver. `Rejected` with the driver's log if the driver rejects it,
  /// `InvalidArgument` for another kind of image, and for a device or a driver
  /// that cannot assemble. Returns the PTX unchanged for kernels whose
  /// subgroups exchange registers, because the driver generates faster code
  /// when it loads their PTX.
  virtual Expected<KernelImage> assemble(const KernelImage &image);

  /// Uses the driver's compiled code from a file in the folder `directory`,
  /// which an earlier run saved, for all images loaded from now on. Does
  /// nothing on devices that load machine code. If the file cannot be used, it
  /// is ignored and the status contains the reason.
  virtual Status useCache(const std::string &directory);

  /// Saves newly compiled driver code to the folder passed to `useCache`. The
  /// folder must exist.
  virtual Status saveCache();

  /// Waits for queued work and unloads an image. `InvalidArgument` if no image
  /// has that name.
  virtual Status unloadImage(const std::string &name) = 0;

  /// Writes a tensor map to `map` (`tensorMapBytes`, aligned to
  /// `tensorMapAlignment`, in the host's memory), for a kernel that takes one
  /// by value. `InvalidArgument` for a device or a driver without tensor maps,
  /// and for a tensor that exceeds a hardware limit, which the message names.
  virtual Status encodeTensorMap(const TensorMapRequest &request, void *map);

  /// Between these calls come the launches of one run, for devices without
  /// concurrent calls. The work is submitted by `endRun` at the latest, except
  /// on Vulkan in the device's own queue, where the next wait submits it. On
  /// the CPU, threads do not sleep between the kernels of a run.
  virtual void beginRun() {}
  virtual Status endRun() { return Status::success(); }
  class Run;
  /// How often work was handed to the driver: calls of vkQueueSubmit, and of
  /// clFlush. On the CPU: how often a sleeping thread was woken. Absent for
  /// other devices.
  virtual std::optional<uint64_t> countSubmissions() const {
    return std::nullopt;
  }

  /// Queues a launch. `InvalidArgument` names the limit and the value for a
  /// grid, block or workgroup memory beyond the device's or the kernel's
  /// limits, and lists the loaded kernels for an unknown name. A later call
  /// reports failures of a running kernel; on the CPU the launch is complete
  /// when the call returns.
  virtual Status launch(const LaunchRequest &request) = 0;

  /// Waits for all queued work. `LaunchFailed` names the kernels launched since
  /// the last wait if one of them failed.
  virtual Status synchronize() = 0;

  /// Measures device time between two points of the stream, by events on a GPU
  /// and by the steady clock on the CPU. `timeEnd` waits for the work in
  /// between. `InvalidArgument` for `timeEnd` without `timeBegin`.
  virtual Status timeBegin() = 0;
  virtual Status timeEnd(double *milliseconds) = 0;

  /// Queues a write to a scratch buffer of at least twice the cache size, which
  /// evicts all other data from the cache.
  virtual Status flushCaches() = 0;

  /// Returns the resource usage of a loaded kernel. If `blockThreads` is
  /// positive, also returns the number of such workgroups, each with
  /// `workgroupBytes` bytes of dynamic workgroup memory, that fit on one
  /// compute unit.
  virtual Expected<KernelResources> resources(const char *kernel,
                                              int64_t blockThreads = 0,
                                              int64_t workgroupBytes = 0) = 0;

protected:
  explicit Device(DeviceInfo info);

  /// Allocates memory from the backend, aligned to 256 bytes. `OutOfMemory` if
  /// none is left.
  virtual Status backendAllocate(size_t bytes, void **ptr) = 0;
  virtual void backendFree(void *ptr) = 0;

  /// Exchanges the calling thread's mode of what is permitted during a capture
  /// for `mode`, and returns the mode before.
  virtual int exchangeCaptureMode(int mode) { return mode; }

  /// Frees all memory, including live allocations. For destructors of derived
  /// classes.
  void releaseMemory();

  /// `InvalidArgument` for counts and sizes that are invalid on every device.
  Status checkRequest(const LaunchRequest &request) const;
  /// Returns `InvalidArgument` with the launch and the reason in its message.
  static Status reject(const LaunchRequest &request, const std::string &what);

  DeviceInfo deviceInfo;
  bool checking = false;
  /// The byte with which the checking mode fills allocations.
  uint8_t poison = 0xFF;

private:
  std::unique_ptr<MemoryPool> pool;
  /// A constant on the device, and the contents that it is a copy of.
  struct SharedConstant {
    std::weak_ptr<void> copy;
    std::weak_ptr<const void> owner;
    std::string_view bytes;
  };
  /// By hash and size.
  std::map<std::string, SharedConstant> sharedConstants;
};

/// A run of host code on a device.
class Device::Run {
public:
  explicit Run(Device &device) : device(device) {
    if (!device.isConcurrent())
      device.beginRun();
  }
  ~Run() { (void)end(); }
  Run(const Run &) = delete;
  Run &operator=(const Run &) = delete;

  Status end() {
    if (hasEnded || device.isConcurrent())
      return Status::success();
    hasEnded = true;
    return device.endRun();
  }

private:
  Device &device;
  bool hasEnded = false;
};

class Device::DuringCapture {
public:
  explicit DuringCapture(Device &device)
      : device(device), mode(device.exchangeCaptureMode(relaxed)) {}
  ~DuringCapture() { device.exchangeCaptureMode(mode); }
  DuringCapture(const DuringCapture &) = delete;
  DuringCapture &operator=(const DuringCapture &) = delete;

private:
  /// CU_STREAM_CAPTURE_MODE_RELAXED, hipStreamCaptureModeRelaxed.
  static constexpr int relaxed = 2;
  Device &device;
  int mode;
};

/// Whether any dimension of the grid is zero, so that the launch is a no-op.
bool isEmptyGrid(const LaunchRequest &request);

/// Lists the devices of this machine, best first, with software devices and the
/// CPU last. Unless `target` is "auto", only devices of that target are listed
/// and other drivers are not loaded. `why` receives one line with the reason
/// for each backend without a device: "cuda: libcuda.so.1 not found".
std::vector<DeviceInfo> listDevices(std::string *why = nullptr,
                                    const std::string &target = "auto");

/// Opens a device. `target` is "cpu", "cuda", "hip", "vulkan", "opencl",
/// "level-zero", or "auto" for the first device that `listDevices` names.
/// `NoDevice` if the device does not exist, `InvalidArgument` for an unknown
/// target.
///
/// The CPU device runs workgroups on as many threads as the machine has; the
/// environment variable TESSERA_CPU_THREADS overrides the number. Where the
/// code and the driver permit it, a CUDA device launches a kernel of a run
/// before the kernel before it has ended, unless TESSERA_DEPENDENT_LAUNCH is
/// `off`; with `unit`, both kernels must have at most one workgroup for each
/// multiprocessor.
Expected<std::unique_ptr<Device>> openDevice(const std::string &target,
                                             int ordinal = 0);

/// Whether the devices of a target open much faster while the process has the
/// same device open already, since both share the state of the driver.
bool isQuickWhileOpen(const std::string &target);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_DEVICE_H
