//===- Fiber.cpp - Cooperative threads of one workgroup -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fiber is entered through makecontext/setcontext once. After that a switch
// is a _setjmp/_longjmp pair, which unlike swapcontext makes no system call
// (swapcontext saves the signal mask). Each switch is reported to the address
// sanitizer, whose own swapcontext and longjmp, placed before those of the C
// library, would clear the shadow of a stack each time. The thread sanitizer
// follows swapcontext and not jumps between stacks.
//
//===----------------------------------------------------------------------===//

// glibc's checked longjmp does not allow a jump to another stack.
#undef _FORTIFY_SOURCE

#include "Fiber.h"

#include <csetjmp>
#include <cstdint>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESSERA_FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define TESSERA_FIBER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TESSERA_FIBER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define TESSERA_FIBER_TSAN 1
#endif

#ifdef TESSERA_FIBER_ASAN
#include <dlfcn.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef TESSERA_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

using namespace tessera::runtime;

struct tessera::runtime::Fiber {
  ~Fiber();

  /// The mapping: guard page first, then the stack.
  void *mapping = nullptr;
  size_t mappingBytes = 0;
  char *stack = nullptr;

  FiberSet::Body body = nullptr;
  void *argument = nullptr;
  bool finished = true;
  /// False until the fiber is entered through its context.
  bool entered = false;

  ucontext_t context;
#ifdef TESSERA_FIBER_TSAN
  ucontext_t scheduler;
#else
  jmp_buf jump;
  jmp_buf scheduler;
#endif
#ifdef TESSERA_FIBER_ASAN
  void *fakeStack = nullptr;
  void *schedulerFakeStack = nullptr;
  const void *schedulerStack = nullptr;
  size_t schedulerStackBytes = 0;
#endif
#ifdef TESSERA_FIBER_TSAN
  void *tsanFiber = nullptr;
  void *tsanScheduler = nullptr;
#endif
};

Fiber::~Fiber() {
#ifdef TESSERA_FIBER_TSAN
  if (tsanFiber)
    __tsan_destroy_fiber(tsanFiber);
#endif
  if (mapping)
    munmap(mapping, mappingBytes);
}

#ifndef TESSERA_FIBER_TSAN
static void jump(jmp_buf target) {
#ifdef TESSERA_FIBER_ASAN
  // Not declared as a function that never returns: the compiler would clear
  // the shadow of the stack before the call.
  using Jump = void (*)(jmp_buf, int);
  static auto *const longjmp =
      reinterpret_cast<Jump>(dlsym(RTLD_NEXT, "_longjmp"));
  longjmp(target, 1);
#else
  _longjmp(target, 1);
#endif
}
#endif

/// Leaves the fiber for the scheduler.
static void switchToScheduler(Fiber *fiber) {
#ifdef TESSERA_FIBER_ASAN
  __sanitizer_start_switch_fiber(&fiber->fakeStack, fiber->schedulerStack,
                                 fiber->schedulerStackBytes);
#endif
#ifdef TESSERA_FIBER_TSAN
  __tsan_switch_to_fiber(fiber->tsanScheduler, 0);
#endif
#ifdef TESSERA_FIBER_TSAN
  swapcontext(&fiber->context, &fiber->scheduler);
#else
  if (_setjmp(fiber->jump) == 0)
    jump(fiber->scheduler);
#endif
#ifdef TESSERA_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fiber->fakeStack, &fiber->schedulerStack,
                                  &fiber->schedulerStackBytes);
#endif
}

/// The entry of a fiber's context; makecontext only passes ints.
static void fiberMain(unsigned low, unsigned high) {
  auto *fiber = reinterpret_cast<Fiber *>( // NOLINT(performance-no-int-to-ptr)
      static_cast<uintptr_t>(low) | static_cast<uintptr_t>(high) << 16 << 16);
#ifdef TESSERA_FIBER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &fiber->schedulerStack,
                                  &fiber->schedulerStackBytes);
#endif
  for (;;) {
    fiber->body(fiber->argument);
    fiber->finished = true;
    switchToScheduler(fiber);
  }
}

/// Makes the fiber start afresh at its next resume.
static void resetContext(Fiber *fiber) {
#ifdef TESSERA_FIBER_ASAN
  __asan_unpoison_memory_region(fiber->stack, FiberSet::stackBytes);
  fiber->fakeStack = nullptr;
#endif
#ifdef TESSERA_FIBER_TSAN
  if (fiber->tsanFiber)
    __tsan_destroy_fiber(fiber->tsanFiber);
  fiber->tsanFiber = __tsan_create_fiber(0);
#endif
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = FiberSet::stackBytes;
  fiber->context.uc_link = nullptr;
  auto address = reinterpret_cast<uintptr_t>(fiber);
  makecontext(&fiber->context, reinterpret_cast<void (*)()>(fiberMain), 2,
              static_cast<unsigned>(address),
              static_cast<unsigned>(address >> 16 >> 16));
  fiber->entered = false;
  fiber->finished = true;
}

FiberSet::FiberSet() = default;
FiberSet::~FiberSet() = default;

void FiberSet::clear() { fibers.clear(); }

bool FiberSet::reserve(size_t count) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  while (fibers.size() < count) {
    auto fiber = std::make_unique<Fiber>();
    size_t bytes = stackBytes + page;
    void *mapping =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED)
      return false;
    fiber->mapping = mapping;
    fiber->mappingBytes = bytes;
    if (mprotect(mapping, page, PROT_NONE) != 0)
      return false;
    fiber->stack = static_cast<char *>(mapping) + page;
    resetContext(fiber.get());
    fibers.push_back(std::move(fiber));
  }
  return true;
}

void FiberSet::start(size_t index, Body body, void *argument) {
  Fiber *fiber = fibers[index].get();
  if (!fiber->finished)
    resetContext(fiber);
  fiber->body = body;
  fiber->argument = argument;
  fiber->finished = false;
}

bool FiberSet::resume(size_t index) {
  Fiber *fiber = fibers[index].get();
#ifdef TESSERA_FIBER_ASAN
  __sanitizer_start_switch_fiber(&fiber->schedulerFakeStack, fiber->stack,
                                 stackBytes);
#endif
#ifdef TESSERA_FIBER_TSAN
  fiber->tsanScheduler = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fiber->tsanFiber, 0);
#endif
#ifdef TESSERA_FIBER_TSAN
  fiber->entered = true;
  swapcontext(&fiber->scheduler, &fiber->context);
#else
  if (_setjmp(fiber->scheduler) == 0) {
    if (fiber->entered)
      jump(fiber->jump);
    fiber->entered = true;
    setcontext(&fiber->context);
  }
#endif
#ifdef TESSERA_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fiber->schedulerFakeStack, nullptr, nullptr);
#endif
  return fiber->finished;
}

void FiberSet::yield(Fiber *fiber) { switchToScheduler(fiber); }
