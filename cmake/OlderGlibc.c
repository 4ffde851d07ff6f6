// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The symbols that the static libraries of Debian 12 need and an older glibc
// lacks. arc4random (glibc 2.36, for libstdc++'s random_device) is always
// defined: a program that is linked with glibc 2.36 then runs with 2.35. With
// TESSERA_GLIBC (scripts/older-glibc.sh), the others are defined as well.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != sizeof value)
    abort();
  return value;
}

#ifdef TESSERA_GLIBC

// glibc 2.32, for libstdc++: whether the process has one thread. If it is 0,
// reference counts are atomic.
char __libc_single_threaded = 0;

// glibc 2.33, for LLVM's statistics of memory. mallinfo counts in ints, and is
// all that older versions have.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
struct mallinfo2 mallinfo2(void) {
  struct mallinfo old = mallinfo();
  struct mallinfo2 info = {0};
  info.arena = (unsigned)old.arena;
  info.uordblks = (unsigned)old.uordblks;
  info.fordblks = (unsigned)old.fordblks;
  info.hblkhd = (unsigned)old.hblkhd;
  return info;
}

struct Search {
  uintptr_t pc;
  struct dl_find_object *result;
};

/// Returns 1 if the object contains `Search::pc` and has unwind tables, -1 if
/// it contains it and has none, and 0 to continue.
static int visitObject(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  struct Search *search = data;
  uintptr_t begin = 0, end = 0, frames = 0;
  int isInside = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    uintptr_t first = info->dlpi_addr + header->p_vaddr;
    uintptr_t last = first + header->p_memsz;
    if (header->p_type == PT_GNU_EH_FRAME)
      frames = first;
    if (header->p_type != PT_LOAD)
      continue;
    isInside |= search->pc >= first && search->pc < last;
    if (end == 0 || first < begin)
      begin = first;
    if (last > end)
      end = last;
  }
  if (!isInside)
    return 0;
  search->result->dlfo_flags = 0;
  search->result->dlfo_map_start = (void *)begin;
  search->result->dlfo_map_end = (void *)end;
  search->result->dlfo_link_map = NULL;
  search->result->dlfo_eh_frame = (void *)frames;
  return frames ? 1 : -1;
}

// glibc 2.35, for libgcc's unwinder, which throws exceptions.
int _dl_find_object(void *pc, struct dl_find_object *result) {
  struct Search search = {(uintptr_t)pc, result};
  return dl_iterate_phdr(visitObject, &search) == 1 ? 0 : -1;
}

#endif // TESSERA_GLIBC
