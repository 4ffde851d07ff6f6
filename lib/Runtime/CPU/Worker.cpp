//===- Worker.cpp - Workgroups, one after the other -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of a workgroup are fibers, which run one after the other, each as
// far as it can:
//
//   round     every thread that can goes on, to a barrier, a meeting, its end
//   meetings  subgroups whose lanes have all come: they can go on
//   barrier   no thread can go on: all wait at a barrier, and now they can
//
// A workgroup of one thread has no fiber.
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

#include "../Format.h"
#include "MatrixUnit.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace tessera::runtime;

/// Size of the guard after the workgroup memory that the checking mode checks.
static constexpr size_t canaryBytes = 256;
static constexpr unsigned char canaryByte = 0xA5;
/// The fill value of the destination of a pending asynchronous copy: a NaN in
/// every type that has them.
static constexpr unsigned char poisonByte = 0xFF;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

namespace {

/// A collective operation of a subgroup, and the data that this lane
/// contributes.
struct Meeting {
  const char *location;
  size_t lanes;
  /// Null: the lanes exchange values.
  const tessera_matrix_instruction *instruction;
  const void *a, *b;
  void *acc;
  int64_t value;
  int32_t from;

  /// Whether `other` is of a lane that has come to the same meeting.
  bool isSame(const Meeting &other) const {
    return location == other.location && lanes == other.lanes &&
           instruction == other.instruction;
  }
};

/// An asynchronous copy that has not taken place.
struct PendingCopy {
  char *target;
  const char *source;
  size_t bytes, count;

  void execute() const {
    if (count != 0)
      std::memcpy(target, source, count);
    if (count < bytes)
      std::memset(target + count, 0, bytes - count);
  }
};

} // namespace

struct alignas(cacheLineBytes) tessera::runtime::Thread {
  enum State { Runs, AtBarrier, AtMeeting, Ended };

  Job *job;
  Fiber *fiber;
  tessera_workgroup workgroup;
  State state;
  Meeting meeting;
  /// Oldest first, and of each group how many there are up to its end.
  std::vector<PendingCopy> copies;
  std::vector<size_t> groups;

  static void main(void *data) {
    auto *thread = static_cast<Thread *>(data);
    thread->job->kernel(thread->job->request->args, &thread->workgroup);
  }
  static Thread &of(const tessera_workgroup *workgroup) {
    return *static_cast<Thread *>(workgroup->thread);
  }

  bool isAt(const Meeting &other) const {
    return state == AtMeeting && meeting.isSame(other);
  }

  void waitAs(State reason) {
    state = reason;
    FiberSet::yield(fiber);
  }

  /// "kernel 'k', workgroup (0, 0, 0)".
  std::string describe() const {
    return format("kernel '%s', workgroup (%lld, %lld, %lld)",
                  job->request->kernel,
                  static_cast<long long>(workgroup.blockId[0]),
                  static_cast<long long>(workgroup.blockId[1]),
                  static_cast<long long>(workgroup.blockId[2]));
  }

  /// Ends the launch. In a workgroup of several threads, this one does not
  /// return, and nothing on its stack is destroyed: so the message is moved
  /// from there.
  void fail(std::string &&message) {
    job->fail(StatusCode::LaunchFailed,
              describe() + ": " + std::exchange(message, std::string()));
    if (fiber)
      waitAs(Ended);
    state = Ended;
  }
};

//===----------------------------------------------------------------------===//
// Workgroups
//===----------------------------------------------------------------------===//

/// Where part `number` of `count` parts of `total` begins.
static int64_t getBegin(int64_t total, unsigned number, unsigned count) {
  return total / count * number + std::min<int64_t>(number, total % count);
}

void Share::divide(const int64_t (&grid)[3], unsigned number, unsigned count) {
  int64_t rows = grid[1] * grid[2];
  bool byColumns = grid[0] >= count && grid[0] / count >= grid[1];
  int64_t total = byColumns ? grid[0] : grid[0] * rows;
  int64_t begin = getBegin(total, number, count),
          after = getBegin(total, number + 1, count);
  first = byColumns ? begin : 0;
  width = byColumns ? after - begin : grid[0];
  height = grid[1];
  end = byColumns ? width * rows : after;
  next.store(byColumns ? 0 : begin, std::memory_order_relaxed);
}

Worker::Worker() = default;
Worker::~Worker() { std::free(arena); }

bool Worker::reserveArena(size_t bytes) {
  if (bytes <= arenaBytes)
    return true;
  void *memory = nullptr;
  size_t rounded = (bytes + 4095) / 4096 * 4096;
  if (posix_memalign(&memory, 64, rounded) != 0)
    return false;
  std::free(arena);
  arena = static_cast<unsigned char *>(memory);
  arenaBytes = rounded;
  return true;
}

void Worker::run(Job &job, const std::vector<std::unique_ptr<Worker>> &workers,
                 unsigned self, unsigned count) {
  const LaunchRequest &request = *job.request;
  size_t workgroupBytes = static_cast<size_t>(request.workgroupBytes);
  if (workgroupBytes != 0 && !reserveArena(workgroupBytes + canaryBytes))
    return job.fail(
        StatusCode::OutOfMemory,
        format("launch of '%s': cannot allocate %zu bytes of workgroup memory",
               request.kernel, workgroupBytes));
  auto blockThreads = static_cast<size_t>(job.threads);
  if (blockThreads > 1 && !fibers.reserve(blockThreads))
    return job.fail(StatusCode::OutOfMemory,
                    format("launch of '%s': cannot allocate the stacks of %lld "
                           "threads; set TESSERA_CPU_THREADS to a lower number",
                           request.kernel,
                           static_cast<long long>(job.threads)));
  while (threads.size() < blockThreads)
    threads.push_back(std::make_unique<Thread>());

  tessera_workgroup workgroup = {};
  for (int dim = 0; dim < 3; ++dim) {
    workgroup.gridDim[dim] = request.grid[dim];
    workgroup.blockDim[dim] = request.block[dim];
  }
  workgroup.workgroupMemory = workgroupBytes != 0 ? arena : nullptr;
  prepareThreads(job, workgroup);

  for (unsigned other = 0; other < count; ++other)
    runShare(job, workers[(self + other) % count]->share);
}

void Worker::runShare(Job &job, Share &share) {
  for (;;) {
    // A look without a write leaves the line with its owner.
    if (share.next.load(std::memory_order_relaxed) >= share.end)
      return;
    int64_t first = share.next.fetch_add(job.chunk, std::memory_order_relaxed);
    int64_t last = std::min(first + job.chunk, share.end);
    for (int64_t id = first; id < last; ++id) {
      if (job.stop.load(std::memory_order_relaxed))
        return;
      runWorkgroup(job, share.getWorkgroup(id));
    }
  }
}

void Worker::prepareThreads(Job &job, const tessera_workgroup &workgroup) {
  const LaunchRequest &request = *job.request;
  for (int64_t index = 0; index < job.threads; ++index) {
    Thread &thread = *threads[index];
    thread.job = &job;
    thread.workgroup = workgroup;
    thread.workgroup.threadId[0] = index % request.block[0];
    thread.workgroup.threadId[1] = index / request.block[0] % request.block[1];
    thread.workgroup.threadId[2] = index / request.block[0] / request.block[1];
    thread.workgroup.thread = &thread;
    thread.fiber = nullptr;
  }
}

void Worker::runWorkgroup(Job &job, std::array<int64_t, 3> id) {
  const LaunchRequest &request = *job.request;
  size_t bytes = static_cast<size_t>(request.workgroupBytes);
  bool watched = job.checking && bytes != 0;
  if (watched) {
    std::memset(arena, 0xFF, bytes);
    std::memset(arena + bytes, canaryByte, canaryBytes);
  }
  for (int64_t index = 0; index < job.threads; ++index) {
    Thread &thread = *threads[index];
    std::copy(id.begin(), id.end(), thread.workgroup.blockId);
    thread.state = Thread::Runs;
    thread.copies.clear();
    thread.groups.clear();
  }
  if (job.threads == 1)
    job.kernel(request.args, &threads[0]->workgroup);
  else
    runThreads(job);
  if (!watched)
    return;
  auto written =
      std::find_if(arena + bytes, arena + bytes + canaryBytes,
                   [](unsigned char byte) { return byte != canaryByte; });
  if (written != arena + bytes + canaryBytes)
    job.fail(
        StatusCode::LaunchFailed,
        format("kernel '%s' writes past its %zu bytes of workgroup memory: "
               "at byte %td, in workgroup (%lld, %lld, %lld)",
               request.kernel, bytes, written - arena,
               static_cast<long long>(id[0]), static_cast<long long>(id[1]),
               static_cast<long long>(id[2])));
}

void Worker::runThreads(Job &job) {
  auto count = static_cast<uint32_t>(job.threads);
  runnable.clear();
  for (uint32_t index = 0; index < count; ++index) {
    threads[index]->fiber = fibers.get(index);
    fibers.start(index, Thread::main, threads[index].get());
    runnable.push_back(index);
  }
  // The order of threads is reversed at each barrier, and differs from one
  // workgroup to the next: code that depends on it fails somewhere.
  const int64_t *id = threads[0]->workgroup.blockId;
  bool backward = (id[0] + id[1] + id[2]) % 2 != 0;
  for (;;) {
    bool meets = false;
    for (size_t i = 0; i < runnable.size(); ++i) {
      uint32_t index = runnable[backward ? runnable.size() - 1 - i : i];
      Thread &thread = *threads[index];
      thread.state = Thread::Runs;
      if (fibers.resume(index))
        thread.state = Thread::Ended;
      meets |= thread.state == Thread::AtMeeting;
      if (job.stop.load(std::memory_order_relaxed))
        return;
    }
    runnable.clear();
    if (meets) {
      if (!holdMeetings(job))
        return;
      continue;
    }
    size_t arrived = 0;
    for (uint32_t index = 0; index < count; ++index)
      if (threads[index]->state == Thread::AtBarrier) {
        runnable.push_back(index);
        ++arrived;
      }
    if (arrived == 0)
      return;
    backward = !backward;
    if (arrived != count)
      return job.fail(
          StatusCode::LaunchFailed,
          format("%s: %zu of %u threads wait at a barrier that the other %zu "
                 "ended without reaching",
                 threads[0]->describe().c_str(), arrived, count,
                 count - arrived));
  }
}

//===----------------------------------------------------------------------===//
// Meetings
//===----------------------------------------------------------------------===//

/// The operation that lanes are at, instead of a meeting that others wait at.
static std::string describeState(const Thread &thread, size_t lanes) {
  std::string wait = lanes == 1 ? " waits at " : " wait at ";
  switch (thread.state) {
  case Thread::AtBarrier:
    return wait + "a barrier";
  case Thread::AtMeeting:
    return wait + thread.meeting.location;
  default:
    return lanes == 1 ? " has ended" : " have ended";
  }
}

/// "lanes 0 to 3 and 8": those of the list.
static std::string describeLanes(const std::vector<size_t> &lanes) {
  std::vector<std::string> runs;
  for (size_t i = 0; i < lanes.size();) {
    size_t last = i;
    while (last + 1 < lanes.size() && lanes[last + 1] == lanes[last] + 1)
      ++last;
    runs.push_back(last == i ? format("%zu", lanes[i])
                             : format("%zu to %zu", lanes[i], lanes[last]));
    i = last + 1;
  }
  // A few lines suffice.
  constexpr size_t most = 4;
  std::string text = lanes.size() == 1 ? "lane " : "lanes ";
  for (size_t i = 0; i < runs.size() && i < most; ++i)
    text += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runs[i];
  return runs.size() > most ? text + ", ..." : text;
}

bool Worker::holdMeetings(Job &job) {
  auto count = static_cast<size_t>(job.threads);
  for (size_t index = 0; index < count;) {
    if (threads[index]->state != Thread::AtMeeting) {
      ++index;
      continue;
    }
    size_t lanes = threads[index]->meeting.lanes, first = index / lanes * lanes,
           end = std::min(first + lanes, count);
    if (!holdMeeting(job, first, end))
      return false;
    for (size_t lane = first; lane < end; ++lane)
      runnable.push_back(static_cast<uint32_t>(lane));
    index = end;
  }
  return true;
}

/// Lists which of the lanes from `first` to `end` waits at `meeting`, and where
/// those are that do not.
static std::string
describeAbsence(const std::vector<std::unique_ptr<Thread>> &threads,
                const Meeting &meeting, size_t first, size_t end) {
  std::vector<size_t> present, absent;
  const Thread *here = nullptr, *elsewhere = nullptr;
  for (size_t lane = first; lane < end; ++lane) {
    const Thread &thread = *threads[lane];
    if (thread.isAt(meeting)) {
      here = &thread;
      present.push_back(lane - first);
      continue;
    }
    // Report the lanes elsewhere that are at the same operation as the first of
    // them.
    if (!elsewhere)
      elsewhere = &thread;
    if (describeState(thread, 1) == describeState(*elsewhere, 1))
      absent.push_back(lane - first);
  }
  return describeLanes(present) + describeState(*here, present.size()) +
         ", and " + describeLanes(absent) +
         describeState(*elsewhere, absent.size()) +
         ": collective operations of a subgroup must not depend on the lane";
}

bool Worker::holdMeeting(Job &job, size_t first, size_t end) {
  // Some lane of these waits at a meeting.
  size_t chair = first;
  while (threads[chair]->state != Thread::AtMeeting)
    ++chair;
  const Meeting &meeting = threads[chair]->meeting;
  auto fail = [&](const std::string &message) {
    job.fail(StatusCode::LaunchFailed,
             threads[chair]->describe() +
                 format(", subgroup %zu: ", first / meeting.lanes) + message);
    return false;
  };
  for (size_t lane = first; lane < end; ++lane)
    if (!threads[lane]->isAt(meeting))
      return fail(describeAbsence(threads, meeting, first, end));

  if (!meeting.instruction) {
    values.clear();
    for (size_t lane = first; lane < end; ++lane)
      values.push_back(threads[lane]->meeting.value);
    for (size_t lane = first; lane < end; ++lane) {
      Meeting &own = threads[lane]->meeting;
      auto from = static_cast<size_t>(own.from);
      own.value = own.from >= 0 && from < values.size() ? values[from] : -1;
    }
    return true;
  }
  if (end - first != meeting.lanes)
    return fail(format(
        "%s requires %zu lanes, but this subgroup of the workgroup has %zu",
        meeting.location, meeting.lanes, end - first));
  a.clear();
  b.clear();
  acc.clear();
  for (size_t lane = first; lane < end; ++lane) {
    a.push_back(threads[lane]->meeting.a);
    b.push_back(threads[lane]->meeting.b);
    acc.push_back(threads[lane]->meeting.acc);
  }
  std::string why;
  if (!executeMatrixInstruction(*meeting.instruction, a.data(), b.data(),
                                acc.data(), why))
    return fail(format("%s: ", meeting.location) + why);
  return true;
}

//===----------------------------------------------------------------------===//
// Functions that kernels call
//===----------------------------------------------------------------------===//

void tessera_cpu_barrier(const tessera_workgroup *workgroup) {
  Thread &thread = Thread::of(workgroup);
  if (thread.fiber)
    thread.waitAs(Thread::AtBarrier);
}

void tessera_cpu_mma(const tessera_workgroup *workgroup,
                     const tessera_matrix_instruction *instruction,
                     const char *location, const void *a, const void *b,
                     void *acc) {
  Thread &thread = Thread::of(workgroup);
  size_t lanes = size_t(1) << instruction->laneBits;
  if (!thread.fiber)
    return thread.fail(
        format("%s requires %zu lanes, but the workgroup has one thread",
               location, lanes));
  thread.meeting = {location, lanes, instruction, a, b, acc, 0, 0};
  thread.waitAs(Thread::AtMeeting);
}

int64_t tessera_cpu_shuffle(const tessera_workgroup *workgroup,
                            const char *location, int64_t value, int32_t lane,
                            int32_t lanes) {
  Thread &thread = Thread::of(workgroup);
  if (!thread.fiber)
    return lane == 0 ? value : -1;
  thread.meeting = {location, static_cast<size_t>(lanes),
                    nullptr,  nullptr,
                    nullptr,  nullptr,
                    value,    lane};
  thread.waitAs(Thread::AtMeeting);
  return thread.meeting.value;
}

void tessera_cpu_async_copy(const tessera_workgroup *workgroup, void *target,
                            const void *source, int64_t bytes, int64_t count) {
  auto all = static_cast<size_t>(bytes);
  auto some = static_cast<size_t>(std::clamp<int64_t>(count, 0, bytes));
  std::memset(target, poisonByte, all);
  Thread::of(workgroup).copies.push_back({static_cast<char *>(target),
                                          static_cast<const char *>(source),
                                          all, some});
}

void tessera_cpu_async_commit(const tessera_workgroup *workgroup) {
  Thread &thread = Thread::of(workgroup);
  thread.groups.push_back(thread.copies.size());
}

void tessera_cpu_async_wait(const tessera_workgroup *workgroup,
                            int64_t pending) {
  Thread &thread = Thread::of(workgroup);
  auto left = static_cast<size_t>(std::max<int64_t>(0, pending));
  if (thread.groups.size() <= left)
    return;
  auto done = thread.groups.end() - static_cast<ptrdiff_t>(left);
  size_t count = *(done - 1);
  for (size_t i = 0; i < count; ++i)
    thread.copies[i].execute();
  thread.copies.erase(thread.copies.begin(),
                      thread.copies.begin() + static_cast<ptrdiff_t>(count));
  thread.groups.erase(thread.groups.begin(), done);
  for (size_t &end : thread.groups)
    end -= count;
}

void tessera_cpu_access(const tessera_workgroup *workgroup,
                        const char *location, const void *address,
                        int64_t bytes, int64_t alignment, int64_t inWorkgroup) {
  auto number = reinterpret_cast<uintptr_t>(address);
  Thread &thread = Thread::of(workgroup);
  if (alignment > 1 && number % static_cast<uintptr_t>(alignment) != 0)
    return thread.fail(format("%s accesses %lld bytes that are aligned to %lld "
                              "instead of %lld",
                              location, static_cast<long long>(bytes),
                              static_cast<long long>(number & -number),
                              static_cast<long long>(alignment)));
  if (!inWorkgroup)
    return;
  auto first = static_cast<const char *>(address) -
               static_cast<const char *>(workgroup->workgroupMemory);
  int64_t size = thread.job->request->workgroupBytes;
  if (first < 0 || first + bytes > size)
    thread.fail(format("%s accesses %lld bytes at byte %lld of the %lld bytes "
                       "of workgroup memory",
                       location, static_cast<long long>(bytes),
                       static_cast<long long>(first),
                       static_cast<long long>(size)));
}

void tessera_cpu_assert(const tessera_workgroup *workgroup, const char *text) {
  Thread &thread = Thread::of(workgroup);
  const int64_t *id = thread.workgroup.threadId;
  thread.fail(format("thread (%lld, %lld, %lld): assertion failed: %s",
                     static_cast<long long>(id[0]),
                     static_cast<long long>(id[1]),
                     static_cast<long long>(id[2]), text));
}

/// The text of one conversion of a format, without the length of its operand.
static std::string formatValue(const std::string &spec, char conversion,
                               char type, int64_t value) {
  if (type == 'f') {
    double number;
    std::memcpy(&number, &value, sizeof(number));
    return format((spec + conversion).c_str(), number);
  }
  return format((spec + "ll" + conversion).c_str(),
                static_cast<long long>(value));
}

void tessera_cpu_print(const tessera_workgroup *workgroup, const char *text,
                       const char *types, const int64_t *values) {
  const Thread &thread = Thread::of(workgroup);
  Job &job = *thread.job;
  if (!job.request->sink || thread.state == Thread::Ended)
    return;
  std::string result;
  for (const char *at = text; *at != 0; ++at) {
    if (*at != '%') {
      result += *at;
      continue;
    }
    if (at[1] == '%') {
      result += *at++;
      continue;
    }
    // Flags, width and precision of at most a few digits, then the length.
    const char *end = at + 1;
    end += std::strspn(end, "-+ #0123456789.");
    std::string spec(at, end);
    end += std::strspn(end, "hlLqjzt");
    bool isFloat = *end != 0 && std::strchr("aAeEfFgG", *end);
    bool isInteger = *end != 0 && std::strchr("diouxXc", *end);
    constexpr size_t longest = 6;
    bool fits = spec.size() <= longest && *types == (isFloat ? 'f' : 'i');
    if ((!isFloat && !isInteger) || !fits) {
      result.append(at, *end != 0 ? end + 1 : end);
      at = *end != 0 ? end : end - 1;
      continue;
    }
    if (*end == 'c')
      result += static_cast<char>(*values);
    else
      result += formatValue(spec, *end, *types, *values);
    ++types;
    ++values;
    at = end;
  }
  std::lock_guard<std::mutex> lock(job.mutex);
  (*job.request->sink)(result);
}
