//===- Executable.cpp - An entry of a program, ready to be called ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Executable.h"

#include "Format.h"
#include "HostLibrary.h"
#include "Runtime/HostImports.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// LoadedVariant
//===----------------------------------------------------------------------===//

LoadedVariant::LoadedVariant() = default;
LoadedVariant::~LoadedVariant() = default;

EntryFunction LoadedVariant::getFunction(const std::string &name) const {
  return reinterpret_cast<EntryFunction>(library->find(packedPrefix + name));
}

Expected<std::unique_ptr<LoadedVariant>>
LoadedVariant::load(const ProgramVariant &variant) {
  static std::atomic<unsigned> count;
  std::unique_ptr<LoadedVariant> loaded(new LoadedVariant);
  auto library = HostLibrary::load(variant.library, variant.imports);
  if (!library.ok())
    return library.status();
  loaded->library = library.take();
  KernelImage &image = loaded->image;
  image.kind = variant.imageKind;
  image.name = format("program %u", ++count);
  image.bytes = variant.image;
  for (const std::string &name : variant.functions) {
    void *address = reinterpret_cast<void *>(loaded->getFunction(name));
    if (!address)
      return Status(StatusCode::Rejected,
                    "host code of the program: missing kernel '" + name + "'");
    image.functions.emplace_back(name, address);
  }
  return loaded;
}

//===----------------------------------------------------------------------===//
// Executable
//===----------------------------------------------------------------------===//

/// The entry of that name.
static Expected<const Signature *> findEntry(const ProgramVariant &variant,
                                             const std::string &name) {
  std::string names;
  for (const Signature &entry : variant.entries) {
    if (entry.name == name)
      return &entry;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  return Status(StatusCode::InvalidArgument,
                "no entry point '" + name + "': the program has " +
                    (names.empty() ? "none" : names));
}

Executable::Executable(Device &device, const Signature &signature)
    : device(device), signature(signature), layout(signature.results) {
  size_t count = 0;
  for (const Slot &slot : signature.arguments) {
    firstWords.push_back(count);
    count += countWords(slot);
  }
  words.resize(count);
  resultWords.resize((layout.bytes + 7) / 8);
  for (uint64_t &word : words)
    pointers.push_back(&word);
  pointers.push_back(resultWords.data());
}

Expected<std::unique_ptr<Executable>>
Executable::create(const Bundle &bundle, const std::string &entry,
                   Device &device) {
  auto selected = selectVariant(bundle, device.info());
  if (!selected.ok())
    return selected.status();
  auto found = findEntry(**selected, entry);
  if (!found.ok())
    return found.status();
  auto loaded = LoadedVariant::load(**selected);
  if (!loaded.ok())
    return loaded.status();
  std::unique_ptr<Executable> made(new Executable(device, **found));
  made->variant = loaded.take();
  made->function = made->variant->getFunction(entry);
  if (!made->function)
    return Status(StatusCode::Rejected,
                  "host code of the program: missing entry point '" + entry +
                      "'");
  if (Status status = device.loadImage(made->variant->getImage()); !status.ok())
    return status;
  made->isLoaded = true;
  return made;
}

Executable::~Executable() {
  // It gives memory back to the device.
  session.reset();
  if (isLoaded)
    (void)device.unloadImage(variant->getImage().name);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Status reject(size_t index, const Slot &slot, const std::string &what) {
  return Status(StatusCode::InvalidArgument,
                format("argument %zu (%s): ", index, slot.str().c_str()) +
                    what);
}

/// The bytes of a dense array of sizes that are not negative; an error where
/// they are more than 2^63 bits.
static Expected<size_t> countBytes(const Slot &slot, const int64_t *sizes) {
  size_t rank = slot.shape.size();
  if (std::find(sizes, sizes + rank, 0) != sizes + rank)
    return size_t(0);
  auto bits = static_cast<int64_t>(elementBits(slot.element));
  for (size_t dim = 0; dim < rank; ++dim)
    if (__builtin_mul_overflow(bits, sizes[dim], &bits))
      return Status(StatusCode::InvalidArgument,
                    "an array of " + formatSizes(sizes, rank) +
                        " has more elements than memory can hold");
  // Without overflow for the largest number of bits.
  return static_cast<size_t>(bits / 8 + (bits % 8 != 0));
}

/// Row-major strides, also of arrays without elements, whose sizes may have any
/// value: their multiplication wraps, and nothing is addressed by them.
static int64_t nextStride(int64_t stride, int64_t size) {
  return static_cast<int64_t>(
      static_cast<uint64_t>(stride) *
      static_cast<uint64_t>(std::max<int64_t>(size, 1)));
}

Status Executable::bind(size_t index, const Operand &operand) {
  const Slot &slot = signature.arguments[index];
  uint64_t *first = &words[firstWords[index]];
  if (!slot.isBuffer()) {
    *first = 0;
    std::memcpy(first, operand.data, elementBytes(slot.element));
    return Status::success();
  }
  size_t rank = slot.shape.size();
  auto *sizes = reinterpret_cast<int64_t *>(first + 3), *strides = sizes + rank;
  first[0] = first[1] = reinterpret_cast<uintptr_t>(operand.data);
  first[2] = 0;
  const int64_t *given = operand.sizes ? operand.sizes : slot.shape.data();
  int64_t stride = 1;
  bool isEmpty = false;
  for (size_t dim = rank; dim-- > 0;) {
    if (given[dim] < 0)
      return reject(
          index, slot,
          operand.sizes
              ? format("dimension %zu is %lld", dim,
                       static_cast<long long>(given[dim]))
              : format("dimension %zu is dynamic; pass its size", dim));
    if (slot.shape[dim] >= 0 && slot.shape[dim] != given[dim])
      return reject(
          index, slot,
          format("dimension %zu is %lld, but the program expects %lld", dim,
                 static_cast<long long>(given[dim]),
                 static_cast<long long>(slot.shape[dim])));
    isEmpty |= given[dim] == 0;
    sizes[dim] = given[dim];
    strides[dim] = stride;
    stride = nextStride(stride, given[dim]);
  }
  if (Expected<size_t> bytes = countBytes(slot, sizes); !bytes.ok())
    return reject(index, slot, bytes.status().message());
  for (size_t dim = 0; operand.strides && !isEmpty && dim < rank; ++dim)
    if (sizes[dim] > 1 && operand.strides[dim] != strides[dim])
      return reject(
          index, slot,
          format("its stride in dimension %zu is %lld elements, but a dense "
                 "row-major array has %lld; pass a dense copy",
                 dim, static_cast<long long>(operand.strides[dim]),
                 static_cast<long long>(strides[dim])));
  if (!operand.data && !isEmpty)
    return reject(index, slot, "it is null");
  return Status::success();
}

/// Arrays of the host, on the device for a run.
class Executable::Copies {
public:
  explicit Copies(Executable &executable) : executable(executable) {}
  ~Copies() {
    for (const Copy &copy : copies)
      (void)executable.device.free(copy.device);
  }
  Copies(const Copies &) = delete;
  Copies &operator=(const Copies &) = delete;

  /// Replaces an operand that has been bound.
  Status copyIn(size_t index, const Operand &operand) {
    const Slot &slot = executable.signature.arguments[index];
    uint64_t *first = &executable.words[executable.firstWords[index]];
    Expected<size_t> bytes =
        countBytes(slot, reinterpret_cast<const int64_t *>(first + 3));
    if (!bytes.ok())
      return reject(index, slot, bytes.status().message());
    void *memory = nullptr;
    if (Status status = executable.device.allocate(*bytes, &memory);
        !status.ok())
      return status;
    copies.push_back({memory, operand.data, *bytes, slot.mayWrite});
    first[0] = first[1] = reinterpret_cast<uintptr_t>(memory);
    return *bytes ? executable.device.copyToDevice(memory, operand.data, *bytes)
                  : Status::success();
  }

  /// Back to the host, what may have been written.
  Status copyOut() {
    for (const Copy &copy : copies)
      if (copy.isWritten && copy.bytes)
        if (Status status = executable.device.copyToHost(copy.host, copy.device,
                                                         copy.bytes);
            !status.ok())
          return status;
    return Status::success();
  }

  bool empty() const { return copies.empty(); }

private:
  struct Copy {
    void *device, *host;
    size_t bytes;
    bool isWritten;
  };

  Executable &executable;
  std::vector<Copy> copies;
};

/// Objects of the driver's that operands of a run lie in.
class Executable::Objects {
public:
  explicit Objects(Executable &executable) : executable(executable) {}
  ~Objects() {
    if (!isEmpty)
      executable.device.releaseObjects();
  }
  Objects(const Objects &) = delete;
  Objects &operator=(const Objects &) = delete;

  /// Replaces an operand that has been bound.
  Status use(size_t index, const Operand &operand) {
    const Slot &slot = executable.signature.arguments[index];
    uint64_t *first = &executable.words[executable.firstWords[index]];
    Expected<size_t> bytes =
        countBytes(slot, reinterpret_cast<const int64_t *>(first + 3));
    if (!bytes.ok())
      return reject(index, slot, bytes.status().message());
    if (*bytes == 0)
      return Status::success();
    MemoryObject kind = operand.kind == MemoryKind::ClMem
                            ? MemoryObject::ClMem
                            : MemoryObject::VkBuffer;
    void *address = nullptr;
    isEmpty = false;
    Status status = executable.device.bindObject(kind, operand.data, *bytes,
                                                 slot.mayWrite, &address);
    if (!status.ok())
      return Status(status.code(),
                    reject(index, slot, status.message()).message());
    first[0] = first[1] = reinterpret_cast<uintptr_t>(address);
    return Status::success();
  }

private:
  Executable &executable;
  bool isEmpty = true;
};

/// Results of a run that are not the caller's yet: their memory is freed unless
/// they are taken.
class Executable::Results {
public:
  explicit Results(Device &device) : device(device) {}
  ~Results() {
    for (const CallResult &result : results)
      (void)device.free(result.allocation);
  }
  Results(const Results &) = delete;
  Results &operator=(const Results &) = delete;

  std::vector<CallResult> take() { return std::exchange(results, {}); }

  std::vector<CallResult> results;

private:
  Device &device;
};

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status Executable::run(const std::vector<Operand> &operands,
                       std::vector<CallResult> &results,
                       const std::optional<void *> &queue) {
  if (!queue)
    return runInQueue(operands, results);
  if (Status status = device.enterQueue(*queue); !status.ok())
    return status;
  Status status = runInQueue(operands, results);
  Status left = device.leaveQueue();
  return status.ok() ? left : status;
}

Status Executable::runInQueue(const std::vector<Operand> &operands,
                              std::vector<CallResult> &results) {
  if (operands.size() != signature.arguments.size())
    return Status(StatusCode::InvalidArgument,
                  format("%zu arguments, but the entry point '%s' takes %zu",
                         operands.size(), signature.name.c_str(),
                         signature.arguments.size()));
  Copies copies(*this);
  Objects objects(*this);
  for (size_t index = 0; index < operands.size(); ++index) {
    const Operand &operand = operands[index];
    const Slot &slot = signature.arguments[index];
    if (!slot.isBuffer() && !operand.data)
      return reject(index, slot, "it is null");
    Status status = bind(index, operand);
    if (status.ok() && slot.isBuffer() && operand.kind == MemoryKind::Host)
      status = copies.copyIn(index, operand);
    if (status.ok() && slot.isBuffer() &&
        (operand.kind == MemoryKind::ClMem ||
         operand.kind == MemoryKind::VkBuffer))
      status = objects.use(index, operand);
    if (!status.ok())
      return status;
  }
  if (!session) {
    session = std::make_unique<Session>(device);
    session->setRecording(false);
    session->setImage(variant->getImage().name);
  }
  std::fill(resultWords.begin(), resultWords.end(), 0);
  Results made(device);
  {
    SessionScope scope(*session);
    function(pointers.data());
  }
  Status status = session->status();
  if (status.ok())
    status = takeResults(made.results);
  // Copying to the host waits; so does giving back what the host's arrays were
  // copied to, where nothing is copied back.
  if (status.ok() && !copies.empty())
    status = copies.copyOut();
  if (status.ok() && !copies.empty())
    status = device.synchronize();
  session->endRun();
  if (status.ok())
    results = made.take();
  return status;
}

Status Executable::takeResults(std::vector<CallResult> &results) {
  results.resize(signature.results.size());
  for (size_t index = 0; index < results.size(); ++index) {
    const Slot &slot = signature.results[index];
    const char *place = reinterpret_cast<const char *>(resultWords.data()) +
                        layout.offsets[index];
    if (!slot.isBuffer()) {
      std::memcpy(&results[index].scalar, place, elementBytes(slot.element));
      if (slot.element == ElementType::I1)
        results[index].scalar &= 1;
      continue;
    }
    if (Status status = takeArray(index, results[index]); !status.ok())
      return status;
  }
  return Status::success();
}

Status Executable::takeArray(size_t index, CallResult &result) {
  const Slot &slot = signature.results[index];
  const uint64_t *descriptor = &resultWords[layout.offsets[index] / 8];
  size_t rank = slot.shape.size();
  auto toPointer = [](uint64_t word) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<char *>(static_cast<uintptr_t>(word));
  };
  auto wrong = [&](const char *what) {
    return Status(StatusCode::Internal,
                  format("result %zu (%s) %s; this is a compiler bug", index,
                         slot.str().c_str(), what));
  };
  const auto *sizes = reinterpret_cast<const int64_t *>(descriptor + 3),
             *strides = sizes + rank;
  result.sizes.assign(sizes, sizes + rank);
  int64_t dense = 1;
  bool isEmpty = std::find(sizes, sizes + rank, 0) != sizes + rank;
  for (size_t dim = rank; dim-- > 0;) {
    if (sizes[dim] < 0 ||
        (slot.shape[dim] >= 0 && sizes[dim] != slot.shape[dim]))
      return wrong("has the wrong shape");
    if (!isEmpty && sizes[dim] > 1 && strides[dim] != dense)
      return wrong("is not dense");
    dense = nextStride(dense, sizes[dim]);
  }
  auto offset = static_cast<int64_t>(descriptor[2]);
  int64_t offsetBits = 0;
  if (offset < 0 ||
      __builtin_mul_overflow(offset,
                             static_cast<int64_t>(elementBits(slot.element)),
                             &offsetBits) ||
      offsetBits % 8 != 0)
    return wrong("is not aligned to a byte");
  Expected<size_t> bytes = countBytes(slot, sizes);
  if (!bytes.ok())
    return wrong("is too large");
  result.data = toPointer(descriptor[1]) + offsetBits / 8;
  result.allocation = session->release(toPointer(descriptor[0]));
  if (result.allocation)
    return Status::success();
  // An argument, a constant, or another result: the caller gets a copy.
  void *copy = nullptr;
  if (Status status = device.allocate(*bytes, &copy); !status.ok())
    return status;
  const void *from = result.data;
  result.data = result.allocation = copy;
  return *bytes ? device.copyOnDevice(copy, from, *bytes) : Status::success();
}
