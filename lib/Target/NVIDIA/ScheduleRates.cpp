//===- ScheduleRates.cpp - Fitted rates of NVIDIA's chips -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir::tessera;

ScheduleRates mlir::tessera::getWarpgroupRates() {
  ScheduleRates rates;
  rates.start = 3733;
  rates.startOfSums = 1964;
  rates.products = {{{1683, 4494},
                     {2353, 12893},
                     {661.5, 7796},
                     {507.1, 4066},
                     {186.2, 180}}};
  rates.shared = {173.6, 421.3};
  rates.loaded = {66.54, 169.1};
  rates.cache = 13399;
  rates.latency = {323.1, 204.6};
  rates.step = {79.29, 32.82};
  rates.tile = {140.7, 508.2};
  rates.stored = {73.92, 59.48};
  rates.exposed = 0.301;
  rates.memory = 2653;
  rates.processorMemory = 60.48;
  rates.sums = 7621;
  rates.clusterSums = 21.79;
  rates.clusterWait = 715.9;
  rates.sharing = 1.162;
  rates.copyStart = 1828;
  rates.copied = 3007;
  rates.transposed = 1979;
  rates.single = 1.824;
  rates.access = 0.1625;
  rates.heldAccess = 0.07778;
  rates.store = 0.189;
  rates.laneCopy = 4;
  rates.laneAccess = 107.8;
  rates.laneStore = 29.33;
  rates.gathered = 1.3;
  rates.splitLines = 1.569;
  rates.longest = 150000;
  rates.margins = {1.05, 1.05, 1.05, 1.05, 1.05};
  return rates;
}
