//===- ThreadPool.cpp - Persistent threads of the CPU device --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses pthread_create rather than std::thread, whose constructor can only
// report a failure by an exception.
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"

#include <algorithm>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

using namespace tessera::runtime;

static void pauseThread() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

//===----------------------------------------------------------------------===//
// Tickets
//===----------------------------------------------------------------------===//
//
// A ticket is one word, so that a worker joins a job only while it is open:
//
//   number of the job | open | workers that may join | workers that have
//
// The caller opens a ticket, works, and closes the ticket. From then on no
// worker joins, and the caller waits for those that have. A worker that wakes
// later finds a closed ticket, and touches nothing of the job.
//
//===----------------------------------------------------------------------===//

static constexpr unsigned countBits = 12;
static constexpr uint64_t countMask = (uint64_t(1) << countBits) - 1;
static constexpr uint64_t openBit = uint64_t(1) << (2 * countBits);
static constexpr unsigned numberShift = 2 * countBits + 1;

static uint64_t getNumber(uint64_t ticket) { return ticket >> numberShift; }
static uint64_t getLimit(uint64_t ticket) {
  return (ticket >> countBits) & countMask;
}
static unsigned getJoined(uint64_t ticket) {
  return static_cast<unsigned>(ticket & countMask);
}

//===----------------------------------------------------------------------===//
// Sleep
//===----------------------------------------------------------------------===//

/// A thread that sleeps until another one has changed something.
class ThreadPool::Sleeper {
public:
  Sleeper() { sem_init(&semaphore, /*pshared=*/0, 0); }
  ~Sleeper() { sem_destroy(&semaphore); }
  Sleeper(const Sleeper &) = delete;
  Sleeper &operator=(const Sleeper &) = delete;

  /// Sleeps unless `condition` is true. May return while it is not.
  template <typename Condition> void sleepUnless(const Condition &condition) {
    // Either this thread sees the change, or the one that makes it sees that
    // this thread is asleep: both are sequentially consistent.
    isAsleep.store(true);
    if (condition() && isAsleep.exchange(false))
      return;
    // A signal handler may interrupt the wait.
    while (sem_wait(&semaphore) != 0) {
    }
  }

  /// Called after the change. Returns whether the thread was asleep.
  bool wake() {
    if (!isAsleep.load() || !isAsleep.exchange(false))
      return false;
    sem_post(&semaphore);
    return true;
  }

private:
  std::atomic<bool> isAsleep = false;
  sem_t semaphore;
};

template <typename Condition>
bool ThreadPool::spinUntil(const Condition &condition) const {
  constexpr int rounds = 64;
  auto end = std::chrono::steady_clock::now() + longestSpin;
  do {
    for (int round = 0; round < rounds; ++round) {
      if (condition())
        return true;
      pauseThread();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

struct alignas(cacheLineBytes) ThreadPool::Worker {
  ThreadPool *pool = nullptr;
  unsigned number = 0;
  std::atomic<bool> quit = false;
  pthread_t thread;
  Sleeper sleeper;
};

bool ThreadPool::join(uint64_t seen, unsigned worker) {
  uint64_t number = getNumber(seen);
  while ((seen & openBit) != 0 && getNumber(seen) == number &&
         worker <= getLimit(seen))
    if (ticket.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel,
                                     std::memory_order_acquire))
      return true;
  return false;
}

void *ThreadPool::threadMain(void *data) {
  auto *worker = static_cast<Worker *>(data);
  ThreadPool &pool = *worker->pool;
  uint64_t last = 0;
  for (;;) {
    auto isChanged = [&] {
      return getNumber(pool.ticket.load()) != last || worker->quit.load();
    };
    if (!pool.isHeld.load(std::memory_order_relaxed) ||
        !pool.spinUntil(isChanged))
      while (!isChanged())
        worker->sleeper.sleepUnless(isChanged);
    if (worker->quit.load())
      return nullptr;
    uint64_t seen = pool.ticket.load(std::memory_order_acquire);
    last = getNumber(seen);
    if (!pool.join(seen, worker->number))
      continue;
    pool.work(pool.argument, worker->number);
    unsigned finished = pool.finished.fetch_add(1) + 1;
    // The caller closes the ticket before it sleeps.
    uint64_t now = pool.ticket.load();
    if ((now & openBit) == 0 && getJoined(now) == finished)
      pool.caller->wake();
  }
}

ThreadPool::ThreadPool(unsigned count, std::chrono::microseconds longestSpin)
    : longestSpin(longestSpin), caller(std::make_unique<Sleeper>()) {
  count = std::min(count, static_cast<unsigned>(countMask));
  for (unsigned number = 1; number < count; ++number) {
    auto worker = std::make_unique<Worker>();
    worker->pool = this;
    worker->number = number;
    if (pthread_create(&worker->thread, nullptr, threadMain, worker.get()) != 0)
      return;
    threads.push_back(std::move(worker));
  }
}

ThreadPool::~ThreadPool() {
  for (auto &worker : threads) {
    worker->quit.store(true);
    worker->sleeper.wake();
  }
  for (auto &worker : threads)
    pthread_join(worker->thread, nullptr);
}

unsigned ThreadPool::size() const {
  return static_cast<unsigned>(threads.size()) + 1;
}

void ThreadPool::run(unsigned workers, Work theWork, void *theArgument,
                     Attendance attendance) {
  if (workers == 1)
    return theWork(theArgument, 0);
  work = theWork;
  argument = theArgument;
  finished.store(0, std::memory_order_relaxed);
  uint64_t number = getNumber(ticket.load(std::memory_order_relaxed)) + 1;
  uint64_t limit = workers - 1;
  ticket.store((number << numberShift) | openBit | (limit << countBits));
  for (unsigned worker = 1; worker < workers; ++worker)
    wakes += threads[worker - 1]->sleeper.wake();
  theWork(theArgument, 0);
  if (attendance == Attendance::Required) {
    auto isComplete = [&] {
      return getJoined(ticket.load(std::memory_order_relaxed)) == limit;
    };
    // There may be fewer processors than workers.
    while (!spinUntil(isComplete))
      sched_yield();
  }
  unsigned joined = getJoined(ticket.fetch_and(~openBit));
  auto isDone = [&] { return finished.load() == joined; };
  if (isDone() || (isHeld.load(std::memory_order_relaxed) && spinUntil(isDone)))
    return;
  while (!isDone())
    caller->sleepUnless(isDone);
}
