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

#include <pthread.h>
#include <semaphore.h>

using namespace tessera::runtime;

static void pauseThread() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A sign from one thread to another one that waits for it.
class ThreadPool::Signal {
public:
  Signal() { sem_init(&semaphore, /*pshared=*/0, 0); }
  ~Signal() { sem_destroy(&semaphore); }
  Signal(const Signal &) = delete;
  Signal &operator=(const Signal &) = delete;

  /// Returns whether the other thread was asleep.
  bool give() {
    if (state.exchange(Given, std::memory_order_acq_rel) != Asleep)
      return false;
    sem_post(&semaphore);
    return true;
  }
  /// Waits for it, at first without sleeping while the pool is held.
  void take(const ThreadPool &pool) {
    if (pool.isHeld.load(std::memory_order_relaxed) && spin(pool))
      return state.store(None, std::memory_order_relaxed);
    int expected = None;
    if (state.compare_exchange_strong(expected, Asleep,
                                      std::memory_order_acq_rel))
      // A signal handler may interrupt the wait.
      while (sem_wait(&semaphore) != 0) {
      }
    state.store(None, std::memory_order_relaxed);
  }

private:
  enum : int { None, Given, Asleep };

  /// Whether it was given in time.
  bool spin(const ThreadPool &pool) const {
    constexpr int rounds = 64;
    auto end = std::chrono::steady_clock::now() + pool.longestSpin;
    do {
      for (int round = 0; round < rounds; ++round) {
        if (state.load(std::memory_order_acquire) == Given)
          return true;
        pauseThread();
      }
    } while (pool.isHeld.load(std::memory_order_relaxed) &&
             std::chrono::steady_clock::now() < end);
    return false;
  }

  std::atomic<int> state = None;
  sem_t semaphore;
};

struct ThreadPool::Worker {
  ThreadPool *pool = nullptr;
  unsigned number = 0;
  bool quit = false;
  pthread_t thread;
  Signal begin;
};

void *ThreadPool::threadMain(void *data) {
  auto *worker = static_cast<Worker *>(data);
  ThreadPool &pool = *worker->pool;
  for (;;) {
    worker->begin.take(pool);
    if (worker->quit)
      return nullptr;
    pool.work(pool.argument, worker->number);
    if (pool.pending.fetch_sub(1, std::memory_order_acq_rel) == 1)
      pool.end->give();
  }
}

ThreadPool::ThreadPool(unsigned count, std::chrono::microseconds longestSpin)
    : longestSpin(longestSpin), end(std::make_unique<Signal>()) {
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
    worker->quit = true;
    worker->begin.give();
  }
  for (auto &worker : threads)
    pthread_join(worker->thread, nullptr);
}

unsigned ThreadPool::size() const {
  return static_cast<unsigned>(threads.size()) + 1;
}

void ThreadPool::run(unsigned workers, Work theWork, void *theArgument) {
  work = theWork;
  argument = theArgument;
  pending.store(workers - 1, std::memory_order_relaxed);
  for (unsigned number = 1; number < workers; ++number)
    wakes += threads[number - 1]->begin.give();
  theWork(theArgument, 0);
  if (workers > 1)
    end->take(*this);
}
