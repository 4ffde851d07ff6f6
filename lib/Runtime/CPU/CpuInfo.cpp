//===- CpuInfo.cpp - Properties of the host CPU ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuDevice.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

using namespace tessera::runtime;

/// Calls `line(text)` for each line of a file until it returns false.
template <typename Line> static void forEachLine(const char *path, Line line) {
  std::FILE *file = std::fopen(path, "r");
  if (!file)
    return;
  char text[512];
  while (std::fgets(text, sizeof(text), file))
    if (!line(text))
      break;
  std::fclose(file);
}

/// The text after "key ... :" in a file of such lines; empty when missing.
static std::string lookUp(const char *path, const char *key) {
  std::string value;
  forEachLine(path, [&](const char *text) {
    const char *colon = std::strchr(text, ':');
    if (!colon || std::strncmp(text, key, std::strlen(key)) != 0)
      return true;
    value = colon + 1;
    value.erase(0, value.find_first_not_of(" \t"));
    value.erase(value.find_last_not_of(" \t\n") + 1);
    return false;
  });
  return value;
}

static std::string getChip(const utsname &system) {
#if defined(__x86_64__)
  (void)system;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4"))
    return __builtin_cpu_supports("avx512vnni") ? "x86-64-avx512-vnni"
                                                : "x86-64-avx512";
  if (__builtin_cpu_supports("x86-64-v3"))
    return "x86-64-avx2";
  return "x86-64";
#else
  return system.machine;
#endif
}

/// The largest cache of the first processor, in bytes.
static size_t getCacheBytes() {
  size_t best = 0;
  for (int index = 0; index < 8; ++index) {
    std::string path = "/sys/devices/system/cpu/cpu0/cache/index" +
                       std::to_string(index) + "/size";
    forEachLine(path.c_str(), [&](const char *text) {
      char *end = nullptr;
      size_t size = std::strtoull(text, &end, 10);
      size *= *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1;
      best = std::max(best, size);
      return false;
    });
  }
#ifdef _SC_LEVEL3_CACHE_SIZE
  for (int name : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (best == 0)
      best = static_cast<size_t>(std::max(0L, sysconf(name)));
#endif
  return best;
}

static int getClockMHz() {
  int clock = 0;
  forEachLine("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
              [&](const char *text) {
                clock = static_cast<int>(std::strtol(text, nullptr, 10) / 1000);
                return false;
              });
  if (clock == 0)
    clock = static_cast<int>(
        std::strtol(lookUp("/proc/cpuinfo", "cpu MHz").c_str(), nullptr, 10));
  return clock;
}

DeviceInfo tessera::runtime::getCpuInfo() {
  utsname system = {};
  uname(&system);
  DeviceInfo info;
  info.target = "cpu";
  info.chip = getChip(system);
  info.name = lookUp("/proc/cpuinfo", "model name");
  if (info.name.empty())
    info.name = info.chip;
  info.driver = std::string(system.sysname) + " " + system.release;
  info.subgroupSize = 1;
  info.memoryBytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<size_t>(sysconf(_SC_PAGESIZE));
  info.freeBytes =
      std::strtoull(lookUp("/proc/meminfo", "MemAvailable").c_str(), nullptr,
                    10) *
      1024;
  // Workgroup memory is ordinary memory here; a private cache holds this much.
  info.workgroupMemoryBytes = 1024 * 1024;
  info.l2Bytes = getCacheBytes();
  info.computeUnits =
      static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  info.clockMHz = getClockMHz();
  return info;
}
