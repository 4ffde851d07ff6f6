//===- Device.h - A device that runs compiled kernels -----------*- C++ -*-===//
//
// One interface over every backend. A device has memory, loaded kernels and a
// single in-order stream: whatever is queued runs in the order of the calls.
// Backends are found at run time; a machine without a driver still has `cpu`.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DEVICE_H
#define TESSERA_RUNTIME_DEVICE_H

#include "Runtime/Status.h"
#include "Runtime/TensorMap.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::runtime {

class MemoryPool;

/// What is known of a device. Numbers that a backend cannot tell are 0.
struct DeviceInfo {
  /// "cpu", "cuda", "hip", "vulkan", "opencl" or "level-zero".
  std::string target;
  /// What to compile for: "sm_90a", "gfx942"; on the CPU "x86-64-avx512",
  /// "x86-64-avx2", "x86-64", "aarch64", or the machine's name.
  std::string chip;
  /// The chip with what it is set to, by which it takes code or not:
  /// "gfx90a:sramecc+:xnack-" (HIP). Empty for other targets.
  std::string targetId;
  /// The name of a chip that the device is said to be ("pvc", by Level Zero),
  /// where `chip` is what it reports. Whether its code runs there is for the
  /// compiler to see. Empty for other targets.
  std::string family;
  /// By what `chip` and `family` are known, in words: "hardware 12.60.7 is pvc;
  /// it has dpas, says the driver". Empty where the driver names the chip.
  std::string chipSource;
  /// The vendor's name for the device.
  std::string name;
  /// Version of the driver, as text: "CUDA 13.0, driver 580.159.03".
  std::string driver;
  /// Position among the devices of the target, from 0.
  int ordinal = 0;
  /// Lanes of a subgroup; 1 on the CPU.
  int subgroupSize = 1;
  /// Memory of the device, in bytes.
  size_t memoryBytes = 0;
  /// Free memory in bytes when the device was opened. `listDevices` opens
  /// nothing and leaves it 0 where telling it needs an open device (CUDA, HIP).
  size_t freeBytes = 0;
  /// Most workgroup memory that one workgroup may have, in bytes, opt-in
  /// included, static and dynamic together.
  size_t workgroupMemoryBytes = 0;
  /// Size of the last cache before memory, in bytes.
  size_t l2Bytes = 0;
  /// Multiprocessors; on the CPU, threads that run workgroups.
  int computeUnits = 0;
  /// Highest clock in MHz.
  int clockMHz = 0;
  /// "discrete", "integrated", "virtual" or "software" where the driver tells
  /// (Vulkan, Level Zero), else empty.
  std::string kind;
  /// A program that stands for a device: it runs on the CPU.
  bool isSoftware = false;
};

/// Compiled kernels in a form that a device can load.
struct KernelImage {
  enum Kind {
    /// PTX text in `bytes` (CUDA).
    PTX,
    /// A cubin in `bytes` (CUDA).
    Cubin,
    /// An AMD code object in `bytes`, or an offload bundle of several (HIP).
    HSACO,
    /// Addresses of type `tessera_cpu_kernel` in `functions` (CPU). The code
    /// stays where it is and has to outlive the image.
    HostFunctions,
    /// SPIR-V modules for Vulkan, or for OpenCL and Level Zero, in `bytes`, one
    /// behind the other. The names of the kernels and the threads of their
    /// workgroups are theirs.
    SPIRV,
  };
  Kind kind = HostFunctions;
  /// Names the image in messages and for `Device::unloadImage`.
  std::string name;
  std::string bytes;
  /// Kernel name and address; only for `HostFunctions`.
  std::vector<std::pair<std::string, void *>> functions;
};

/// Objects of a driver by which its callers name memory, where it has them.
enum class MemoryObject {
  /// A cl_mem (OpenCL).
  ClMem,
  /// A VkBuffer (Vulkan).
  VkBuffer,
};

/// One launch of a kernel.
struct LaunchRequest {
  const char *kernel = nullptr;
  /// The image that the kernel is of; null for the one that was loaded last of
  /// those that have it.
  const char *image = nullptr;
  /// Workgroups in x, y, z. A zero in any of them makes the launch a no-op.
  int64_t grid[3] = {1, 1, 1};
  /// Threads of a workgroup in x, y, z; each at least 1.
  int64_t block[3] = {1, 1, 1};
  /// Dynamic workgroup memory, in bytes.
  int64_t workgroupBytes = 0;
  int64_t numArgs = 0;
  /// For each argument the address of its value. The values are read before
  /// `launch` returns.
  void **args = nullptr;
  /// For each argument its size in bytes. May be null, which forgoes the check
  /// against the kernel's own parameter list where a driver can tell it.
  const int64_t *argSizes = nullptr;
};

/// What a kernel takes of a device. -1 stands for "cannot be told".
struct KernelResources {
  /// Registers of each thread.
  int registers = -1;
  /// Local memory of each thread in bytes: spilled registers and arrays that
  /// are indexed at run time.
  int64_t spillBytes = -1;
  /// Workgroup memory that the kernel itself declares, in bytes.
  int64_t staticWorkgroupBytes = 0;
  /// Most threads that a workgroup of this kernel may have.
  int maxThreads = 0;
  /// Workgroups that one compute unit holds at the same time, for the block
  /// size and dynamic workgroup memory asked about; -1 when none was given.
  int workgroupsPerUnit = -1;
  /// What else the driver tells of the kernel's code, in its own words; empty
  /// where it tells nothing.
  std::string account;
};

/// Counters of a device's memory pool; sizes in bytes, as reserved from the
/// backend (rounded up to the pool's size classes).
struct MemoryStats {
  size_t liveBytes = 0;
  size_t cachedBytes = 0;
  /// Most `liveBytes + cachedBytes` so far.
  size_t peakBytes = 0;
  /// Allocations that had to go to the backend.
  uint64_t backendAllocations = 0;
  /// Allocations served from the pool.
  uint64_t reuses = 0;
};

/// An open device. Calls on one device must not overlap in time; separate
/// devices are independent. Every call that is given device pointers takes
/// pointers into allocations of the same device, at any offset.
///
/// A fault of a kernel (an illegal address, say) leaves a CUDA or HIP device
/// unusable: the call that meets the fault and each one after it returns
/// `LaunchFailed`. Closing the device resets it, after which it can usually be
/// opened again; where the driver does not recover, only a new process helps.
class Device {
public:
  virtual ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceInfo &info() const { return deviceInfo; }

  /// Gives memory aligned to 256 bytes, contents undefined. Zero bytes give a
  /// valid pointer too, different from all others. `OutOfMemory` names the
  /// bytes asked for and the bytes free, after the pool gave back what it held.
  Status allocate(size_t bytes, void **ptr);

  /// Hands memory back to the device's pool; work already queued may still use
  /// it. Null is ignored. `InvalidArgument` for what `allocate` did not give.
  Status free(void *ptr);

  /// Gives the pool's unused memory back to the system.
  void trim();

  MemoryStats memoryStats() const;

  /// Bytes free right now, without what the pool could give back; 0 when the
  /// backend cannot tell.
  virtual size_t freeMemory() = 0;

  /// The checking mode: every allocation is filled with `pattern` (0xFF bytes
  /// are a NaN in each floating-point type but the FNUZ ones), so that memory
  /// no kernel wrote shows. The CPU fills workgroup memory with 0xFF before
  /// each workgroup too, and reports writes just past its end.
  void setChecking(bool enable, uint8_t pattern = 0xFF) {
    checking = enable;
    poison = pattern;
  }

  /// Copies, in order with what is queued; done when the call returns.
  virtual Status copyToDevice(void *device, const void *host, size_t bytes) = 0;
  virtual Status copyToHost(void *host, const void *device, size_t bytes) = 0;

  /// Copies from device memory to device memory, in order with what is queued.
  /// By way of the host, and then done when the call returns, unless the
  /// backend does better. The ranges do not overlap.
  virtual Status copyOnDevice(void *to, const void *from, size_t bytes);

  /// From here to `leaveQueue` work goes to the caller's queue: a CUstream
  /// (CUDA; null is the default stream), a hipStream_t (HIP), a
  /// cl_command_queue (OpenCL), a VkQueue (Vulkan) or an immediate
  /// ze_command_list_handle_t (Level Zero). What the device was given before
  /// comes first, as far as it shares memory of the device's pool.
  /// `InvalidArgument` for devices that take no queue, and for a queue of
  /// another context.
  virtual Status enterQueue(void *queue);

  /// Back to the device's own queue, in which memory of the pool that was in
  /// use in between is not handed out before the caller's queue is done with
  /// it.
  virtual Status leaveQueue();

  /// The same as `free` for memory that work in the caller's queue may still
  /// use: it is not handed out before that queue is done with what it has now.
  virtual Status freeInQueue(void *ptr, void *queue);

  /// Gives the address by which the memory of an object of the driver's is
  /// known to all other calls, until `releaseObjects`. It need not be one that
  /// kernels use. `InvalidArgument` for an object that the device does not
  /// take, that has less than `bytes` bytes, or that `mayWrite` is too much
  /// for.
  virtual Status bindObject(MemoryObject kind, void *object, size_t bytes,
                            bool mayWrite, void **address);
  /// Forgets all that were bound. What is queued may still use them.
  virtual void releaseObjects() {}

  /// What a driver keeps for the calling thread (the current context of CUDA,
  /// the current device of HIP), and putting it back: for libraries, which must
  /// not change it under their callers.
  virtual void *saveCaller() { return nullptr; }
  virtual void restoreCaller(void *state) { (void)state; }

  /// Queues setting `bytes` bytes to `pattern`.
  virtual Status fill(void *ptr, uint8_t pattern, size_t bytes) = 0;

  /// Loads an image; its kernels become known by name. A kernel loaded later
  /// hides an earlier one of the same name, and an image replaces a loaded one
  /// of the same name. `Rejected` with the driver's log when the driver refuses
  /// it, `InvalidArgument` for a kind that the device does not take.
  virtual Status loadImage(const KernelImage &image) = 0;

  /// Makes machine code of PTX: an image of the same name that `loadImage`
  /// takes without compiling anything, on a device of the same chip with the
  /// same driver. `Rejected` with the driver's log when the driver refuses it,
  /// `InvalidArgument` for another kind of image, and for a device or a driver
  /// that cannot do it. Gives the PTX back where machine code of it would be
  /// slower than what the driver makes when it loads PTX: of kernels whose
  /// subgroups trade registers.
  virtual Expected<KernelImage> assemble(const KernelImage &image);

  /// Takes what the driver compiles from a file of the folder `directory`,
  /// where an earlier run has kept it, for all images that are loaded from now
  /// on. Nothing happens on devices that take machine code. Where there is a
  /// file that cannot be used, the status says why, and it is as if there were
  /// none.
  virtual Status useCache(const std::string &directory);

  /// Keeps what the driver has compiled, in the folder that `useCache` was
  /// given, if there is anything new. The folder has to be there.
  virtual Status saveCache();

  /// Waits for queued work and drops an image. `InvalidArgument` when there is
  /// none of that name.
  virtual Status unloadImage(const std::string &name) = 0;

  /// Writes a tensor map to `map` (`tensorMapBytes`, aligned to
  /// `tensorMapAlignment`, in the host's memory), for a kernel that takes one
  /// by value. `InvalidArgument` for a device or a driver that has none, and
  /// for a tensor that the hardware cannot copy from, with the limit.
  virtual Status encodeTensorMap(const TensorMapRequest &request, void *map);

  /// Queues a launch. `InvalidArgument` names the limit and the value for a
  /// grid, block or workgroup memory beyond the device's or the kernel's
  /// limits, and names the kernels at hand for an unknown one. Failures of a
  /// running kernel come from a later call; on the CPU the launch has finished
  /// when the call returns.
  virtual Status launch(const LaunchRequest &request) = 0;

  /// Waits for all queued work. `LaunchFailed` names the kernels launched since
  /// the last wait when one of them failed.
  virtual Status synchronize() = 0;

  /// Time of the device between two points of the stream: events on a GPU, the
  /// steady clock on the CPU. `timeEnd` waits for the work in between.
  /// `InvalidArgument` for an end without a begin.
  virtual Status timeBegin() = 0;
  virtual Status timeEnd(double *milliseconds) = 0;

  /// Queues overwriting a scratch buffer of at least twice the cache's size, so
  /// that what runs next finds none of its data in the cache.
  virtual Status flushCaches() = 0;

  /// What a loaded kernel takes. With `blockThreads` above 0, also how many
  /// such workgroups with `workgroupBytes` bytes of dynamic workgroup memory
  /// one compute unit holds.
  virtual Expected<KernelResources> resources(const char *kernel,
                                              int64_t blockThreads = 0,
                                              int64_t workgroupBytes = 0) = 0;

protected:
  explicit Device(DeviceInfo info);

  /// Memory from the backend, aligned to 256 bytes. `OutOfMemory` when there
  /// is none.
  virtual Status backendAllocate(size_t bytes, void **ptr) = 0;
  virtual void backendFree(void *ptr) = 0;

  /// Gives all memory back, live allocations included. For destructors of
  /// derived classes.
  void releaseMemory();

  /// `InvalidArgument` for counts and sizes that are wrong on any device.
  Status checkRequest(const LaunchRequest &request) const;
  /// `InvalidArgument` that names the launch and says what is wrong with it.
  static Status refuse(const LaunchRequest &request, const std::string &what);

  DeviceInfo deviceInfo;
  bool checking = false;
  /// What the checking mode fills allocations with.
  uint8_t poison = 0xFF;

private:
  std::unique_ptr<MemoryPool> pool;
};

/// True when any dimension of the grid is zero: nothing to do.
bool isEmptyGrid(const LaunchRequest &request);

/// All devices of this machine, the best one first, and last the CPU and the
/// programs that run on it and stand for a device; of one target only, unless
/// it is "auto", which spares loading the other drivers. With `why`, one line
/// for each backend that has no device, with the reason:
/// "cuda: libcuda.so.1 not found".
std::vector<DeviceInfo> listDevices(std::string *why = nullptr,
                                    const std::string &target = "auto");

/// Asks for Vulkan's validation layer. To be called before devices are listed
/// or opened; where the layer is not installed there is then no Vulkan device.
/// What it finds goes to standard error.
void requestVulkanValidation();

/// How many errors the layer has found so far.
unsigned countVulkanValidationErrors();

/// For tests: from now on the self-tests of matrix products (docs/Vulkan.md,
/// "Self-tests") read an operand the wrong way, so that they fail.
void turnVulkanSelfTests();

/// Opens a device. `target` is "cpu", "cuda", "hip", "vulkan", "opencl",
/// "level-zero", or "auto" for the first device that `listDevices` names.
/// `NoDevice` when there is no such device here, `InvalidArgument` for an
/// unknown target.
///
/// The CPU device runs workgroups on as many threads as the machine has; the
/// environment variable TESSERA_CPU_THREADS overrides that number.
Expected<std::unique_ptr<Device>> openDevice(const std::string &target,
                                             int ordinal = 0);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_DEVICE_H
